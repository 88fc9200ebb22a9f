package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Takes the first waiting message, if there is one. It is used once, by a single thread. */
public final class Polled implements Taker {

    private @Nullable Peer peer;
    private int occupant;
    private @Nullable ZMTPMessage message;
    private @Nullable ZMTPSocketException failure;

    private Polled() {}

    /**
     * Returns the message that is received next, as on the wire; null if none is waiting.
     *
     * @throws ZMTPSocketException if messages cannot be taken
     */
    public static @Nullable Polled poll(Inbox inbox) {
        Polled polled = new Polled();
        inbox.take(polled);
        if (polled.failure != null) {
            throw polled.failure;
        }
        return polled.message == null ? null : polled;
    }

    /** Like {@link #poll}, with the message as the application sees it. */
    public static @Nullable ZMTPMessage pollNamed(SocketContext context, Inbox inbox) {
        while (true) {
            Polled next = poll(inbox);
            ZMTPMessage named = next == null ? null : Names.added(context, next.peer(), next.occupant, next.message());
            if (next == null || named != null) {
                return named;
            }
            inbox.queues.discard(next.peer(), next.message());
        }
    }

    public Peer peer() {
        return Objects.requireNonNull(peer, "peer");
    }

    /** Returns the {@link Peer#occupant()} when the message was the next. */
    public int occupant() {
        return occupant;
    }

    public ZMTPMessage message() {
        return Objects.requireNonNull(message, "message");
    }

    @Override
    public boolean waits() {
        return false;
    }

    @Override
    public boolean take(Peer from, int occupant, ZMTPMessage message) {
        this.peer = from;
        this.occupant = occupant;
        this.message = message;
        return true;
    }

    @Override
    public void fail(ZMTPSocketException cause) {
        failure = cause;
    }
}
