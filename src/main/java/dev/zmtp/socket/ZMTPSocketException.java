package dev.zmtp.socket;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An exception of a socket that could not do what it was asked to do, thrown or as the cause of a failed future. One
 * that comes from an event loop has no stack trace; those that a waiting call throws have the caller's.
 */
public final class ZMTPSocketException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The reasons, for programs. */
    public enum Reason {
        /** There is no room, or as many sends or requests as allowed are waiting; or a newer message took its place. */
        FULL,
        /** There is no peer, and none that the socket connects to. */
        NO_PEER,
        /** No peer has this name. */
        UNROUTABLE,
        /** It took longer than the caller allowed. */
        TIMEOUT,
        /** The connection ended before the transport had the message, or before the answer came. */
        PEER_DOWN,
        /** The connection ended when the transport may have had the message, which may or may not have arrived. */
        UNKNOWN,
        /** What the peer has sent does not have the form of an answer. */
        MALFORMED,
        /** The message waited for longer than {@link ZMTPSocketConfig#maxAge()}. */
        EXPIRED,
        /** The state of the socket does not allow this now. */
        STATE,
        /** The address could not be bound. */
        BIND_FAILED,
        /** The socket or the endpoint is closed. */
        CLOSED
    }

    private final Reason reason;

    /** An exception without a stack trace. */
    public ZMTPSocketException(Reason reason, String message) {
        this(reason, message, null);
    }

    /** As {@link #ZMTPSocketException(Reason, String)}, with a cause. */
    public ZMTPSocketException(Reason reason, String message, @Nullable Throwable cause) {
        this(reason, reason + ": " + message, cause, false);
    }

    private ZMTPSocketException(Reason reason, String message, @Nullable Throwable cause, boolean hasStackTrace) {
        super(message, cause, false, hasStackTrace);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /** Returns the same with the stack trace of this call, for a thread that has waited. */
    public ZMTPSocketException withStackTrace() {
        return new ZMTPSocketException(reason, Objects.requireNonNull(getMessage()), getCause(), true);
    }

    /** The reason. */
    public Reason reason() {
        return reason;
    }
}
