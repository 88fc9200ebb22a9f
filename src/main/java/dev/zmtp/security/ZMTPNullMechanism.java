package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.wire.Command;
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
        return Command.READY.body(context.alloc(), context.localMetadata());
    }

    @Override
    public void receive(ByteBuf command) {
        Command name = Command.read(command);
        switch (name) {
            case READY -> {
                if (peer != null) {
                    throw Secured.unexpected("a second READY", "one");
                }
                peer = context.readPeerMetadata(command);
            }
            case ERROR -> throw Secured.refused(command);
            default -> throw Secured.unexpected(name, "READY or ERROR");
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
        return admission.refusal(cause);
    }
}
