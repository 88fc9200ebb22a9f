package dev.zmtp.socket;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a socket operation. It is thrown, or is the cause of a failed future. An exception from an event loop has
 * no stack trace. Exceptions thrown by a blocking call have the caller's stack trace.
 */
public final class ZMTPSocketException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Reason of a failure, for programs. */
    public enum Reason {
        /**
         * There is no room, the maximum number of sends or requests is waiting, or a newer message replaced this
         * message.
         */
        FULL,
        /** There is no peer, not even a disconnected peer that the socket connects to. */
        NO_PEER,
        /** No peer has this routing id. */
        UNROUTABLE,
        /** The operation took longer than the caller allowed. */
        TIMEOUT,
        /** The connection ended before the transport had the message, or before the reply arrived. */
        PEER_DOWN,
        /**
         * The connection ended when the transport may already have had the message, and it is unknown whether it has
         * arrived.
         */
        OUTCOME_UNKNOWN,
        /** The peer's message does not have the form of a reply. */
        MALFORMED,
        /** The message waited for longer than {@link ZMTPSocketConfig#maxMessageAge()}. */
        EXPIRED,
        /** The state of the socket does not allow the operation now. */
        ILLEGAL_STATE,
        /** The address could not be bound. */
        BIND_FAILED,
        /** The socket or the endpoint is closed. */
        CLOSED
    }

    private final Reason reason;

    /** Creates an exception without a stack trace. */
    public ZMTPSocketException(Reason reason, String message) {
        this(reason, message, null);
    }

    /** Like {@link #ZMTPSocketException(Reason, String)}, with a cause. */
    public ZMTPSocketException(Reason reason, String message, @Nullable Throwable cause) {
        this(reason, reason + ": " + message, cause, false);
    }

    private ZMTPSocketException(Reason reason, String message, @Nullable Throwable cause, boolean hasStackTrace) {
        super(message, cause, false, hasStackTrace);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /** Returns a copy with the stack trace of this call, for a thread that has waited. */
    public ZMTPSocketException withStackTrace() {
        return new ZMTPSocketException(reason, Objects.requireNonNull(getMessage()), getCause(), true);
    }

    /** Returns the reason. */
    public Reason reason() {
        return reason;
    }
}
