package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.socket.context.LaterLook;
import dev.zmtp.internal.socket.context.SocketContext;
import org.jspecify.annotations.Nullable;

/**
 * The answers that wait for a peer. The peer is not read while they have no room, because it must not make more
 * requests. On the event loop.
 */
public final class UnreadAnswers {

    private final SocketContext context;
    private final Peer peer;
    private boolean areMany;
    private @Nullable Runnable whenTheyHaveLeft;
    private @Nullable LaterLook memoryLook;

    UnreadAnswers(SocketContext context, Peer peer) {
        this.context = context;
        this.peer = peer;
    }

    /** Returns whether the peer has to read answers before it gets others. */
    public boolean areMany() {
        return areMany;
    }

    /** Sets a callback that is called once, when the peer can get answers again or has left. */
    public void whenTheyHaveLeft(Runnable then) {
        whenTheyHaveLeft = then;
    }

    /** Called when answers have been added or have left. */
    public void changed() {
        if (!peer.isUp()) {
            return; // none waits for it
        }
        boolean now = haveNoRoom();
        if (now && !areMany) {
            areMany = true;
            peer.reading();
        } else if (areMany && !now) {
            haveLeft();
            peer.reading();
        }
        if (now && !peer.queue().isAtLimit()) {
            lookAtTheMemoryLater();
        }
    }

    /** Others can free memory as well, without notice. */
    private void lookAtTheMemoryLater() {
        LaterLook look = memoryLook;
        if (look == null) {
            look = new LaterLook(context, this::someHaveLeft);
            memoryLook = look;
        }
        look.schedule();
    }

    /** Called when some messages waiting for the peer have left, or more can wait. */
    void someHaveLeft() {
        if (areMany) {
            changed();
        }
    }

    /** Called when the peer is connected. What is queued then is mostly no answers, and can leave soon. */
    void up() {
        if (peer.memory().hasMuchServed()) {
            areMany = true;
            lookAtTheMemoryLater();
        } else {
            haveLeft();
        }
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
