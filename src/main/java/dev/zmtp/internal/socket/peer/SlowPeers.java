package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DROPPED;

import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPSocketConfig.WhenFull;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Reports dropped messages, at most once a second for each peer, and disconnects peers that are full for too long. */
public final class SlowPeers {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final SocketContext context;
    private final Map<@Nullable Peer, Map<DropReason, Long>> dropped = new LinkedHashMap<>();
    private final Set<Peer> watched = new LinkedHashSet<>();
    private boolean reportScheduled;
    private boolean lookScheduled;

    public SlowPeers(SocketContext context) {
        this.context = context;
    }

    /** Drops a message that was for a peer. */
    public void drop(Peer peer, QueuedMessage message, DropReason reason, String text) {
        peer.counters().add(DROPPED, 1);
        dropped(peer, reason);
        message.fail(
                context.completions(),
                reason == DropReason.EXPIRED ? Reason.EXPIRED : Reason.FULL,
                "message for " + peer.endpointText() + ": " + text);
    }

    /** Drops the oldest messages that wait for a peer until there is room for one more. */
    void makeRoom(Peer peer) {
        while (peer.queue().isFull()) {
            QueuedMessage oldest = Objects.requireNonNull(peer.queue().drop(), "full");
            drop(peer, oldest, DropReason.REPLACED, "a newer message took its place");
        }
    }

    /** Reports a message that was dropped for a peer, or from the queue for all peers. */
    public void dropped(@Nullable Peer peer, DropReason reason) {
        dropped(peer, reason, 1);
    }

    /** Reports that so many messages of a peer or for it were dropped, if there are any. */
    public void dropped(@Nullable Peer peer, DropReason reason, long messages) {
        if (messages == 0) {
            return;
        }
        if (reportScheduled) {
            dropped.computeIfAbsent(peer, p -> new EnumMap<>(DropReason.class)).merge(reason, messages, Long::sum);
            return;
        }
        reportScheduled = true;
        context.schedule(this::report, SECOND);
        context.fire(new ZMTPSocketEvent.Dropped(peer, reason, messages));
    }

    private void report() {
        reportScheduled = false;
        if (!dropped.isEmpty()) {
            dropped.forEach((peer, reasons) -> reasons.forEach(
                    (reason, messages) -> context.fire(new ZMTPSocketEvent.Dropped(peer, reason, messages))));
            dropped.clear();
            reportScheduled = true;
            context.schedule(this::report, SECOND);
        }
    }

    /** Called when the peer has become slow. If the policy is to disconnect such peers, it is watched. */
    void watch(Peer peer) {
        if (context.config().whenFull() == WhenFull.DISCONNECT) {
            watched.add(peer);
            look();
        }
    }

    private void look() {
        if (!lookScheduled && !watched.isEmpty()) {
            lookScheduled = true;
            context.schedule(
                    this::disconnectThoseTooSlow,
                    Settings.nanos(context.config().slowAfter()) / 2);
        }
    }

    private void disconnectThoseTooSlow() {
        lookScheduled = false;
        watched.removeIf(peer -> peer.queue().isEmpty());
        List.copyOf(watched).forEach(this::disconnectIfTooSlow); // this may call the application
        look();
    }

    /** The time during which a peer was away does not count, although what is queued for it has waited for longer. */
    private void disconnectIfTooSlow(Peer peer) {
        PeerHandler link = peer.link();
        if (link == null) {
            return;
        }
        Duration there = Duration.ofNanos(context.nanoTime() - link.upSince());
        Duration oldest = peer.outbound().oldest();
        Duration waited = oldest.compareTo(there) < 0 ? oldest : there;
        if (waited.compareTo(context.config().slowAfter()) >= 0) {
            link.refuse(
                    "the oldest of " + peer.queue().messages() + " messages has waited for " + waited
                            + " (expected: less than " + context.config().slowAfter() + ")",
                    0);
        }
    }
}
