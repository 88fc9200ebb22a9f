package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One side of a NULL handshake (RFC 23 and 37, "The NULL Security Mechanism").
 *
 * <pre>
 *   null = ready *message | error
 * </pre>
 *
 * <p>Both sides send READY at once and wait for the peer's. This satisfies RFC 23, in which both sides send first, and
 * RFC 37, which allows the binding side to wait. With an authenticator, this side's READY waits for its decision.
 */
final class NullMechanism implements ZMTPMechanism {

    /** Commands sent by this side. The peer's READY can arrive in any of these states. */
    private enum State {
        START,
        AWAIT_DECISION,
        READY_SENT
    }

    private final Context context;
    private final AuthDecisionHandler authDecision;
    private State state = State.START;
    private @Nullable ZMTPMetadata peer;

    NullMechanism(Context context) {
        this.context = context;
        this.authDecision = new AuthDecisionHandler(context, name());
    }

    @Override
    public String name() {
        return ZMTPNull.NAME;
    }

    @Override
    public boolean allowsDowngrade() {
        return true;
    }

    @Override
    public @Nullable ByteBuf poll() {
        if (state == State.START) {
            state = State.AWAIT_DECISION;
            authDecision.ask(ByteBuffer.allocate(0), List.of());
        }
        if (state != State.AWAIT_DECISION || !authDecision.isGranted()) {
            return null;
        }
        state = State.READY_SENT;
        return Command.READY.body(context.alloc(), context.localMetadata());
    }

    @Override
    public void receive(ByteBuf command) {
        Command name = Command.read(command);
        switch (name) {
            case READY -> {
                if (peer != null) {
                    throw HandshakeCommands.unexpected("a second READY", "one");
                }
                peer = context.readPeerMetadata(command);
            }
            case ERROR -> throw HandshakeCommands.peerError(command);
            default -> throw HandshakeCommands.unexpected(name, "READY or ERROR");
        }
    }

    @Override
    public boolean isReady() {
        return state == State.READY_SENT && peer != null;
    }

    @Override
    public ZMTPMetadata peerMetadata() {
        if (peer == null) {
            throw new IllegalStateException("peer metadata: none (expected: READY received)");
        }
        return peer;
    }

    /** Returns a reason only for a peer that was denied, or whose only fault is the wrong socket type. */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return authDecision.refusal(cause);
    }
}
