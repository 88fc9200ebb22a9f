package dev.zmtp.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How much has arrived, as an event loop reports it to the one thread that waits for it.
 *
 * <p>The waiting thread fails if the connection fails, or if nothing arrives any more: no benchmark hangs, or counts
 * what was lost.
 */
final class Progress {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);
    private static final long GLANCE = TimeUnit.MILLISECONDS.toNanos(100);

    private volatile long count;
    private volatile long awaited = Long.MAX_VALUE;
    private volatile Thread waiter;
    private volatile Throwable failure;

    /**
     * Reports how much has arrived. To be called once for each read rather than for each message, always by the same
     * thread.
     */
    void reach(long total) {
        count = total;
        if (total >= awaited) {
            LockSupport.unpark(waiter);
        }
    }

    /** Reports that the connection ended too early. */
    void fail(Throwable cause) {
        failure = cause;
        LockSupport.unpark(waiter);
    }

    /** What has arrived. */
    long count() {
        return count;
    }

    /** Throws if the connection failed. */
    void check() {
        if (failure != null) {
            throw new IllegalStateException("connection failed", failure);
        }
    }

    /** Waits until at least {@code total} has arrived. It sleeps, since the event loops need the processors. */
    void await(long total) {
        waiter = Thread.currentThread();
        awaited = total;
        long seen = -1;
        long since = System.nanoTime();
        for (long now = count; now < total; now = count) {
            check();
            if (now != seen) {
                seen = now;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > PATIENCE) {
                throw new IllegalStateException("arrived: " + now + ", and no more (expected: " + total + ")");
            }
            LockSupport.parkNanos(this, GLANCE);
        }
        awaited = Long.MAX_VALUE;
        check();
    }

    /** Waits until {@code total} has arrived and throws if that is not all. */
    void awaitExactly(long total) {
        await(total);
        if (count != total) {
            throw new IllegalStateException("arrived: " + count + " (expected: " + total + ")");
        }
    }
}
