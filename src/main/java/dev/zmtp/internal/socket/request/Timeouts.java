package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Times out requests. Requests with the same timeout end in the order in which they began. Therefore there is a group
 * for each timeout, with a single timer. With many outstanding requests, a timer for each request would be most of
 * their cost.
 * <p>Used on the event loop.
 */
final class Timeouts {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Timeouts");

    /** Maximum number of empty groups that are kept, with their timers, for the next request. */
    private static final int MAX_EMPTY_GROUPS = 8;

    private final SocketContext context;
    private final Consumer<PendingRequest> timedOut;
    private final LongObjectMap<SameTimeout> groups = new LongObjectHashMap<>(2);

    /** Calls {@code timedOut} for each request that was not removed in time. */
    Timeouts(SocketContext context, Consumer<PendingRequest> timedOut) {
        this.context = context;
        this.timedOut = timedOut;
    }

    void add(PendingRequest request) {
        if (request.timeout == Long.MAX_VALUE) {
            return;
        }
        SameTimeout group = groups.get(request.timeout);
        if (group == null) {
            group = new SameTimeout(request.timeout);
            groups.put(request.timeout, group);
        }
        group.add(request);
    }

    void remove(PendingRequest request) {
        SameTimeout group = request.sameTimeout;
        if (group != null) {
            group.remove(request);
            if (group.first == null && groups.size() > MAX_EMPTY_GROUPS) {
                group.end();
            }
        }
    }

    /** Called when no more requests are outstanding. */
    void close() {
        for (SameTimeout group : groups.values().toArray(new SameTimeout[0])) {
            group.end();
        }
    }

    /** The requests with the same timeout, the oldest first. */
    final class SameTimeout implements Runnable {
        private final long timeout;
        private @Nullable PendingRequest first;
        private @Nullable PendingRequest last;
        private @Nullable ScheduledFuture<?> timer;
        private boolean isRunning;

        private SameTimeout(long timeout) {
            this.timeout = timeout;
        }

        private void add(PendingRequest request) {
            request.sameTimeout = this;
            request.deadline = context.nanoTime() + timeout;
            request.before = last;
            if (last == null) {
                first = request;
            } else {
                last.after = request;
            }
            last = request;
            schedule();
        }

        /** Schedules the timer unless it is scheduled, as long as there are requests. */
        private void schedule() {
            PendingRequest oldest = first;
            if (timer == null && !isRunning && oldest != null) {
                timer = context.schedule(this, oldest.deadline - context.nanoTime());
            }
        }

        private void remove(PendingRequest request) {
            PendingRequest before = request.before;
            PendingRequest after = request.after;
            if (before == null) {
                first = after;
            } else {
                before.after = after;
            }
            if (after == null) {
                last = before;
            } else {
                after.before = before;
            }
            request.sameTimeout = null;
            request.before = null;
            request.after = null;
        }

        /** Called when the timeout of the oldest request has expired. That request might have ended in the meantime. */
        @Override
        public void run() {
            timer = null; // first, because there might be no memory for the next
            isRunning = true;
            try {
                endDue();
            } finally {
                isRunning = false;
                schedule();
            }
            if (first == null) {
                end();
            }
        }

        private void endDue() {
            long now = context.nanoTime();
            int left = LoopBudget.MESSAGES; // the timer runs again after the next reads
            for (PendingRequest next = first; left > 0 && next != null && next.deadline - now <= 0; next = first) {
                left--;
                remove(next); // first, because the call can send a request
                end(next);
            }
        }

        private void end(PendingRequest request) {
            try {
                timedOut.accept(request);
            } catch (Throwable e) { // all other requests, current and future, time out anyway
                logger.warn("A request did not time out", e);
            }
        }

        private void end() {
            if (timer != null) {
                timer.cancel(false);
                timer = null;
            }
            if (groups.get(timeout) == this) {
                groups.remove(timeout);
            }
        }
    }
}
