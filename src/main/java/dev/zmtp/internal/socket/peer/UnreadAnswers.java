package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.socket.context.SocketContext;
import org.jspecify.annotations.Nullable;

/**
 * The answers that wait for a peer. As long as they have no room, the peer is not read from: it must not ask for more.
 * On the event loop.
 */
public final class UnreadAnswers {

    private final SocketContext context;
    private final Peer peer;
    private boolean areMany;
    private @Nullable Runnable whenTheyHaveLeft;

    UnreadAnswers(SocketContext context, Peer peer) {
        this.context = context;
        this.peer = peer;
    }

    /** Whether the peer has to read answers before it gets others. */
    public boolean areMany() {
        return areMany;
    }

    /** Sets what is called once, when the peer may get answers again, or has gone. */
    public void whenTheyHaveLeft(Runnable then) {
        whenTheyHaveLeft = then;
    }

    /** Called when answers were added, or have left. */
    public void changed() {
        boolean now = haveNoRoom();
        if (now && !areMany) {
            areMany = true;
            peer.reading();
        } else if (areMany && !now) {
            haveLeft();
            peer.reading();
        }
    }

    /** Called when some of what waited for the peer has left. */
    void someHaveLeft() {
        if (areMany) {
            changed();
        }
    }

    void up() {
        areMany = haveNoRoom();
    }

    void down() {
        haveLeft();
    }

    private boolean haveNoRoom() {
        return peer.queue().isFull() || peer.memory().hasMuchServed();
    }

    private void haveLeft() {
        areMany = false;
        Runnable then = whenTheyHaveLeft;
        if (then != null) {
            whenTheyHaveLeft = null;
            context.execute(then);
        }
    }
}
