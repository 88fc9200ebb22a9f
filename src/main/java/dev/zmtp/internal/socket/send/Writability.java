package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.RoomListeners;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPRegistration;
import java.util.function.BooleanSupplier;

/**
 * The answer to whether a socket is writable, and the listeners that wait until it is. As a Netty channel by its water
 * marks, a socket is writable until its send limit is reached, and again when less than a quarter of that is queued. So
 * a sender that is called then can send for a while.
 */
public final class Writability {

    /** The part of the send limit that is the low mark. */
    private static final int PART = 4;

    private final SocketContext context;
    private final Senders senders;
    private final RoomListeners listeners = new RoomListeners();

    /** A sender was refused, or has found it not writable, and the listeners were not called since. */
    private volatile boolean missed;

    /** The high mark was reached, and the low mark is not reached since. */
    private volatile boolean full;

    private volatile BooleanSupplier turn = () -> true;

    // On the event loop
    private final Runnable taskEnds = this::endTask;
    private int sentInTask;

    /** A message was refused here, and nothing has changed since. */
    private boolean refused;

    Writability(SocketContext context, Senders senders) {
        this.context = context;
        this.senders = senders;
    }

    /** Sets what says whether it is the turn to send, of the types that send and receive in turn. */
    public void sendsWhen(BooleanSupplier turn) {
        this.turn = turn;
    }

    /** Called when it has become the turn to send. From any thread. The caller first returns what it has received. */
    public void turned() {
        if (!listeners.isEmpty()) {
            context.execute(this::opened);
        }
    }

    /** Whether a sender should go on. If not, the listeners are called when it should. From any thread. */
    public boolean isOpen() {
        boolean open = hasRoom();
        if (!open) {
            missed();
        }
        return open;
    }

    private boolean hasRoom() {
        if (!senders.takesMessages() || !turn.getAsBoolean()) {
            return false;
        }
        boolean here = context.inEventLoop();
        if (here && (refused || sentInTask >= LoopBudget.MESSAGES)) {
            return false;
        }
        return senders.keepsNewest()
                || (senders.isReachable() && (full ? isBelowLowMark() : credit().isOpen()))
                || (here && senders.canTakeNow());
    }

    private Credit credit() {
        return senders.credit();
    }

    private boolean isBelowLowMark() {
        QueueLimit limit = senders.limit();
        return credit().exceeds(
                        limit.messages() - Math.max(1, limit.messages() / PART),
                        limit.bytes() - Math.max(1, limit.bytes() / PART));
    }

    /**
     * Called from any thread when a sender has found no room: the listeners are called when there is some. It may have
     * taken some for a moment, so that another one, or the event loop, found none. So each one that is refused looks
     * again.
     */
    void missed() {
        if (!full && !credit().isOpen()) {
            full = true;
        }
        if (!missed) {
            missed = true;
        }
        if (!context.inEventLoop()
                && hasRoom()) { // it came after the sender looked, and nothing else would report that
            context.execute(this::opened);
        }
    }

    /**
     * As {@link #missed()}, where one peer had no room. It says nothing about the room that the socket has, and
     * whatever leaves the queue of the peer reports that.
     *
     * @param hasRoomNow whether something has left it in the meantime
     */
    void missedPeer(boolean hasRoomNow) {
        missed = true;
        if (hasRoomNow) {
            context.execute(this::opened);
        }
    }

    /** Adds a listener, which is called now if there is room. From any thread. */
    public ZMTPRegistration listen(Runnable listener) {
        listeners.add(listener);
        context.executeHere(() -> {
            if (isOpen() && listeners.contains(listener)) {
                listeners.call(listener);
            }
        });
        return () -> listeners.remove(listener);
    }

    // On the event loop

    /** Called when a handler sends a message, whatever becomes of it: the number of attempts bounds a loop. */
    public void sentHere() {
        if (sentInTask++ == 0) {
            context.execute(taskEnds);
        }
    }

    /** Called when a handler's message was refused, which other messages would be, too, until something has changed. */
    void refusedHere() {
        refused = true;
    }

    private void endTask() {
        if (sentInTask < LoopBudget.MESSAGES) {
            beginTask();
        } else {
            context.executeAfterReads(this::beginTask);
        }
    }

    private void beginTask() {
        sentInTask = 0;
        callIfOpen();
    }

    /** Called when there may be room. */
    void opened() {
        refused = false;
        callIfOpen();
    }

    private void callIfOpen() {
        if (full && isBelowLowMark()) {
            full = false;
        }
        if (missed && hasRoom()) {
            callListeners();
        }
    }

    /** Called when there will be no room any more: the listeners find the socket closed. */
    void closed() {
        callListeners();
    }

    private void callListeners() {
        if (listeners.areCalled()) { // the calls must not nest for each message: the end of the task looks again
            sentHere();
            return;
        }
        missed = false;
        listeners.callAll();
    }
}
