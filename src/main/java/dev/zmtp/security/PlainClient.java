package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * PLAIN side that sends a password (RFC 24).
 *
 * <pre>
 *   C: HELLO user password    S: WELCOME | ERROR
 *   C: INITIATE metadata      S: READY metadata | ERROR
 * </pre>
 */
final class PlainClient implements ZMTPMechanism {

    /**
     * Sent by libzmq since 4.3.0 instead of {@code 05 "ERROR"}, because a hexadecimal escape in its source swallows the
     * E.
     */
    private static final byte[] MISSPELT_ERROR = {0x5e, 'R', 'R', 'O', 'R'};

    private enum State {
        SEND_HELLO,
        AWAIT_WELCOME,
        SEND_INITIATE,
        AWAIT_READY,
        READY
    }

    private final Context context;
    private final byte[] userName;
    private final byte[] password;
    private State state = State.SEND_HELLO;
    private ZMTPMetadata peer = ZMTPMetadata.EMPTY;

    /** Keeps both arrays without copying them, and does not change them. */
    PlainClient(Context context, byte[] userName, byte[] password) {
        this.context = context;
        this.userName = userName;
        this.password = password;
    }

    @Override
    public String name() {
        return ZMTPPlain.NAME;
    }

    @Override
    public @Nullable ByteBuf poll() {
        return switch (state) {
            case SEND_HELLO -> {
                state = State.AWAIT_WELCOME;
                yield hello();
            }
            case SEND_INITIATE -> {
                state = State.AWAIT_READY;
                yield Command.INITIATE.body(context.alloc(), context.localMetadata());
            }
            default -> null;
        };
    }

    private ByteBuf hello() {
        return Command.HELLO
                .body(context.alloc(), 2 + userName.length + password.length)
                .writeByte(userName.length)
                .writeBytes(userName)
                .writeByte(password.length)
                .writeBytes(password);
    }

    @Override
    public void receive(ByteBuf command) {
        checkMisspeltError(command);
        switch (state) {
            case AWAIT_WELCOME -> {
                HandshakeCommands.expect(command, Command.WELCOME);
                if (command.isReadable()) {
                    throw ZMTPException.malformed("WELCOME data length", command.readableBytes(), "0");
                }
                state = State.SEND_INITIATE;
            }
            case AWAIT_READY -> {
                HandshakeCommands.expect(command, Command.READY);
                peer = context.readPeerMetadata(command);
                state = State.READY;
            }
            default -> throw HandshakeCommands.unexpected(Command.read(command), "none in " + state);
        }
    }

    private static void checkMisspeltError(ByteBuf command) {
        int start = command.readerIndex();
        if (command.readableBytes() <= MISSPELT_ERROR.length) {
            return;
        }
        for (int i = 0; i < MISSPELT_ERROR.length; i++) {
            if (command.getByte(start + i) != MISSPELT_ERROR[i]) {
                return;
            }
        }
        throw HandshakeCommands.peerError(command.skipBytes(MISSPELT_ERROR.length));
    }

    @Override
    public boolean isReady() {
        return state == State.READY;
    }

    @Override
    public ZMTPMetadata peerMetadata() {
        return peer;
    }

    /** Returns null, because only servers send ERROR. */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return null;
    }
}
