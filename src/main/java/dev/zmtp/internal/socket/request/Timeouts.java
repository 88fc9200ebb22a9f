package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Times out requests. Those with the same timeout end in the order in which they began. So there is a line for each
 * timeout, with one timer: with many requests outstanding, a timer for each would be most of their cost.
 *
 * <p>Used on the event loop.
 */
final class Timeouts {

    /** How many empty lines are kept, whose timers wait for the next request and need not be created again. */
    private static final int MAX_EMPTY_LINES = 8;

    private final SocketContext context;
    private final Consumer<PendingRequest> timedOut;
    private final LongObjectMap<Line> lines = new LongObjectHashMap<>(2);

    /** Calls {@code timedOut} for each request that was not removed in time. */
    Timeouts(SocketContext context, Consumer<PendingRequest> timedOut) {
        this.context = context;
        this.timedOut = timedOut;
    }

    void add(PendingRequest request) {
        if (request.timeout == Long.MAX_VALUE) {
            return;
        }
        Line line = lines.get(request.timeout);
        if (line == null) {
            line = new Line(request.timeout);
            lines.put(request.timeout, line);
        }
        line.add(request);
    }

    void remove(PendingRequest request) {
        Line line = request.timeoutLine;
        if (line != null) {
            line.remove(request);
            if (line.first == null && lines.size() > MAX_EMPTY_LINES) {
                line.end();
            }
        }
    }

    /** Called when no request is outstanding any more. */
    void close() {
        for (Line line : lines.values().toArray(new Line[0])) {
            line.end();
        }
    }

    /** The requests with one timeout, the oldest first. */
    final class Line implements Runnable {
        private final long timeout;
        private @Nullable PendingRequest first;
        private @Nullable PendingRequest last;
        private @Nullable ScheduledFuture<?> timer;

        private Line(long timeout) {
            this.timeout = timeout;
        }

        private void add(PendingRequest request) {
            request.timeoutLine = this;
            request.deadline = context.nanoTime() + timeout;
            request.before = last;
            if (last == null) {
                first = request;
            } else {
                last.after = request;
            }
            last = request;
            if (timer == null) {
                timer = context.schedule(this, timeout);
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
            request.timeoutLine = null;
            request.before = null;
            request.after = null;
        }

        /** Called when the timeout of the oldest request is over. That request may have ended in the meantime. */
        @Override
        public void run() {
            long now = context.nanoTime();
            for (PendingRequest next = first; next != null && next.deadline - now <= 0; next = first) {
                remove(next); // first: the call may send a request
                timedOut.accept(next);
            }
            PendingRequest next = first;
            timer = next == null ? null : context.schedule(this, next.deadline - now);
            if (next == null) {
                end();
            }
        }

        private void end() {
            if (timer != null) {
                timer.cancel(false);
                timer = null;
            }
            if (lines.get(timeout) == this) {
                lines.remove(timeout);
            }
        }
    }
}
