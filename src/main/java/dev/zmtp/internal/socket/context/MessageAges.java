package dev.zmtp.internal.socket.context;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Has messages dropped that have waited for longer than {@code maxMessageAge}, also while nothing can be sent. On the
 * event loop.
 */
public final class MessageAges {

    /** Messages that wait, the oldest first. */
    public interface Queue {
        /** Drops messages that are too old, up to the limit of a task. Returns whether other messages wait. */
        boolean dropOld();
    }

    private static final long MIN_INTERVAL = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MAX_INTERVAL = TimeUnit.SECONDS.toNanos(1);

    private final SocketContext context;

    /** Time between two looks, in nanoseconds; 0 if messages wait for any time. */
    private final long interval;

    /** Queues that had messages at the last look, or have got a message since. */
    private final Set<Queue> waiting = new LinkedHashSet<>(0);

    private boolean scheduled;

    MessageAges(SocketContext context, long maxAge) {
        this.context = context;
        this.interval = maxAge == Long.MAX_VALUE ? 0 : Math.max(MIN_INTERVAL, Math.min(MAX_INTERVAL, maxAge / 4));
    }

    /** Called when a message is added to the queue. */
    public void added(Queue to) {
        if (interval != 0) {
            waiting.add(to);
            schedule();
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = context.schedule(this::look, interval) != null;
        }
    }

    private void look() {
        scheduled = false;
        for (Queue each : List.copyOf(waiting)) { // because senders that are notified can send again
            if (!each.dropOld()) {
                waiting.remove(each);
            }
        }
        if (!waiting.isEmpty()) {
            schedule();
        }
    }
}
