package dev.zmtp.internal.socket.send;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Outgoing;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerSends;
import dev.zmtp.internal.socket.peer.QueuedMessage;
import dev.zmtp.internal.socket.peer.SlowPeers;
import dev.zmtp.internal.transport.QueueLimit;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Passes messages from any thread to the socket's event loop.
 * <p>On the event loop a message is passed to its peer at once. Another thread takes room from the credit, which is the
 * room in the queue of the socket, and leaves the message in the intake. So the thread knows at once whether the
 * message was accepted. A send with a result that finds no room waits. While a send waits, no other message is accepted
 * before it.
 */
public final class Senders {

    private final SocketContext context;
    private final Credit credit;
    private final Routing routing;

    /** The routing if it has a single queue for all peers; null if each peer has its own. */
    private final @Nullable RoundRobin shared;

    /** The routing if messages contain the name of their peer; null if they do not. */
    private final @Nullable ByName named;

    private final DirectSends directly;
    private final BlockingSends blocking;
    private final Runnable whenDrained;
    private final Writability writability;
    private final Intake intake;

    private final BlockedSends blocked;
    private final WaitingSends waitingSends;
    private volatile QueueLimit limit;

    /** True if the oldest messages make room for new messages, both in the intake and in the queues of the peers. */
    private final boolean keepsNewest;

    // On the event loop
    private boolean isRouting;
    private boolean capacityCame;
    private final Runnable restTask = this::serveRest;

    /** True if waiting messages are continued in a later task. */
    private boolean restScheduled;

    /** Calls {@code whenDrained} when messages of other threads have been sent, and another step might be next. */
    @SuppressWarnings("this-escape") // nothing happens before the socket opens
    public Senders(SocketContext context, Routing routing, Credit credit, SlowPeers slowPeers, Runnable whenDrained) {
        this.context = context;
        this.routing = routing;
        this.shared = routing instanceof RoundRobin withQueue ? withQueue : null;
        this.named = routing instanceof ByName byName ? byName : null;
        this.credit = credit;
        this.whenDrained = whenDrained;
        this.blocked = new BlockedSends(context, credit, this::accept);
        this.limit = onTheWay(SocketValues.limitOfSends(context.config()));
        this.keepsNewest = context.keepsNewest();
        this.intake = new Intake(context, credit, keepsNewest, this::drain);
        credit.give(limit.messages(), limit.bytes());
        this.writability = new Writability(context, this);
        this.waitingSends = new WaitingSends(
                context, routing::sendsWait, intake::add, this::offer, this::capacityFreed, this::refused);
        PlaceLines places = new PlaceLines(context);
        this.directly = new DirectSends(context, this, routing, slowPeers, places);
        this.blocking = new BlockingSends(context, this, waitingSends, places, named);
    }

    public BlockingSends blocking() {
        return blocking;
    }

    public DirectSends directly() {
        return directly;
    }

    /** Returns the limit of accepted messages for this limit of a queue. */
    private QueueLimit onTheWay(QueueLimit ofQueue) {
        return shared != null || routing.waits() ? ofQueue : Bursts.limit(ofQueue);
    }

    /** Changes the limit of a queue, and with it the limit of accepted messages. On the event loop. */
    public void limit(QueueLimit ofQueue) {
        QueueLimit from = limit;
        QueueLimit to = onTheWay(ofQueue);
        limit = to;
        credit.give((long) to.messages() - from.messages(), to.bytes() - from.bytes());
    }

    /** Limit of accepted messages, which is the credit of an empty socket. */
    public QueueLimit limit() {
        return limit;
    }

    public Credit credit() {
        return credit;
    }

    /**
     * Returns whether a message can be accepted if there is room for it, because no send waits before it. If the type
     * does not let messages wait, only threads wait, for the way to the event loop, which a message of the event loop
     * does not use. From any thread.
     */
    boolean takesMessages() {
        return !context.isClosed() && (waitingSends.isEmpty() || (context.inEventLoop() && overtakesThoseThatWait()));
    }

    private boolean overtakesThoseThatWait() {
        return !routing.waits() || (writability.isListenersTurn() && !waitingSends.hasSendOfHandler());
    }

    /** Returns whether messages can wait for a peer, if all peers share a queue. From any thread. */
    public boolean isReachable() {
        return shared == null || shared.isReachable();
    }

    /** Returns whether a message of the event loop needs no credit now. On the event loop. */
    boolean canTakeNow() {
        return shared == null || shared.canTakeNow();
    }

    /** Returns whether a new message always has room because the oldest messages are dropped. */
    boolean keepsNewest() {
        return keepsNewest;
    }

    /** Accepts the message if there is room now. Otherwise the message still belongs to the caller. */
    @CheckReturnValue
    public boolean trySend(ZMTPMessage message) {
        if (takesMessages()) {
            if (context.inEventLoop()) {
                writability.sentHere();
                Fate fate = route(message, null, null);
                writability.hereWas(fate);
                if (fate != Fate.REFUSED) {
                    return true;
                }
            } else {
                ByName.Named addressee = named == null ? null : named.addressee(message);
                if (addressee != null) {
                    return directly.trySendNamed(addressee, message);
                }
                if (handIfRoom(new Sent.ToAny(this, context, message, null))) {
                    return true;
                }
                refused();
                return false;
            }
        }
        writability.missed();
        return false;
    }

    /**
     * Called when another thread is refused. It might have had room for a moment, so that the event loop found none.
     */
    void refused() {
        waitingSends.lookAgain();
        writability.missed();
    }

    /** Returns whether another thread finds room on the way to the event loop. From any thread. */
    boolean isWayOpen() {
        return credit.isOpen() && waitingSends.isEmpty();
    }

    /** Accepts the message unless it is refused, and returns its fate. Called on the event loop. */
    @CheckReturnValue
    public Fate offer(ZMTPMessage message) {
        Fate fate = !takesMessages() ? Fate.REFUSED : route(message, null, null);
        if (fate == Fate.REFUSED) {
            writability.missed();
        }
        return fate;
    }

    /**
     * Takes ownership of the message. The result is that of the transport, or the reason why the message did not reach
     * it.
     *
     * @param most maximum number of waiting sends, including this send
     */
    public CompletableFuture<Void> send(ZMTPMessage message, int most) {
        CompletableFuture<Void> result = new LoopFuture<>();
        if (context.isClosed()) {
            context.drop(null, message, result, CLOSED, "the socket is closed");
        } else if (context.inEventLoop()) {
            writability.sentHere();
            Fate fate = takesMessages() ? route(message, result, null) : Fate.REFUSED;
            writability.hereWas(fate);
            if (fate == Fate.REFUSED) {
                waitingSends.join(new QueuedMessage(message, result, context.birthTime()), most);
            }
        } else if (!waitingSends.isEmpty() || !handIfRoom(new Sent.ToAny(this, context, message, result))) {
            waitingSends.join(new QueuedMessage(message, result, context.birthTime()), most);
        }
        return result;
    }

    /** Sends a waiting message, or returns false if there is no room. On the event loop. */
    private boolean offer(QueuedMessage waits) {
        return routeOther(waits.message(), waits.result()) != Fate.REFUSED;
    }

    /** Takes ownership of the request if there is room for it now. From any thread. */
    @CheckReturnValue
    public boolean ask(Outgoing request) {
        if (takesMessages()) {
            if (context.inEventLoop()) {
                if (route(request.message(), null, request) != Fate.REFUSED) {
                    return true;
                }
            } else if (isReachable() && credit.takeBytes(request.bytes())) {
                intake.add(new Sent.Asked(request));
                return true;
            }
        }
        writability.missed();
        return false;
    }

    /** Takes credit for a message that is handed over later. Called from other threads. */
    boolean takeRoom(long bytes) {
        return isReachable() && intake.takeRoom(bytes);
    }

    /** Hands over a message if there is credit for it. Called from other threads. */
    boolean handIfRoom(Sent sent) {
        return isReachable() && intake.addIfRoom(sent);
    }

    /** Gives back the credit for a message that is not sent. From any thread. */
    void giveRoomBack(long bytes) {
        credit.give(1, bytes);
        context.execute(context::capacityFreed);
    }

    /** Returns whether a message that finds no room is dropped, so that its sender must not wait. */
    boolean dropsNew() {
        return shared != null && !routing.waits();
    }

    /** Adds a message of another thread to the intake. The credit has given room for it. */
    void hand(Sent sent) {
        intake.add(sent);
    }

    private Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result, @Nullable Outgoing request) {
        Fate fate = routed(message, result, request);
        if (capacityCame && !isRouting) {
            capacityFreed();
        }
        return fate;
    }

    /**
     * Routes a message to all its peers before any other message. A write can flush, and the flush can free capacity.
     */
    private Fate routed(ZMTPMessage message, @Nullable CompletableFuture<Void> result, @Nullable Outgoing request) {
        boolean nested = isRouting;
        isRouting = true;
        try {
            return request == null
                    ? routing.route(message, result)
                    : Objects.requireNonNull(shared, "it asks").route(request);
        } finally {
            isRouting = nested;
        }
    }

    // On the event loop

    private void drain() {
        drain(false);
    }

    private void drain(boolean all) {
        isRouting = true;
        try {
            intake.take(all);
        } finally {
            isRouting = false;
            intake.end(all); // even if a message has thrown
        }
        if (context.isFinished()) {
            failAll(); // accepted just before the end
        }
        whenDrained.run();
        if (capacityCame || waitingSends.hasNext()) {
            capacityFreed();
        } else {
            opened();
        }
    }

    /** Routes a message, or keeps it after earlier blocked messages until their peers have room. */
    void arrived(Sent.ToAny sent) {
        blocked.add(sent);
    }

    /** Routes a message that the credit has accepted. Returns false if it has to wait. */
    private boolean accept(Sent.ToAny sent) {
        ZMTPMessage message = sent.message();
        CompletableFuture<Void> result = sent.result();
        if (shared != null) {
            shared.routeAccepted(sent);
            return true;
        }
        long bytes = sent.bytes();
        if (keepsNewest) { // now, so that the intake loses no message that the queues would keep
            credit.give(1, bytes);
        }
        boolean refused = routeOther(message, result) == Fate.REFUSED;
        if (refused && routing.waits()) {
            return false;
        }
        if (!keepsNewest) {
            credit.give(1, bytes);
        }
        if (refused) { // after the credit, because the sender can send again as soon as it is notified
            writability.refusedOnArrival();
            context.drop(null, message, result, FULL, "the queue is full");
        }
        return true;
    }

    /**
     * Routes a message of another thread. A message that its sender has released must not stop the messages of others.
     */
    private Fate routeOther(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        try {
            return routing.route(message, result);
        } catch (Throwable e) {
            intake.failed(result, e);
            return Fate.DROPPED;
        }
    }

    /** Called when there might be room for messages that wait for all their peers, waiting sends, and listeners. */
    public void capacityFreed() {
        capacityCame = isRouting;
        if (isRouting) {
            return;
        }
        isRouting = true;
        try {
            if (!restScheduled) {
                serveLine();
            }
        } finally {
            isRouting = false;
            capacityCame = false;
        }
        writability.noteArrivals();
        opened();
    }

    /** Calls the listeners for room if there is room. On the event loop. */
    void opened() {
        writability.opened();
        directly.wayFreed();
    }

    private void serveRest() {
        restScheduled = false;
        context.capacityFreed();
    }

    /** Serves up to the limit of a task, because a notified sender can send again, and joins the waiting sends. */
    private void serveLine() {
        int left = blocked.serve(LoopBudget.MESSAGES);
        while (left > 0 && blocked.isEmpty() && waitingSends.hasNext()) {
            if (!waitingSends.serveFirst()) {
                return;
            }
            left = context.flushes().isTaskLong() ? 0 : left - 1;
        }
        if (left == 0) {
            context.executeAfterReads(restTask);
            restScheduled = true; // only now, because there might be no memory for the task
        }
    }

    public Writability writability() {
        return writability;
    }

    /** Number of messages on their way to a peer's queue, or waiting to be accepted. From any thread. */
    public long waiting() {
        return (long) intake.size() + blocked.size() + waitingSends.size() + directly.waiting();
    }

    /** Number of accepted messages that wait for all their peers. */
    public long blocked() {
        return blocked.size();
    }

    /** Fails the waiting sends. Accepted messages are still delivered. */
    public void close() {
        waitingSends.failAll();
        directly.close();
        writability.closed();
    }

    /** Routes the messages that were accepted before the close. */
    public void drainLast() {
        drain(true);
    }

    /** Implements {@link PeerSends#afterAccepted}. */
    boolean afterAccepted(Runnable task) {
        return intake.add(task);
    }

    /** Implements {@link PeerSends#sendBlocked}. */
    void sendBlocked(Peer peer) {
        isRouting = true;
        try {
            blocked.forEach(message -> routing.sendAlone(message, peer));
        } finally {
            isRouting = false;
        }
    }

    /** Fails all accepted messages that have not reached a queue. */
    public void failAll() {
        for (Sent next = blocked.poll(); next != null; next = blocked.poll()) {
            next.refuse(context, CLOSED, "the socket is closed");
        }
        intake.failAll();
    }
}
