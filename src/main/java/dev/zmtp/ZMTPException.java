package dev.zmtp;

import io.netty.handler.codec.DecoderException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Failure caused by the peer, which has violated ZMTP, a limit, or an agreement by something that it sent or did not
 * send.
 *
 * <p>The connection is closed. The message contains the offending value and the expected value, and {@link #code()} is
 * stable and meant for programs. There is no stack trace. The cause is bytes from the network and not a location in the
 * code, and a hostile peer must not be able to make the program collect stack traces.
 */
public final class ZMTPException extends DecoderException {

    private static final long serialVersionUID = 1L;

    /** Reason for the end of a connection. */
    public enum Code {
        /** The bytes do not follow the grammar of the negotiated version. */
        MALFORMED,
        /** A length or a count is above its configured limit. */
        TOO_LARGE,
        /** The frame or command is well formed, but not expected at this point. */
        UNEXPECTED,
        /** The peer speaks a version that this side is not configured to speak, or must not speak. */
        VERSION,
        /** The peer requires another security mechanism. */
        MECHANISM,
        /** The peer's socket type is incompatible with this side's. */
        SOCKET_TYPE,
        /** The authenticator did not accept the peer. */
        AUTHENTICATION,
        /** The peer refused with an ERROR command, or over WebSocket with a status of HTTP or of a close frame. */
        PEER_ERROR,
        /** The handshake was not complete in time. */
        HANDSHAKE_TIMEOUT,
        /** The peer sent nothing within the heartbeat timeout, or nothing within the TTL that it had announced. */
        HEARTBEAT_TIMEOUT,
        /** The memory budget of all connections was exceeded, and this connection was closed to free memory. */
        MEMORY_BUDGET,
        /**
         * The connection ended before the handshake was complete, or in the middle of a frame or a message, or the peer
         * closed a WebSocket after the handshake with a status other than those of a normal end.
         */
        CLOSED
    }

    private final Code code;

    /**
     * Creates a failure with this message.
     *
     * @param message the value, then the expected value. It must not contain text from the peer, which is passed to
     *     {@link #of}
     */
    public ZMTPException(Code code, String message) {
        this(code, message, null);
    }

    /** Creates a failure with a cause. The {@code message} is as in {@link #ZMTPException(Code, String)}. */
    public ZMTPException(Code code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = Objects.requireNonNull(code, "code");
    }

    /** Returns a {@link Code#MALFORMED} failure, with a message as in {@link #of}. */
    public static ZMTPException malformed(String what, Object value, String expected) {
        return of(Code.MALFORMED, what, value, expected);
    }

    /** Returns a {@link Code#TOO_LARGE} failure with the message {@code what: value (expected: <= limit)}. */
    public static ZMTPException tooLarge(String what, long value, long limit) {
        return of(Code.TOO_LARGE, what, Long.toUnsignedString(value), "<= " + limit);
    }

    /**
     * Returns a failure with the message {@code what: value (expected: expected)}.
     *
     * @param value the value that the peer sent. It can be any text. Everything except printable ASCII is replaced by
     *     {@code ?}, and the text is truncated after 256 characters
     */
    public static ZMTPException of(Code code, String what, Object value, String expected) {
        return new ZMTPException(
                code, what + ": " + Printable.text(String.valueOf(value)) + " (expected: " + expected + ")");
    }

    /** Returns the kind of failure. */
    public Code code() {
        return code;
    }

    /** Does nothing, because no stack trace is collected. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
