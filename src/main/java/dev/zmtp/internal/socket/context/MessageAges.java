package dev.zmtp.internal.socket.context;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.LoopBudget;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Has messages dropped that have waited for longer than {@code maxMessageAge}, also while nothing can be sent. On the
 * event loop.
 */
public final class MessageAges {

    /** Messages that wait, the oldest first. */
    public interface Queue {
        /** Drops messages that are too old, up to this many. Returns their number. */
        int dropOld(int most);

        boolean hasMessages();
    }

    private static final long MIN_INTERVAL = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MAX_INTERVAL = TimeUnit.SECONDS.toNanos(1);

    private final SocketContext context;

    /** Time between two looks, in nanoseconds; 0 if messages wait for any time. */
    private final long interval;

    /** Queues that had messages at the last look, or have got a message since. */
    private final Set<Queue> waiting = new LinkedHashSet<>(0);

    /** Those of them that the present look has not finished. */
    private final Deque<Queue> due = new ConsistentDeque<>();

    /** True until the next look, or the rest of the present look. */
    private boolean scheduled;

    MessageAges(SocketContext context, long maxAge) {
        this.context = context;
        this.interval = maxAge == Long.MAX_VALUE ? 0 : Math.max(MIN_INTERVAL, Math.min(MAX_INTERVAL, maxAge / 4));
    }

    /** Called when a message is added to the queue. */
    public void added(Queue to) {
        if (interval == 0) {
            return;
        }
        try {
            waiting.add(to);
            schedule();
        } catch (Throwable e) {
            // There is no memory for it. The message waits anyway, and the next one has it looked at.
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = context.schedule(this::look, interval) != null;
        }
    }

    private void look() {
        try {
            if (due.isEmpty()) { // otherwise there was no memory to finish the last look
                due.addAll(waiting);
            }
        } finally {
            lookOn();
        }
    }

    /** Drops as many messages as a task may, and the rest in later tasks. */
    private void lookOn() {
        int left = LoopBudget.MESSAGES;
        try {
            while (left > 0 && !due.isEmpty()) {
                Queue next = due.remove(); // first, because it might throw
                int dropped = next.dropOld(left);
                left -= Math.max(1, dropped); // many queues without old messages take time, too
                if (left <= 0 && dropped > 0) {
                    due.addFirst(next);
                } else if (!next.hasMessages()) {
                    waiting.remove(next);
                }
            }
        } finally {
            scheduled = false;
            goOn();
        }
    }

    private void goOn() {
        if (!due.isEmpty()) {
            context.executeAfterReads(this::lookOn);
            scheduled = true; // only now, because there might be no memory for the task
        } else if (!waiting.isEmpty()) {
            schedule();
        }
    }
}
