package dev.zmtp.internal.socket.send;

import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.MessageAges;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Outgoing;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.QueuedMessage;
import dev.zmtp.internal.socket.peer.SendQueue;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends to one peer after another (RFC 28, 30). A message is assigned to a peer when the channel of that peer has room.
 * Until then it waits in a queue of the socket. Thus no message waits for a peer that is disconnected or full while
 * another peer could get it, and a peer that leaves takes with it only the messages in its channel.
 */
public class RoundRobin extends Routing implements MessageAges.Queue {

    private final SocketContext context;
    private final Credit credit;
    private final BooleanSupplier isBound;
    private final SendQueue queue;
    private final WritablePeers up = new WritablePeers();

    /** Peers of connectors that are closing. They get the queued messages because there is no other peer. */
    private final Set<Peer> last = new HashSet<>(0);

    /** Number of peers for new messages, which are the peers that are up and the peers that are connected to. */
    private final AtomicInteger targets = new AtomicInteger();

    private final Runnable restTask = this::drainRest;
    private boolean draining;

    /** True if the queued messages are continued in a later task. */
    private boolean restScheduled;

    /**
     * @param credit the room in the queue
     * @param isBound whether peers can arrive that this socket does not connect to
     */
    public RoundRobin(SocketContext context, Credit credit, BooleanSupplier isBound) {
        this.context = context;
        this.credit = credit;
        this.isBound = isBound;
        this.queue = new SendQueue(context.sendQueueLimit());
    }

    // Acceptance

    @Override
    public boolean waits() {
        return context.config().overflowPolicy() == OverflowPolicy.WAIT;
    }

    /** Returns whether messages can wait for a peer that is up or is connected to. From any thread. */
    public boolean isReachable() {
        return targets.get() > 0;
    }

    /** Returns whether a message would be accepted without room in the queue. */
    boolean canTakeNow() {
        return isReachable() && queue.isEmpty() && up.hasNext();
    }

    @Override
    public Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        return offer(message, result, null);
    }

    /** Like {@link #route(ZMTPMessage, CompletableFuture)}, for a request. */
    public Fate route(Outgoing request) {
        return offer(request.message(), null, request);
    }

    private Fate offer(ZMTPMessage message, @Nullable CompletableFuture<Void> result, @Nullable Outgoing request) {
        if (!isReachable()) {
            return Fate.REFUSED;
        }
        Peer peer = firstWithRoom();
        if (peer != null) {
            pass(peer, message, result, request);
            return Fate.PASSED;
        }
        long bytes = message.readableBytes();
        if (!(request == null ? credit.take(bytes) : credit.takeBytes(bytes))) {
            return Fate.REFUSED;
        }
        boolean ages = context.maxMessageAgeNanos() != Long.MAX_VALUE;
        add(message, bytes, result, request, ages ? context.nanoTime() : context.taskTime());
        return Fate.QUEUED;
    }

    /** Queues a message that the credit has accepted. */
    private void add(
            ZMTPMessage message,
            long bytes,
            @Nullable CompletableFuture<Void> result,
            @Nullable Outgoing request,
            long since) {
        try {
            context.messageAges().added(this);
            queue.add(message, result, request, bytes, since);
        } catch (Throwable e) { // such as that its sender has released a frame, of which it would keep a copy
            credit.give(1, bytes);
            throw e;
        }
    }

    /** Sends or queues a message that the credit has accepted. */
    void routeAccepted(Sent.ToAny sent) {
        accept(sent.message(), sent.bytes(), sent.result(), null);
    }

    /** Sends or queues a request that the credit has accepted. */
    public void routeAccepted(Outgoing request) {
        accept(request.message(), request.bytes(), null, request);
    }

    private void accept(
            ZMTPMessage message, long bytes, @Nullable CompletableFuture<Void> result, @Nullable Outgoing request) {
        Peer peer = firstWithRoom();
        if (peer != null) {
            credit.give(1, bytes); // first, because a message that its sender has released throws
            pass(peer, message, result, request);
        } else {
            add(message, bytes, result, request, context.nanoTime());
            failIfNobodyCanCome("the last endpoint was closed"); // in the meantime
        }
    }

    /** Returns the peer that gets a message now; null if the message has to wait. */
    private @Nullable Peer firstWithRoom() {
        return queue.isEmpty() ? up.next() : null;
    }

    private void pass(
            Peer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result, @Nullable Outgoing request) {
        if (request == null) {
            peer.outbound().pass(message, result);
        } else {
            request.passTo(peer);
        }
    }

    /** Removes a request that has ended in the queue. */
    public void forget(Outgoing request) {
        QueuedMessage queued = request.queued();
        if (queued != null) {
            credit.give(1, queued.bytes());
            queue.forget(queued);
        }
    }

    // Peers

    /** Called when the socket begins to connect to a peer, in the calling thread. */
    public void expected(Peer peer) {
        if (context.config().queueWhileDown()) {
            target(peer, true);
        }
    }

    @Override
    public void added(Peer peer) {
        if (peer.outbound().isTarget() && !peer.isLeaving()) {
            dismissLast(); // otherwise they would get the messages for this peer
        }
    }

    @Override
    @Nullable
    public String up(Peer peer) {
        if (!peer.isLeaving()) {
            target(peer, true);
            up.add(peer);
            dismissLast();
        } else if (last.contains(peer)) {
            up.add(peer);
        }
        return null;
    }

    @Override
    public void down(Peer peer) {
        up.remove(peer);
        if (peer.home() == null || !context.config().queueWhileDown()) {
            target(peer, false);
            failIfNobodyCanCome(peer.endpointText() + " has left");
        }
    }

    /** Called when a binding has ended, which might have been the last. */
    public void unbound() {
        failIfNobodyCanCome("the last endpoint was closed");
    }

    private void failIfNobodyCanCome(String text) {
        if (!isReachable() && last.isEmpty() && !isBound.getAsBoolean() && !context.isClosed()) {
            failQueue(PEER_DOWN, text);
        }
    }

    /** Releases the peers of closing connectors from the queued messages, because another peer gets these. */
    private void dismissLast() {
        if (!last.isEmpty()) {
            List<Peer> dismissed = List.copyOf(last);
            last.clear();
            dismissed.forEach(up::remove);
            context.execute(() -> dismissed.forEach(Peer::drained)); // not now, in the middle of a handshake
        }
    }

    @Override
    public void leaving(Peer peer) {
        target(peer, false);
        if (queue.isEmpty() || isReachable()) {
            up.remove(peer);
        } else {
            last.add(peer);
        }
    }

    @Override
    public void left(Peer peer) {
        target(peer, false);
        up.remove(peer);
        last.remove(peer);
        failIfNobodyCanCome(peer.endpointText() + " was closed");
    }

    /** A connector is first made a target in the thread that connects, and later changes only on the event loop. */
    private void target(Peer peer, boolean now) {
        if (peer.outbound().isTarget() != now) {
            peer.outbound().target(now);
            targets.addAndGet(now ? 1 : -1);
        }
    }

    // Queued messages

    /** Returns whether there are messages that only this peer could get. */
    public boolean waitsFor(Peer peer) {
        return last.contains(peer) && !queue.isEmpty();
    }

    /** Returns the queue for all peers, whose room is the credit of the socket. */
    public SendQueue queue() {
        return queue;
    }

    /** Returns whether queued messages can still be sent, now that no new peers are accepted. */
    public boolean hasMoreToSend() {
        return !queue.isEmpty() && (isReachable() || !last.isEmpty());
    }

    /** Sets the limit of the queue. */
    public void limit(QueueLimit limit) {
        queue.limit(limit);
    }

    /** Called when the channel of a peer has become writable again, and when the peer has come up. */
    public void becameWritable(Peer peer) {
        up.becameWritable(peer);
        drain();
    }

    private void drain() {
        if (draining || restScheduled || queue.isEmpty()) {
            return; // a write can flush and so lead here, and the loop below sees which peers are writable now
        }
        draining = true;
        try {
            drainSome();
        } finally {
            draining = false;
        }
        context.capacityFreed();
        drainedLast();
    }

    private void drainRest() {
        restScheduled = false;
        drain();
    }

    private void drainSome() {
        long maxMessageAge = context.maxMessageAgeNanos();
        long now = maxMessageAge == Long.MAX_VALUE ? 0 : context.nanoTime();
        long bytes = 0;
        int messages = 0; // counts those sent here, because a write can notify a sender, which adds or removes others
        try {
            while (messages < LoopBudget.MESSAGES) {
                Peer peer = queue.isEmpty() ? null : up.next();
                if (peer == null) {
                    return;
                }
                QueuedMessage next = Objects.requireNonNull(queue.poll());
                messages++;
                bytes += next.bytes();
                if (now - next.since() > maxMessageAge) {
                    up.giveBack();
                    expire(next);
                } else {
                    pass(peer, next.message(), next.result(), next.request());
                }
            }
            context.executeAfterReads(restTask);
            restScheduled = true; // only now, because there might be no memory for the task
        } finally {
            credit.give(messages, bytes);
        }
    }

    @Override
    public int dropOld(int most) {
        long now = context.nanoTime();
        int left = most;
        while (left > 0 && queue.isOlderThan(context.maxMessageAgeNanos(), now)) {
            left--;
            QueuedMessage late = Objects.requireNonNull(queue.poll());
            credit.give(1, late.bytes());
            expire(late);
        }
        if (left < most) {
            context.capacityFreed();
            drainedLast();
        }
        return most - left;
    }

    @Override
    public boolean hasMessages() {
        return !queue.isEmpty();
    }

    private void drainedLast() {
        if (queue.isEmpty()) {
            List.copyOf(last).forEach(Peer::drained);
        }
    }

    private void expire(QueuedMessage late) {
        context.drops().dropped(null, DropReason.EXPIRED, 1);
        drop(late, EXPIRED, context.tooOld());
    }

    private void drop(QueuedMessage dropped, ZMTPSocketException.Reason reason, String text) {
        Outgoing request = dropped.request();
        if (request == null) {
            context.tally().dropped();
            dropped.fail(context.completions(), reason, text);
        } else {
            request.refuse(reason, text);
        }
    }

    /**
     * Fails the queued messages. Messages that a sender adds when it is notified of a failure are not failed. The
     * senders of messages without a future are notified by an event.
     */
    public void failQueue(ZMTPSocketException.Reason reason, String text) {
        long messages = 0;
        for (long left = queue.messages(); left > 0; left--) {
            boolean isConnectedAgain = reason == PEER_DOWN && isReachable();
            QueuedMessage next = isConnectedAgain ? null : queue.poll();
            if (next == null) {
                break;
            }
            credit.give(1, next.bytes());
            messages += next.request() == null ? 1 : 0;
            drop(next, reason, text);
        }
        if (reason == PEER_DOWN) { // otherwise the socket is closed, which reports them
            context.drops().dropped(null, DropReason.NO_PEER, messages);
        }
    }
}
