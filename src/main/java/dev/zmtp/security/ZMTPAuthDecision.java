package dev.zmtp.security;

import dev.zmtp.ZMTPMetadata;
import java.util.Objects;

/**
 * Decision of an authenticator, with the statuses of ZAP (RFC 27). Immutable.
 *
 * @param status whether the peer is accepted
 * @param text the reason, for the log; it is not sent
 * @param userId the user ID of an accepted peer, which can be empty; otherwise empty
 * @param metadata further information about the peer; by default empty
 */
public record ZMTPAuthDecision(Status status, String text, String userId, ZMTPMetadata metadata) {

    /** Outcome of a decision, which determines the answer to the peer. */
    public enum Status {
        /** The peer is accepted. */
        ACCEPTED(200),
        /** The peer can try again. The connection is closed and nothing is sent. */
        TEMPORARY_FAILURE(300),
        /** The peer is refused. It is sent {@code ERROR "400"}, after which libzmq does not try again. */
        DENIED(400),
        /** The authenticator failed. The peer is sent {@code ERROR "500"}, after which libzmq does not try again. */
        ERROR(500);

        private final int code;

        Status(int code) {
            this.code = code;
        }

        /** Returns the status code in ZAP. */
        public int code() {
            return code;
        }
    }

    /** Checks that no component is null. */
    public ZMTPAuthDecision {
        Objects.requireNonNull(status, "status");
        Objects.requireNonNull(text, "text");
        Objects.requireNonNull(userId, "userId");
        Objects.requireNonNull(metadata, "metadata");
    }

    /** Accepts the peer as {@code userId}, which can be empty. */
    public static ZMTPAuthDecision accept(String userId) {
        return accept(userId, ZMTPMetadata.EMPTY);
    }

    /** Accepts the peer as {@code userId}, which can be empty, with further information about the peer. */
    public static ZMTPAuthDecision accept(String userId, ZMTPMetadata metadata) {
        return new ZMTPAuthDecision(Status.ACCEPTED, "", userId, metadata);
    }

    /** Refuses the peer. The reason is not sent. */
    public static ZMTPAuthDecision deny(String text) {
        return refusal(Status.DENIED, text);
    }

    /** Refuses the peer temporarily, so that it can try again. The reason is not sent. */
    public static ZMTPAuthDecision temporaryFailure(String text) {
        return refusal(Status.TEMPORARY_FAILURE, text);
    }

    /** Refuses the peer because no decision could be made. The reason is not sent. */
    public static ZMTPAuthDecision error(String text) {
        return refusal(Status.ERROR, text);
    }

    private static ZMTPAuthDecision refusal(Status status, String text) {
        return new ZMTPAuthDecision(status, text, "", ZMTPMetadata.EMPTY);
    }
}
