package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.RoomListeners;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPRegistration;
import java.util.function.BooleanSupplier;

/**
 * The writability of a socket, and the listeners waiting for it. Like a Netty channel with its water marks, a socket is
 * writable until its send queue limit is reached, and again when less than a quarter of the limit is queued. So a
 * sender that is called then can send for a while.
 */
public final class Writability {

    /** Fraction of the send queue limit that is the low mark, as a divisor. */
    private static final int PART = 4;

    /** The mark at which a socket that was full is writable again. */
    private enum Mark {
        /** It is not full, and no send waits. */
        NONE,
        /** Less than a quarter of the limit is queued. */
        LOW,
        /** A quarter is free, because threads that wait have continued at that mark since it was full. */
        QUARTER
    }

    private final SocketContext context;
    private final Senders senders;
    private final RoomListeners listeners = new RoomListeners();

    /**
     * True if a sender was refused, or has found the socket not writable, and the listeners have not been called since.
     */
    private volatile boolean missed;

    private volatile Mark mark = Mark.NONE;

    private volatile BooleanSupplier turn = () -> true;

    // On the event loop
    private final Runnable taskEnds = this::endTask;
    private int sentInTask;

    /** True while the listeners are called before the waiting threads. */
    private boolean listenersTurn;

    /** Number of messages that have arrived from other threads and were refused, which is not noted yet. */
    private int missedOnArrival;

    /** True if a message was refused here, and since then none was accepted and nothing has changed. */
    private boolean refused;

    /** Number of requests that were refused here because too many are outstanding, since something has changed. */
    private int refusedRequests;

    Writability(SocketContext context, Senders senders) {
        this.context = context;
        this.senders = senders;
    }

    /** Sets the supplier of whether it is the socket's turn to send, for types that send and receive in turn. */
    public void sendsWhen(BooleanSupplier turn) {
        this.turn = turn;
    }

    /**
     * Called when it has become the socket's turn to send. From any thread. The caller first returns its received
     * message.
     */
    public void turned() {
        missed = true; // until now, it was not writable
        if (!listeners.isEmpty()) {
            context.execute(this::opened);
        }
    }

    /** Returns whether a sender should continue. If not, the listeners are called when it should. From any thread. */
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
        if (here && (refused || refusedRequests > 0 || sentInTask >= LoopBudget.MESSAGES || isTaskLong())) {
            return false;
        }
        return senders.keepsNewest()
                || (senders.isReachable() && (mark != Mark.NONE ? isBelowLowMark() : credit().isOpen()))
                || (here && senders.canTakeNow());
    }

    /** Returns whether the task has written much. If so, its end checks again. */
    private boolean isTaskLong() {
        boolean isLong = context.flushes().isTaskLong();
        if (isLong) {
            sentHere();
        }
        return isLong;
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
     * Called from any thread when a sender has found no room. The listeners are called when there is room. The sender
     * might have taken room for a moment, so that another sender, or the event loop, found none. Therefore each refused
     * sender checks again.
     */
    void missed() {
        if (mark == Mark.NONE && (!credit().isOpen() || !senders.takesMessages())) {
            mark = Mark.LOW;
        }
        if (!missed) {
            missed = true;
        }
        if (!context.inEventLoop()
                && hasRoom()) { // it came after the sender's check, and nothing else would report that
            context.execute(senders::opened);
        }
    }

    /**
     * Like {@link #missed()}, if a peer had no room. This does not concern the room of the socket, and every message
     * that leaves the queue of the peer is reported.
     *
     * @param hasRoomNow checks whether a message has left the queue in the meantime. It is called after the sender is
     *     noted, because the last message could otherwise leave between the check and the note
     */
    void missedPeer(BooleanSupplier hasRoomNow) {
        missed = true;
        if (hasRoomNow.getAsBoolean()) {
            context.execute(this::opened);
        }
    }

    /**
     * Like {@link #missedPeer}, if too many requests are outstanding. A handler finds no room until one has ended, or
     * there might be room for another reason.
     */
    public void missedRequest(BooleanSupplier hasRoomNow) {
        if (context.inEventLoop()) {
            refusedRequests++;
        }
        missedPeer(hasRoomNow);
    }

    /** Adds a listener, which is called now if there is room. From any thread. */
    public ZMTPRegistration listen(Runnable listener) {
        RoomListeners.Added added = listeners.add(listener);
        context.executeHere(() -> {
            if (isOpen() && listeners.contains(added)) {
                listeners.call(added);
            }
        });
        return () -> listeners.remove(added);
    }

    // On the event loop

    /** Called when a handler sends a message, whatever becomes of it. The number of attempts bounds a loop. */
    public void sentHere() {
        if (sentInTask == 0) {
            try {
                context.execute(taskEnds);
            } catch (OutOfMemoryError e) { // does not concern the message, and the next send tries again
                return;
            }
        }
        sentInTask++;
    }

    /**
     * Called with the fate of a handler's message. If it was refused, others would be refused as well until something
     * has changed. If it was accepted, only the peer of a refused message had no room.
     */
    void hereWas(Fate fate) {
        if (fate != Fate.DROPPED) {
            refused = fate == Fate.REFUSED;
        }
    }

    /** Called when a message of another thread was refused, with the peer that it names. */
    void refusedOnArrival() {
        missedOnArrival++;
    }

    /**
     * Called when room has come, before {@link #opened}. A message that was refused on arrival is noted only now.
     * Otherwise the next arrival would call the listeners, as there is room for other peers, and these would send to
     * the full peer again, without end.
     */
    void noteArrivals() {
        if (missedOnArrival > 0) {
            missedOnArrival = 0;
            missed = true;
        }
    }

    private void endTask() {
        if (sentInTask < LoopBudget.MESSAGES && !context.flushes().isTaskLong()) {
            beginTask();
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
        callIfOpen();
    }

    /** Called when there might be room. */
    void opened() {
        refused = false;
        refusedRequests = 0;
        callIfOpen();
    }

    /**
     * Returns whether threads that wait in line can continue because a quarter of the limit is free. If they have done
     * so while listeners waited for the low mark, which such threads might keep from ever being reached, it is the turn
     * of the listeners.
     */
    boolean letsThreadsContinue() {
        boolean listenersWait = mark != Mark.NONE && missed && !listeners.isEmpty();
        if (!isQuarterFree() || (mark == Mark.QUARTER && listenersWait)) {
            return false;
        }
        if (listenersWait) {
            mark = Mark.QUARTER;
        }
        return true;
    }

    /** Returns whether messages of the listeners overtake those of the threads that wait. On the event loop. */
    boolean isListenersTurn() {
        return listenersTurn;
    }

    private boolean isQuarterFree() {
        QueueLimit much = senders.limit().quarter();
        return credit().exceeds(much.messages() - 1, much.bytes() - 1);
    }

    private void callIfOpen() {
        boolean isTurn = mark == Mark.QUARTER && isQuarterFree();
        if (isTurn || (mark == Mark.LOW && isBelowLowMark())) {
            mark = Mark.NONE;
        }
        if (missed) {
            boolean outer = listenersTurn;
            listenersTurn |= isTurn;
            try {
                if (hasRoom()) {
                    callListeners();
                }
            } finally {
                listenersTurn = outer;
            }
        }
        if (missed && mark == Mark.NONE && !senders.takesMessages()) { // they wait for their next turn
            mark = Mark.LOW;
        }
        if (isTurn) {
            context.execute(context::capacityFreed); // for the threads, whose turn it is next
        }
    }

    /** Called when there will be no more room. The listeners find the socket closed. */
    void closed() {
        callListeners();
    }

    private void callListeners() {
        if (listeners.areCalled()) { // the calls must not nest for each message, so the end of the task checks again
            sentHere();
            return;
        }
        missed = false;
        listeners.callAll();
    }
}
