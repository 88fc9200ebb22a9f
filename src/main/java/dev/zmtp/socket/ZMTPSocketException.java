package dev.zmtp.socket;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Why a socket could not do what it was asked to do. It has no stack trace, as it is created on an event loop. */
public final class ZMTPSocketException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The reasons, for programs. */
    public enum Reason {
        /** Every queue is full, and as many sends or requests as allowed are waiting. */
        MUTE,
        /** No peer has this identity or routing id. */
        UNROUTABLE,
        /** The connection ended before the transport had the message, or before the answer came. */
        PEER_DOWN,
        /** The connection ended when the transport may have had the message, which may or may not have arrived. */
        UNKNOWN,
        /** It took longer than the caller allowed. */
        TIMEOUT,
        /**
         * The message waited for longer than {@link ZMTPSocketConfig#maxAge()}, made room for a newer one, or found its
         * queue full.
         */
        DROPPED,
        /** The type or the state of the socket does not allow this now. */
        STATE,
        /** What the peer has sent does not have the form of an answer. */
        MALFORMED,
        /** The socket is closed. */
        CLOSED
    }

    private final Reason reason;

    ZMTPSocketException(Reason reason, String message) {
        this(reason, message, null);
    }

    ZMTPSocketException(Reason reason, String message, @Nullable Throwable cause) {
        super(reason + ": " + message, cause, false, false);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /** The reason. */
    public Reason reason() {
        return reason;
    }
}
