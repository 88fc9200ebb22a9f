package dev.zmtp.security;

import dev.zmtp.ZMTPMetadata;
import java.util.Objects;

/**
 * What an authenticator decided, with the statuses of ZAP (RFC 27). Immutable.
 *
 * @param status whether the peer may come in
 * @param text why, for the log; it is not sent
 * @param userId who the peer is, if it may come in; else and by default empty
 * @param metadata what else is known of it; by default nothing
 */
public record ZMTPDecision(Status status, String text, String userId, ZMTPMetadata metadata) {

    /** The outcomes, and what the peer is told. */
    public enum Status {
        /** It may come in. */
        ACCEPTED(200),
        /** It may try again: the connection is closed, and nothing is sent. */
        TEMPORARY_FAILURE(300),
        /** It may not come in: it gets {@code ERROR "400"}, after which libzmq does not try again. */
        DENIED(400),
        /** The authenticator is broken: the peer gets {@code ERROR "500"}, after which libzmq does not try again. */
        ERROR(500);

        private final int code;

        Status(int code) {
            this.code = code;
        }

        /** The status code of ZAP. */
        public int code() {
            return code;
        }
    }

    /** Checks that nothing is null. */
    public ZMTPDecision {
        Objects.requireNonNull(status, "status");
        Objects.requireNonNull(text, "text");
        Objects.requireNonNull(userId, "userId");
        Objects.requireNonNull(metadata, "metadata");
    }

    /** The peer is {@code userId}, or someone, if that is empty, and may come in. */
    public static ZMTPDecision accept(String userId) {
        return accept(userId, ZMTPMetadata.EMPTY);
    }

    /** The peer is {@code userId} and may come in. */
    public static ZMTPDecision accept(String userId, ZMTPMetadata metadata) {
        return new ZMTPDecision(Status.ACCEPTED, "", userId, metadata);
    }

    /** The peer may not come in, for a reason that is not sent. */
    public static ZMTPDecision deny(String text) {
        return refusal(Status.DENIED, text);
    }

    /** The peer may try again, for a reason that is not sent. */
    public static ZMTPDecision temporaryFailure(String text) {
        return refusal(Status.TEMPORARY_FAILURE, text);
    }

    /** It cannot be said whether the peer may come in, for a reason that is not sent. */
    public static ZMTPDecision error(String text) {
        return refusal(Status.ERROR, text);
    }

    private static ZMTPDecision refusal(Status status, String text) {
        return new ZMTPDecision(status, text, "", ZMTPMetadata.EMPTY);
    }
}
