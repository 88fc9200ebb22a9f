package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DROPPED;
import static dev.zmtp.internal.socket.context.PeerCounters.Counter.SENT;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.MessageAges;
import dev.zmtp.internal.socket.context.PeerCounters;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The messages to a peer. Each is passed to its transport or waits in its queue. On the event loop. */
public final class Outbound implements MessageAges.Queue {

    private final SocketContext context;
    private final SlowPeers slowPeers;
    private final Peer peer;
    private final PeerCounters counters;
    private final SendQueue queue;
    private final Noted noted = new Noted();

    /** True if the queued messages are continued in a later task. */
    private boolean restScheduled;

    /** True while a task is on its way that notices that the peer is slow. */
    private volatile boolean noticing;

    /** True if {@code RoundRobin}, its only user, counts the peer as a possible receiver of messages. */
    private boolean target;

    Outbound(SocketContext context, SlowPeers slowPeers, Peer peer) {
        this.context = context;
        this.slowPeers = slowPeers;
        this.peer = peer;
        this.counters = peer.counters();
        this.queue = new SendQueue(context.sendQueueLimit(), peer.memory());
    }

    public SendQueue queue() {
        return queue;
    }

    public void limit(QueueLimit limit) {
        queue.limit(limit);
        noteSlowness();
        peer.roomCame();
        peer.unreadAnswers().someHaveLeft();
    }

    public boolean isTarget() {
        return target;
    }

    public void target(boolean counted) {
        target = counted;
    }

    /** Messages of this task for the peer in the {@code Gathering}. */
    public Noted noted() {
        return noted;
    }

    public void sendNoted() {
        if (!noted.isEmpty()) {
            noted.send(peer);
        }
    }

    /** Returns whether a message would be accepted without dropping a message. */
    public boolean canTake() {
        if (queue.isAwaited()) {
            return false;
        }
        if (!noted.isEmpty()) {
            return queue.messagesLeft() > noted.count();
        }
        return canPass() || queue.hasRoom();
    }

    private boolean canPass() {
        PeerHandler now = peer.link();
        return now != null && queue.isEmpty() && now.isWritable();
    }

    /** Returns whether a message would wait in the queue, neither passed to the transport nor refused. */
    public boolean wouldQueue() {
        return !canPass()
                && (queue.hasRoom() || TypeRules.keepsNewest(context.config().overflowPolicy()));
    }

    /** Passes a message to the transport, which takes ownership of it. */
    public void pass(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        counters.add(SENT, 1);
        Objects.requireNonNull(peer.link()).write(message, result);
    }

    /** Sends or queues a message that was already accepted, even beyond the limit. */
    public Fate sendAccepted(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        counters.add(SENT, 1);
        if (passed(message, result)) {
            return Fate.PASSED;
        }
        return TypeRules.keepsNewest(context.config().overflowPolicy())
                ? enqueueInPlaceOfOldest(message, result)
                : enqueue(message, result);
    }

    /**
     * Sends or queues a message for which there was room, such as {@link #canTake} in this task, although other threads
     * might have taken it since then.
     */
    public Fate sendTakeable(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        sendNoted();
        return sendAccepted(message, result);
    }

    public Fate send(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        sendNoted();
        return sendNow(message, result);
    }

    /** Sends a gathered message at its position in the order, even beyond the limit. */
    public void sendGathered(ZMTPMessage message) {
        if (sendNow(message, null) == Fate.REFUSED) {
            counters.add(SENT, 1);
            enqueue(message, null);
        }
    }

    private Fate sendNow(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        Fate fate = passOrQueue(message, result);
        if (fate != Fate.REFUSED) {
            counters.add(SENT, 1);
        }
        return fate;
    }

    private boolean passed(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        PeerHandler now = peer.link();
        if (now == null || !queue.isEmpty() || !now.isWritable()) {
            return false;
        }
        now.write(message, result);
        return true;
    }

    private Fate passOrQueue(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        if (passed(message, result)) {
            return Fate.PASSED;
        }
        if (queue.hasRoom()) {
            return enqueue(message, result);
        }
        missed();
        return switch (context.config().overflowPolicy()) {
            case WAIT -> Fate.REFUSED;
            case DROP_NEW, DISCONNECT -> {
                slowPeers.refuse(peer, message, result);
                yield Fate.DROPPED;
            }
            case DROP_OLD, KEEP_LATEST -> {
                Fate fate = enqueueInPlaceOfOldest(message, result);
                peer.roomCame(); // more messages than necessary might have been dropped
                yield fate;
            }
        };
    }

    private Fate enqueueInPlaceOfOldest(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        List<QueuedMessage> oldest = slowPeers.makeRoom(peer);
        try {
            return enqueue(message, result);
        } finally {
            slowPeers.dropReplaced(peer, oldest);
        }
    }

    private Fate enqueue(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        context.messageAges().added(this);
        queue.add(message, result, context.nanoTime());
        slowPeers.shares().queued(this, message);
        noteSlowness();
        return Fate.QUEUED;
    }

    /** Called after each change that can make the peer slow: of its queue, of the limit, or of the memory left. */
    void noteSlowness() {
        if (queue.becameSlow()) {
            context.fireLater(new ZMTPSocketEvent.SlowPeer(
                    peer, queue.messages(), queue.bytes(), oldestAge(), counters.get(DROPPED)));
            slowPeers.watch(peer);
        }
    }

    /** Called when a message has found no room, because others have the memory, or because the limit was lowered. */
    public void missed() {
        noteSlowness();
        peer.roomMissed();
    }

    /** Like {@link #missed}, from other threads. */
    public void missedElsewhere() {
        peer.roomMissed();
        if (queue.isSlowUnnoticed() && !noticing) {
            noticing = true;
            try {
                context.execute(() -> {
                    noticing = false;
                    noteSlowness();
                });
            } catch (Throwable e) { // there is no memory for the task
                noticing = false;
                throw e;
            }
        }
    }

    /** Measures the queued messages again. */
    void measureAgain() {
        queue.measureAgain();
        noteSlowness();
    }

    /** Returns how long the oldest message has waited. From any thread. */
    public Duration oldestAge() {
        return queue.oldestAge(context.nanoTime());
    }

    /**
     * Writes queued messages as long as the transport accepts them. If there are many, the rest is written in a later
     * task.
     */
    public void drain() {
        PeerHandler now = peer.link();
        if (now != null && !queue.isEmpty()) {
            context.flushes().follow(() -> drain(now));
        }
    }

    private void drain(PeerHandler now) {
        long maxMessageAge = context.maxMessageAgeNanos();
        long time = maxMessageAge == Long.MAX_VALUE ? 0 : context.nanoTime();
        int left = restScheduled ? 0 : LoopBudget.MESSAGES;
        boolean some = left > 0 && now.isWritable();
        while (left > 0 && now.isWritable()) {
            QueuedMessage next = queue.poll();
            if (next == null) {
                break;
            }
            left--;
            if (maxMessageAge != Long.MAX_VALUE && time - next.since() > maxMessageAge) {
                slowPeers.drop(peer, next, DropReason.EXPIRED, context.tooOld());
            } else {
                now.write(next.message(), next.result());
            }
        }
        if (left == 0 && !restScheduled && !queue.isEmpty()) {
            context.executeAfterReads(this::drainRest);
            restScheduled = true; // only now, because there might be no memory for the task
        }
        if (some) {
            someHaveLeft();
        }
    }

    private void someHaveLeft() {
        noteSlowness();
        peer.unreadAnswers().someHaveLeft();
        peer.roomCame();
        context.capacityFreed();
        peer.drained(); // the last message might have been dropped instead of written
    }

    /** A peer that is slow and would be disconnected for its oldest message keeps it until then. */
    @Override
    public int dropOld(int most) {
        if (peer.isUp() && queue.isSlow() && context.config().overflowPolicy() == OverflowPolicy.DISCONNECT) {
            return 0;
        }
        long now = context.nanoTime();
        int left = most;
        while (left > 0 && queue.isOlderThan(context.maxMessageAgeNanos(), now)) {
            left--;
            slowPeers.drop(peer, Objects.requireNonNull(queue.drop()), DropReason.EXPIRED, context.tooOld());
        }
        if (left < most) {
            someHaveLeft();
        }
        return most - left;
    }

    @Override
    public boolean hasMessages() {
        return !queue.isEmpty();
    }

    private void drainRest() {
        restScheduled = false;
        drain();
    }

    /** Fails the queued messages. Messages that a sender adds when it is notified of a failure are not failed. */
    public void failQueue(ZMTPSocketException.Reason reason, String text) {
        long failed = 0;
        for (long left = queue.messages(); left > 0; left--) {
            QueuedMessage next = queue.drop();
            if (next == null) {
                break; // a listener of a failure has removed others
            }
            failed++;
            counters.add(DROPPED, 1);
            next.fail(context.completions(), reason, text);
        }
        noteSlowness(); // the peer is no longer slow, so that it is watched when it is slow again
        peer.unreadAnswers().someHaveLeft();
        peer.roomCame();
        if (reason == ZMTPSocketException.Reason.PEER_DOWN) { // otherwise the drop is reported elsewhere
            context.drops().dropped(peer, DropReason.PEER_DOWN, failed);
        }
    }
}
