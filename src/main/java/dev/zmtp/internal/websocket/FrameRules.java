package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.security.ZMTPPlain;
import java.util.function.BooleanSupplier;

/**
 * The rules for the frames of a peer, which are those of RFC 6455 and RFC 45, and the limits of the config. Each frame
 * is checked at its header, before memory is taken for it. The codec checks the translated frames again, and more
 * strictly.
 */
final class FrameRules {

    /** Flag of a frame that another frame of the same message follows (RFC 45). */
    static final int MORE = 1;

    /** Flag of a frame whose payload is a command. */
    static final int COMMAND = 2;

    /** Maximum number of bytes by which the frame of a sealed message can be longer, with any mechanism. */
    private static final int SEAL = 1024;

    private static final int SHORTEST_STATUS = 2;

    private final WebSocketRole role;
    private final ZwsProtocol protocol;
    private final long maxFrame;
    private final long maxCommand;

    /** Maximum length of the body of any frame. */
    private final long maxBody;

    private final BooleanSupplier handshaken;
    private final long maxHandshakeCommand;

    /** True until the first frame of a peer with the NULL mechanism, which is a command. */
    private boolean expectsCommand;

    private boolean textArrived;

    /** @param handshaken whether the handshake is complete, before which a peer can be anybody */
    FrameRules(WebSocketRole role, ZwsProtocol protocol, ZMTPConfig config, BooleanSupplier handshaken) {
        this.handshaken = handshaken;
        this.maxHandshakeCommand = config.maxHandshakeCommandLength();
        this.role = role;
        this.protocol = protocol;
        long command = Math.max(config.maxCommandLength(), config.maxHandshakeCommandLength());
        long longest = Math.max(command, config.maxFrameLength()) + SEAL;
        boolean isPlain = !mayBeSealed(protocol);
        maxFrame = isPlain ? config.maxFrameLength() : longest;
        maxCommand = isPlain ? command : longest;
        maxBody = Math.max(maxFrame, maxCommand);
        expectsCommand = ZMTPNull.NAME.equals(protocol.mechanism());
    }

    /** Returns whether the codec can expect sealed frames after its handshake. */
    static boolean mayBeSealed(ZwsProtocol protocol) {
        String mechanism = protocol.mechanism();
        return mechanism != null && !mechanism.equals(ZMTPNull.NAME) && !mechanism.equals(ZMTPPlain.NAME);
    }

    /** Returns whether the frames of the peer are masked. */
    boolean isMasked() {
        return role == WebSocketRole.SERVER;
    }

    /**
     * Checks the header of a frame.
     *
     * @param collected number of bytes of the fragments before it
     * @throws ZMTPException if it is against the rules
     */
    void check(WebSocketHeader header, boolean inFragments, int collected) {
        if (header.rsv() != 0) {
            throw ZMTPException.malformed("WebSocket RSV bits", hex(header.rsv()), "0x0, without extensions");
        }
        if (header.isMasked() != isMasked()) {
            throw ZMTPException.malformed(
                    "WebSocket mask",
                    header.isMasked() ? "set" : "none",
                    isMasked() ? "set, from a client" : "none, from a server");
        }
        if (header.length() < 0) {
            throw ZMTPException.malformed(
                    "WebSocket payload length", Long.toUnsignedString(header.length()), "<= " + Long.MAX_VALUE);
        }
        switch (header.opcode()) {
            case WebSocketFrames.CONTINUATION, WebSocketFrames.BINARY -> checkData(header, inFragments, collected);
            case WebSocketFrames.CLOSE, WebSocketFrames.PING, WebSocketFrames.PONG -> checkControl(header);
            case WebSocketFrames.TEXT -> {
                textArrived = true;
                throw ZMTPException.malformed("WebSocket opcode", "0x1, text", "0x2, binary");
            }
            default -> throw ZMTPException.malformed("WebSocket opcode", hex(header.opcode()), "one of RFC 6455");
        }
    }

    private void checkData(WebSocketHeader header, boolean inFragments, int collected) {
        if (inFragments != (header.opcode() == WebSocketFrames.CONTINUATION)) {
            throw ZMTPException.malformed(
                    "WebSocket opcode",
                    hex(header.opcode()),
                    inFragments ? "0x0, a continuation of the message" : "0x2, the beginning of a message");
        }
        if (header.isFinal() && !inFragments) {
            checkPayload(header.length());
            return;
        }
        long limit = handshaken.getAsBoolean() ? maxBody : Math.min(maxBody, maxHandshakeCommand);
        if (header.length() > limit + 1 - collected) { // the flags are no part of the body
            throw ZMTPException.tooLarge("fragmented message length", collected + header.length() - 1, limit);
        }
    }

    private static void checkControl(WebSocketHeader header) {
        if (!header.isFinal()) {
            throw ZMTPException.malformed("WebSocket control frame", "a fragment", "a whole frame");
        }
        if (header.length() > WebSocketFrames.MAX_CONTROL) {
            throw ZMTPException.malformed(
                    "WebSocket control frame length", header.length(), "<= " + WebSocketFrames.MAX_CONTROL);
        }
        boolean isClose = header.opcode() == WebSocketFrames.CLOSE;
        if (isClose && header.length() > 0 && header.length() < SHORTEST_STATUS) {
            throw ZMTPException.malformed("WebSocket close frame length", header.length(), "0, or a status of 2 bytes");
        }
    }

    /** Checks the length of the payload of a message, which includes the flags. */
    static void checkPayload(long length) {
        if (length == 0) {
            throw ZMTPException.malformed("WebSocket message length", 0, ">= 1, the flags of ZWS");
        }
    }

    /**
     * Returns the flags of the ZMTP frame for a message with these flags of ZWS and a body of this length.
     *
     * @throws ZMTPException if the flags are not allowed, or the body is too long
     */
    int framing(int flags, long length) {
        boolean isCommand = flags == COMMAND;
        if (flags > (protocol.mechanism() == null ? MORE : COMMAND)) {
            throw ZMTPException.malformed(
                    "ZWS flags", hex(flags), protocol.mechanism() == null ? "0x0 or 0x1" : "0x0, 0x1 or 0x2");
        }
        if (expectsCommand && !isCommand) {
            String bare = role == WebSocketRole.CLIENT ? "; a server of jszmq needs bare(true)" : "";
            throw ZMTPException.of(ZMTPException.Code.UNEXPECTED, "frame", "of a message", "a command" + bare);
        }
        expectsCommand = false;
        if (isCommand) {
            checkLength("command length", length, maxCommand);
            return ZMTPFraming.COMMAND;
        }
        checkLength("frame length", length, maxFrame);
        return flags == MORE ? ZMTPFraming.MORE : 0;
    }

    private static void checkLength(String what, long length, long limit) {
        if (length > limit) {
            throw ZMTPException.tooLarge(what, length, limit);
        }
    }

    /** Returns the status of the close frame for a connection that ends because of {@code failure}. */
    int statusFor(Throwable failure) {
        if (!(failure instanceof ZMTPException known)) {
            return WebSocketFrames.INTERNAL_ERROR;
        }
        return switch (known.code()) {
            case TOO_LARGE, MEMORY_BUDGET -> WebSocketFrames.TOO_BIG;
            default -> textArrived ? WebSocketFrames.UNSUPPORTED_DATA : WebSocketFrames.PROTOCOL_ERROR;
        };
    }

    private static String hex(int bits) {
        return "0x" + Integer.toHexString(bits);
    }
}
