package dev.zmtp.internal.connection;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A timer for actions of a peer, which does not count this side's own delays against the peer. A blocking handler, a
 * garbage collection or a stopped process makes all timers due at once, and an event loop runs them before it reads the
 * data that has arrived in the meantime. The timer therefore checks after the event loop has read once more. For use on
 * the event loop.
 */
public final class PeerTimer {

    private final EventExecutor executor;
    private final LongSupplier nanoTime;

    /** The task that waits for its time, or for the read after it. */
    private @Nullable Future<?> task;

    public PeerTimer(EventExecutor executor, LongSupplier nanoTime) {
        this.executor = executor;
        this.nanoTime = nanoTime;
    }

    /**
     * Restarts the timer.
     *
     * @param judge called once, after this many nanoseconds, with the additional nanoseconds until the event loop ran
     *     the timer
     */
    public void start(long nanos, LongConsumer judge) {
        long due = nanoTime.getAsLong() + nanos;
        cancel();
        task = schedule(() -> readFirst(due, judge), nanos);
    }

    /**
     * Reschedules the check. A task that is scheduled without delay runs after the event loop has checked its channels
     * again.
     */
    private void readFirst(long due, LongConsumer judge) {
        long late = Math.max(0, nanoTime.getAsLong() - due);
        task = schedule(
                () -> {
                    task = null;
                    judge.accept(late);
                },
                0);
    }

    private @Nullable Future<?> schedule(Runnable next, long nanos) {
        try {
            return executor.schedule(next, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null; // the event loop is terminating, and closes the connection
        }
    }

    public boolean isRunning() {
        return task != null;
    }

    public void cancel() {
        if (task != null) {
            task.cancel(false);
            task = null;
        }
    }
}
