package dev.zmtp;

import io.netty.handler.codec.DecoderException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The one failure that a peer can cause: what it sent, or did not send, breaks ZMTP, a limit, or an agreement.
 *
 * <p>The connection that it names is closed. The message holds the offending value and what was expected; {@link #code()}
 * is stable and meant for programs. There is no stack trace: the cause is bytes from the network, not a place in the code,
 * and a hostile peer should not be able to make the program collect stacks.
 */
public final class ZMTPException extends DecoderException {

    private static final long serialVersionUID = 1L;

    /** Why the connection ended. */
    public enum Code {
        /** The octets do not follow the grammar of the negotiated version. */
        MALFORMED,
        /** A length or a count is over its configured limit. */
        TOO_LARGE,
        /** A well-formed frame or command that has no place at this point of the conversation. */
        UNEXPECTED,
        /** The peer speaks a version that this side may not or must not speak. */
        VERSION,
        /** The peer asks for another security mechanism. */
        MECHANISM,
        /** The peer's socket type cannot talk to ours. */
        SOCKET_TYPE,
        /** The authenticator did not let the peer in. */
        AUTHENTICATION,
        /** The peer ended the handshake with an ERROR command. */
        PEER_ERROR,
        /** The handshake was not complete in time. */
        HANDSHAKE_TIMEOUT,
        /** The peer gave no sign of life within the heartbeat timeout, or within the TTL that it had announced. */
        HEARTBEAT_TIMEOUT,
        /** The connection ended before the handshake did. */
        CLOSED
    }

    private final Code code;

    /** A failure that {@code message} describes: the value, and what was expected. */
    public ZMTPException(Code code, String message) {
        this(code, message, null);
    }

    /** A failure with a cause. */
    public ZMTPException(Code code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = Objects.requireNonNull(code, "code");
    }

    /** Returns a {@link Code#MALFORMED} failure with the message {@code what: value (expected: expected)}. */
    public static ZMTPException malformed(String what, Object value, String expected) {
        return of(Code.MALFORMED, what, value, expected);
    }

    /** Returns a {@link Code#TOO_LARGE} failure with the message {@code what: value (expected: <= limit)}. */
    public static ZMTPException tooLarge(String what, long value, long limit) {
        return of(Code.TOO_LARGE, what, Long.toUnsignedString(value), "<= " + limit);
    }

    /** Returns a failure with the message {@code what: value (expected: expected)}. */
    public static ZMTPException of(Code code, String what, Object value, String expected) {
        return new ZMTPException(code, what + ": " + value + " (expected: " + expected + ")");
    }

    /** What kind of failure this is. */
    public Code code() {
        return code;
    }

    /** Collects nothing: see above. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
