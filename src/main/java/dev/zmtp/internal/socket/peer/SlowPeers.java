package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DROPPED;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.AfterReads;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Drops messages for peers with full queues, and disconnects peers whose queues are full for too long. */
public final class SlowPeers {

    /** Maximum delay of a look that is no pause, in nanoseconds. */
    private static final long TOLERANCE = TimeUnit.MILLISECONDS.toNanos(10);

    /** Maximum number of late looks in a row that excuse the peers. A loop can be late always. */
    private static final int MAX_LATE_LOOKS = 8;

    private final SocketContext context;
    private final Set<Peer> watched = new LinkedHashSet<>();
    private final QueueShares shares;
    private boolean lookScheduled;

    /** Time at which the next look is due. */
    private long due;

    private int lateLooks;

    /** Time after which peers were slow, and not this event loop. */
    private long punctualSince;

    public SlowPeers(SocketContext context) {
        this.context = context;
        this.shares = new QueueShares(context);
        this.punctualSince = context.nanoTime();
    }

    /** Returns what measures the messages that wait for several peers. */
    QueueShares shares() {
        return shares;
    }

    /** Drops a message for which there is no room in the queue of a peer. */
    public void refuse(Peer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        drop(peer, new QueuedMessage(message, result, 0), DropReason.FULL, "the queue is full", result == null);
    }

    /** Drops a message that was in the queue of a peer. */
    void drop(Peer peer, QueuedMessage message, DropReason reason, String text) {
        drop(peer, message, reason, text, true);
    }

    private void drop(Peer peer, QueuedMessage message, DropReason reason, String text, boolean isReported) {
        peer.counters().add(DROPPED, 1);
        if (isReported) { // otherwise the future of the message reports it
            context.drops().dropped(peer, reason, 1);
        }
        message.fail(
                context.completions(),
                reason == DropReason.EXPIRED ? Reason.EXPIRED : Reason.FULL,
                "message for " + peer.endpointText() + ": " + text);
    }

    /**
     * Removes the oldest messages waiting for a peer until there is room for another message. They are dropped when
     * that message is in the queue, because their senders can send again when they are notified.
     */
    List<QueuedMessage> makeRoom(Peer peer) {
        if (!peer.queue().isFull()) {
            return List.of();
        }
        List<QueuedMessage> oldest = new ArrayList<>();
        do {
            oldest.add(Objects.requireNonNull(peer.queue().drop(), "full"));
        } while (peer.queue().isFull());
        return oldest;
    }

    /** Drops messages that were removed to make room. */
    void dropReplaced(Peer peer, List<QueuedMessage> oldest) {
        for (QueuedMessage each : oldest) {
            drop(peer, each, DropReason.REPLACED, "a newer message took its place");
        }
    }

    /** Called when the peer has become slow. If the policy is to disconnect such peers, it is watched. */
    void watch(Peer peer) {
        if (context.config().overflowPolicy() == OverflowPolicy.DISCONNECT) {
            watched.add(peer);
            look();
        }
    }

    private void look() {
        if (!lookScheduled && !watched.isEmpty()) {
            context.schedule(this::disconnectThoseTooSlow, timeout() / 2);
            lookScheduled = true; // only now, because there might be no memory for the timer
            due = context.nanoTime() + timeout() / 2;
        }
    }

    private long timeout() {
        return Settings.nanos(context.config().slowPeerTimeout());
    }

    private void disconnectThoseTooSlow() {
        lookScheduled = false;
        boolean isLate = context.nanoTime() - due > Math.max(TOLERANCE, timeout() / 4);
        lateLooks = isLate ? lateLooks + 1 : 0;
        if (isLate && lateLooks <= MAX_LATE_LOOKS) { // there was a pause, in which nothing was sent
            punctualSince = context.nanoTime();
        }
        List.copyOf(watched).forEach(peer -> peer.outbound().noteSlowness());
        watched.removeIf(peer -> !peer.queue().isSlow());
        if (watched.isEmpty()) {
            lateLooks = 0;
        }
        look();
        AfterReads.forEach(context.eventLoop(), List.copyOf(watched).iterator(), this::disconnectIfTooSlow);
    }

    /**
     * Disconnects the peer if its oldest message has waited too long. Time during which the peer was disconnected, or
     * this event loop was paused, does not count, even though its queued messages have waited longer.
     */
    private void disconnectIfTooSlow(Peer peer) {
        PeerHandler link = peer.link();
        if (link == null || !peer.queue().isSlow()) { // any more
            return;
        }
        long now = context.nanoTime();
        long waited = Math.min(now - link.upSince(), peer.outbound().oldestAge().toNanos());
        if (Math.min(waited, now - punctualSince) >= timeout()) {
            link.refuse(
                    "the oldest of " + peer.queue().messages() + " messages has waited for " + Duration.ofNanos(waited)
                            + " (expected: less than " + context.config().slowPeerTimeout() + ")",
                    0);
        }
    }
}
