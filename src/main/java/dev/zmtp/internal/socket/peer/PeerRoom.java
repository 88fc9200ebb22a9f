package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPRegistration;

/**
 * Calls the listeners that wait until a peer has room. Only a peer with a listener, now or earlier, has such an object.
 * <p>A listener is called in a task of its own, so it is never called during a send or by itself.
 */
final class PeerRoom {

    private final SocketContext context;
    private final PeerSends sends;
    private final Peer peer;
    private final RoomListeners listeners = new RoomListeners();
    private final Runnable lookTask = this::look;

    /**
     * True if a sender was refused or has found no room, and the listeners have not been called since. If no check is
     * scheduled, there was no room on the event loop either, and the code that frees room calls {@link #came}.
     */
    private volatile boolean missed;

    private volatile boolean lookScheduled;

    // On the event loop
    private final Runnable taskEnds = this::endTask;
    private int sentInTask;

    PeerRoom(SocketContext context, PeerSends sends, Peer peer) {
        this.context = context;
        this.sends = sends;
        this.peer = peer;
    }

    /** Adds a listener, which is called soon if there is room. From any thread. */
    ZMTPRegistration listen(Runnable listener) {
        RoomListeners.Added added = listeners.add(listener);
        context.execute(() -> {
            if (isOpen() && listeners.contains(added)) {
                listeners.call(added);
            }
        });
        return () -> listeners.remove(added);
    }

    /** Returns whether a sender should continue. If not, the listeners are called when it should. From any thread. */
    boolean isOpen() {
        boolean open = hasRoom();
        if (!open) {
            missed();
        }
        return open;
    }

    private boolean hasRoom() {
        return sends.mayTake(peer) && (sentInTask < LoopBudget.MESSAGES || !context.inEventLoop());
    }

    /**
     * Called when a sender has found no room. On another thread, the cause can be messages on their way to the event
     * loop, so the event loop checks again. Such a sender might have taken a place for a moment so that other senders
     * found none. Therefore each refused sender triggers a check.
     */
    void missed() {
        if (!missed) {
            missed = true;
        }
        if (!context.inEventLoop()) {
            came();
        }
    }

    /** Called when there might be room. From any thread. */
    void came() {
        if (missed && !lookScheduled) {
            lookScheduled = true;
            try {
                context.execute(lookTask);
            } catch (Throwable e) { // there is no memory for the task
                lookScheduled = false;
                throw e;
            }
        }
    }

    // On the event loop

    private void look() {
        lookScheduled = false; // first, so that later changes are seen by the next check
        if (missed && hasRoom()) {
            if (sends.isWayOpen()) {
                missed = false;
                context.flushes().follow(listeners::callAll);
            } else { // another thread would be refused again, and again
                sends.lookWhenWayOpens(peer);
            }
        }
    }

    /** Called when a handler sends to the peer. The number of attempts bounds a loop. */
    void sentHere() {
        if (sentInTask == 0) {
            try {
                context.execute(taskEnds);
            } catch (OutOfMemoryError e) { // does not concern the message, and the next send tries again
                return;
            }
        }
        sentInTask++;
    }

    private void endTask() {
        if (sentInTask < LoopBudget.MESSAGES) {
            sentInTask = 0;
            return;
        }
        try {
            context.executeAfterReads(this::beginTask);
        } catch (OutOfMemoryError e) { // nothing else would call the listeners
            beginTask();
        }
    }

    private void beginTask() {
        sentInTask = 0;
        came();
    }
}
