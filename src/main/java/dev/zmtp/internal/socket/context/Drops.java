package dev.zmtp.internal.socket.context;

import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reports dropped messages: the first at once, then their number once a second for each peer and reason. If there is no
 * event listener, the drops are logged.
 */
public final class Drops {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Drops");
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Stands for "no peer" in a map that does not accept null. */
    private static final Object NO_PEER = new Object();

    private final SocketContext context;
    private final RateLimitedLog log;

    /** Messages dropped by other threads, per peer, that the event loop has not collected yet. */
    private final Map<Object, Map<DropReason, Long>> elsewhere = new ConcurrentHashMap<>();

    private final AtomicBoolean collecting = new AtomicBoolean();
    private final Runnable collectTask = this::collect;

    // On the event loop
    private Map<@Nullable ZMTPPeer, Map<DropReason, Long>> sums = new LinkedHashMap<>();
    private boolean reportScheduled;

    /** True from the end of the socket on, when no timer is started. */
    private boolean ended;

    Drops(SocketContext context) {
        this.context = context;
        this.log = context.warnings(logger);
    }

    /**
     * Reports a dropped message whose sender is not notified. From any thread.
     *
     * @param peer null if the message was for no particular peer
     */
    public void droppedAnywhere(@Nullable ZMTPPeer peer, DropReason reason) {
        if (context.inEventLoop()) {
            dropped(peer, reason, 1);
            return;
        }
        elsewhere.compute(peer == null ? NO_PEER : peer, (key, known) -> {
            Map<DropReason, Long> its = known == null ? new EnumMap<>(DropReason.class) : known;
            its.merge(reason, 1L, Long::sum);
            return its;
        });
        context.executeOnce(collecting, collectTask);
    }

    // On the event loop

    private void collect() {
        collecting.set(false); // first, so that the next task collects later drops
        for (Object key : List.copyOf(elsewhere.keySet())) {
            Map<DropReason, Long> its = elsewhere.remove(key); // no other thread changes it any more
            if (its != null) {
                its.forEach((reason, messages) -> dropped(key == NO_PEER ? null : (ZMTPPeer) key, reason, messages));
            }
        }
    }

    /** Reports this number of dropped messages from or for a peer, unless it is zero. */
    public void dropped(@Nullable ZMTPPeer peer, DropReason reason, long messages) {
        if (messages == 0) {
            return;
        }
        if (ended) {
            fire(peer, reason, messages);
            return;
        }
        if (reportScheduled) {
            sums.computeIfAbsent(peer, p -> new EnumMap<>(DropReason.class)).merge(reason, messages, Long::sum);
            return;
        }
        scheduleReport();
        fire(peer, reason, messages);
    }

    private void scheduleReport() {
        context.schedule(this::report, SECOND);
        reportScheduled = true; // only now, because there might be no memory for the timer
    }

    /** Messages that a listener drops while it runs are reported in the next second. */
    private void report() {
        reportScheduled = false;
        if (sums.isEmpty()) {
            return;
        }
        scheduleReport();
        Map<@Nullable ZMTPPeer, Map<DropReason, Long>> before = sums;
        sums = new LinkedHashMap<>();
        before.forEach((peer, its) -> its.forEach((reason, messages) -> fire(peer, reason, messages)));
    }

    /** Reports what waits for the end of the second, because the socket ends. On the event loop, or after its end. */
    public void reportRest() {
        ended = true;
        collect();
        Map<@Nullable ZMTPPeer, Map<DropReason, Long>> last = sums;
        sums = new LinkedHashMap<>();
        long worthALine = 0;
        for (Map.Entry<@Nullable ZMTPPeer, Map<DropReason, Long>> each : last.entrySet()) {
            for (Map.Entry<DropReason, Long> its : each.getValue().entrySet()) {
                context.fire(new ZMTPSocketEvent.Dropped(each.getKey(), its.getKey(), its.getValue()));
                worthALine += isWorthALine(its.getKey()) ? its.getValue() : 0;
            }
        }
        if (worthALine > 0) {
            logger.warn("{} socket: further messages dropped in its last second: {}", context.type(), worthALine);
        }
    }

    private void fire(@Nullable ZMTPPeer peer, DropReason reason, long messages) {
        context.fire(new ZMTPSocketEvent.Dropped(peer, reason, messages));
        if (isWorthALine(reason)) {
            String whose = peer == null ? context.type() + " socket" : peer.toString();
            log.log(whose, "dropped " + messages + (messages == 1 ? " message: " : " messages: ") + why(reason), null);
        }
    }

    /**
     * Returns whether the drop is worth logging. A correct program would not cause it or ask for it, and nothing else
     * logs it.
     */
    private boolean isWorthALine(DropReason reason) {
        return !context.events().areHeard() && isAvoidable(reason);
    }

    private boolean isAvoidable(DropReason reason) {
        return switch (reason) {
            case FULL, EXPIRED, UNSOLICITED, NO_PEER, RELEASED -> true;
            case REPLACED -> context.config().overflowPolicy() != OverflowPolicy.KEEP_LATEST;
            case OUTDATED, MEMORY_BUDGET, REQUESTER_DOWN, PEER_DOWN -> false;
        };
    }

    private String why(DropReason reason) {
        return switch (reason) {
            case FULL -> "there was no room";
            case REPLACED -> "newer ones took their place";
            case EXPIRED -> "waited for longer than " + context.config().maxMessageAge();
            case UNSOLICITED -> "nobody had asked for them, and nobody receives";
            case NO_PEER -> "there is no peer for them";
            case RELEASED -> "a frame was released before it was written";
            case OUTDATED, MEMORY_BUDGET, REQUESTER_DOWN, PEER_DOWN -> reason.toString();
        };
    }
}
