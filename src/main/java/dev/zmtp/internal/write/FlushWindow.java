package dev.zmtp.internal.write;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;

/**
 * Combines the flushes of a short window, because each flush is a system call.
 *
 * <p>The first flush is passed to the transport immediately, so that a single message is not delayed. Later flushes
 * wait until the batch is full, until the read data is decoded, or until the event loop has run the queued tasks
 * without further writes. A flush waits for up to {@value #MAX_ROUNDS} rounds while tasks keep writing, but not for a
 * round that starts more than half a millisecond after the previous flush. With many busy connections on one event loop
 * a round takes long, and an equal number of batches would be open. The window closes after a round that was long or
 * had no flush. No task runs while a handler processes read data, so the half millisecond is also checked at flushes
 * and between frames that were read.
 *
 * <p>Used only on the channel's event loop.
 */
final class FlushWindow implements Runnable {

    static final int MAX_ROUNDS = 16;
    static final long MAX_NANOS = 500_000;
    private static final int ALWAYS_LOOKS = 4;
    static final int LOOKS_EVERY = 8;

    private enum Waiting {
        NOTHING,

        /** A flush that was deferred since the last call of {@link #isLate}. */
        NEW_FLUSH,

        FLUSH
    }

    private final TrafficWriter writer;
    private final EventExecutor executor;
    private final boolean consolidates;
    private final LongSupplier clock;

    /** True while this is queued as a task, after the tasks that the flush waits for. */
    private boolean queued;

    private Waiting waiting = Waiting.NOTHING;

    /** The number of checks since the last flush. */
    private int asked;

    /** True if there was a flush in this round. */
    private boolean flushed;

    /** The length of the batch at the end of the last round. */
    private int seen;

    /** The number of rounds that the flush has waited for. */
    private int rounds;

    /** The time of the last flush. */
    private long since;

    /**
     * The flushes of {@code writer}. Without {@code consolidates}, each flush is passed to the transport immediately.
     *
     * @param clock nanoseconds
     */
    FlushWindow(TrafficWriter writer, EventExecutor executor, boolean consolidates, LongSupplier clock) {
        this.writer = writer;
        this.executor = executor;
        this.consolidates = consolidates;
        this.clock = clock;
    }

    /** Returns whether a flush was deferred and is pending. */
    boolean isDue() {
        return waiting != Waiting.NOTHING;
    }

    /** Returns whether a flush would be deferred now. */
    boolean isOpen() {
        return queued;
    }

    /** Requests a flush. Returns whether it waits for other flushes. */
    boolean defer() {
        waiting = queued && !(isTimeToLook() && isLongSinceFlush()) ? Waiting.NEW_FLUSH : Waiting.NOTHING;
        return isDue();
    }

    /** Called between frames. Returns whether a flush has waited for too long while read data is processed. */
    boolean isLate() {
        if (waiting == Waiting.NEW_FLUSH) { // for the previous frame, when the clock was checked
            waiting = Waiting.FLUSH;
            return false;
        }
        return isDue() && isTimeToLook() && isLongSinceFlush();
    }

    /**
     * Returns whether to read the clock, which costs as much as a tenth of a request. It is read for the first messages
     * after a flush, which include all replies of a slow handler, and then for one message in eight.
     */
    private boolean isTimeToLook() {
        asked++;
        return asked < ALWAYS_LOOKS || asked % LOOKS_EVERY == 0;
    }

    private boolean isLongSinceFlush() {
        return clock.getAsLong() - since > MAX_NANOS;
    }

    /** Called when the batch is being flushed. */
    void flushed() {
        waiting = Waiting.NOTHING;
        flushed = true;
        seen = 0;
        rounds = 0;
        asked = 0;
        if (consolidates) {
            since = clock.getAsLong();
            if (!queued) {
                queue();
            }
        }
    }

    /** Ends a round. */
    @Override
    public void run() {
        queued = false;
        boolean late = isLongSinceFlush();
        if (isDue()) {
            int length = writer.length();
            if (length == seen || late || ++rounds > MAX_ROUNDS) {
                writer.flushWaiting();
            } else {
                seen = length;
                queue();
            }
        } else if (flushed) {
            flushed = false;
            if (!late) {
                queue();
            }
        }
    }

    private void queue() {
        try {
            executor.execute(this);
            queued = true;
        } catch (RejectedExecutionException e) { // the event loop is terminating
            writer.flushWaiting();
        }
    }
}
