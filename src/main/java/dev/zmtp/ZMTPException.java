package dev.zmtp;

import io.netty.handler.codec.DecoderException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A failure that the peer caused: what it sent, or did not send, breaks ZMTP, a limit, or an agreement.
 *
 * <p>The connection is closed. The message holds the offending value and what was expected; {@link #code()} is stable
 * and meant for programs. There is no stack trace: the cause is bytes from the network, not a place in the code, and a
 * hostile peer must not be able to make the program collect stacks.
 */
public final class ZMTPException extends DecoderException {

    private static final long serialVersionUID = 1L;

    /** A reason for which a connection ended. */
    public enum Code {
        /** The bytes do not follow the grammar of the negotiated version. */
        MALFORMED,
        /** A length or a count is above its configured limit. */
        TOO_LARGE,
        /** The frame or command is well formed, but not expected at this point. */
        UNEXPECTED,
        /** The peer speaks a version that this side may not or must not speak. */
        VERSION,
        /** The peer wants another security mechanism. */
        MECHANISM,
        /** The peer's socket type cannot be connected to ours. */
        SOCKET_TYPE,
        /** The authenticator did not accept the peer. */
        AUTHENTICATION,
        /** The peer ended the handshake with an ERROR command. */
        PEER_ERROR,
        /** The handshake was not complete in time. */
        HANDSHAKE_TIMEOUT,
        /** No sign of life within the heartbeat timeout, or nothing within the TTL that the peer had announced. */
        HEARTBEAT_TIMEOUT,
        /** All connections together keep more memory than they may, and this one had to end for it. */
        MEMORY_BUDGET,
        /** The connection ended before the handshake did, or in the middle of a frame or a message. */
        CLOSED
    }

    private final Code code;

    /**
     * A failure with this message.
     *
     * @param message the value, then what was expected. It must not hold text of the peer's: give that to {@link #of}
     */
    public ZMTPException(Code code, String message) {
        this(code, message, null);
    }

    /** A failure with a cause; {@code message} as in {@link #ZMTPException(Code, String)}. */
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
     * @param value what the peer sent. It may be any text: everything but printable ASCII is replaced by {@code ?}, and
     *     a text of more than 256 characters is cut
     */
    public static ZMTPException of(Code code, String what, Object value, String expected) {
        return new ZMTPException(
                code, what + ": " + Printable.text(String.valueOf(value)) + " (expected: " + expected + ")");
    }

    /** The kind of failure. */
    public Code code() {
        return code;
    }

    /** Collects no stack trace. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
