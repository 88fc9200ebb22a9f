package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** PLAIN side that checks a password (RFC 24). See {@link PlainClient} for the commands. */
final class PlainServer implements ZMTPMechanism {

    private enum State {
        AWAIT_HELLO,
        AWAIT_DECISION,
        AWAIT_INITIATE,
        SEND_READY,
        READY
    }

    private final Context context;
    private final AuthDecisionHandler authDecision;
    private byte[] password = {};
    private State state = State.AWAIT_HELLO;
    private ZMTPMetadata peer = ZMTPMetadata.EMPTY;

    PlainServer(Context context) {
        this.context = context;
        this.authDecision = new AuthDecisionHandler(context, name());
    }

    @Override
    public String name() {
        return ZMTPPlain.NAME;
    }

    @Override
    public boolean isServer() {
        return true;
    }

    @Override
    public @Nullable ByteBuf poll() {
        if (state == State.AWAIT_DECISION && authDecision.isGranted()) {
            state = State.AWAIT_INITIATE;
            wipePassword();
            return Command.WELCOME.body(context.alloc(), 0);
        }
        if (state == State.SEND_READY) {
            state = State.READY;
            return Command.READY.body(context.alloc(), context.localMetadata());
        }
        return null;
    }

    @Override
    public void receive(ByteBuf command) {
        switch (state) {
            case AWAIT_HELLO -> {
                HandshakeCommands.expect(command, Command.HELLO);
                byte[] userName = credential("user name", command);
                password = credential("password", command);
                if (command.isReadable()) {
                    throw ZMTPException.malformed("bytes after the password", command.readableBytes(), "0");
                }
                state = State.AWAIT_DECISION;
                authDecision.ask(ByteBuffer.allocate(0), List.of(ByteBuffer.wrap(userName), ByteBuffer.wrap(password)));
            }
            case AWAIT_INITIATE -> {
                HandshakeCommands.expect(command, Command.INITIATE);
                peer = context.readPeerMetadata(command);
                state = State.SEND_READY;
            }
            default -> throw HandshakeCommands.unexpected(Command.read(command), "none in " + state);
        }
    }

    private static byte[] credential(String what, ByteBuf command) {
        int length = command.isReadable() ? command.readUnsignedByte() : -1;
        if (length < 0 || length > command.readableBytes()) {
            throw ZMTPException.malformed(what + " length", length, "0 to " + command.readableBytes());
        }
        byte[] bytes = new byte[length];
        command.readBytes(bytes);
        return bytes;
    }

    @Override
    public boolean isReady() {
        return state == State.READY;
    }

    @Override
    public ZMTPMetadata peerMetadata() {
        return peer;
    }

    /** Returns a reason only for a peer that was denied, or whose only fault is the wrong socket type. */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return authDecision.refusal(cause);
    }

    @Override
    public void close() {
        wipePassword();
    }

    private void wipePassword() {
        Arrays.fill(password, (byte) 0);
    }
}
