package dev.zmtp.mechanism;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.wire.Command;
import dev.zmtp.wire.Metadata;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * NULL: no authentication and no encryption (RFC 23 and 37, "The NULL Security Mechanism").
 *
 * <pre>
 *   null = ready *message | error
 * </pre>
 *
 * <p>Both sides send READY at once and wait for the other's. That satisfies RFC 23, where both send first, and RFC 37, which
 * lets the binding side wait. With an authenticator, ours waits for its decision.
 */
public final class ZMTPNullMechanism implements ZMTPMechanism {

    private final Context context;
    private final Admission admission;
    private boolean asked;
    private boolean sent;
    private @Nullable ZMTPMetadata peer;

    /** A side of one handshake; use {@code ZMTPNullMechanism::new} as the factory. */
    public ZMTPNullMechanism(Context context) {
        this.context = context;
        this.admission = new Admission(context, name());
    }

    @Override
    public String name() {
        return "NULL";
    }

    @Override
    public boolean allowsDowngrade() {
        return true;
    }

    @Override
    public @Nullable ByteBuf poll() {
        if (!asked) {
            asked = true;
            admission.ask(ByteBuffer.allocate(0), List.of());
        }
        if (sent || !admission.isGranted()) {
            return null;
        }
        sent = true;
        ZMTPMetadata local = context.localMetadata();
        ByteBuf ready = Command.READY.body(context.alloc(), Metadata.length(local));
        Metadata.write(ready, local);
        return ready;
    }

    @Override
    public void receive(ByteBuf command) {
        Command name = Command.read(command);
        switch (name) {
            case READY -> {
                if (peer != null) {
                    throw ZMTPException.of(ZMTPException.Code.UNEXPECTED, "command", "a second READY", "one");
                }
                peer = context.readPeerMetadata(command);
            }
            case ERROR ->
                throw new ZMTPException(
                        ZMTPException.Code.PEER_ERROR, "refused by the peer: " + Command.readReason(command));
            default -> throw ZMTPException.of(ZMTPException.Code.UNEXPECTED, "command", name, "READY or ERROR");
        }
    }

    @Override
    public boolean isReady() {
        return sent && peer != null;
    }

    @Override
    public ZMTPMetadata peerMetadata() {
        if (peer == null) {
            throw new IllegalStateException("peer metadata: none (expected: READY received)");
        }
        return peer;
    }

    /** Says why, but only to a peer that may not come in, or that did nothing worse than to have the wrong socket type. */
    @Override
    public @Nullable ByteBuf refuse(ZMTPException cause) {
        return switch (cause.code()) {
            case SOCKET_TYPE -> Command.error(context.alloc(), String.valueOf(cause.getMessage()));
            case AUTHENTICATION -> admission.refusal();
            default -> null;
        };
    }
}
