package dev.zmtp.internal.write;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;

/**
 * Lets the flushes of a short window leave together, as each is a system call.
 *
 * <p>The first one goes to the transport at once, so that a single message waits for nothing. Those after it wait until
 * the batch is full, until what was read is decoded, or until the event loop has run the tasks that are queued and none
 * of them has written more. It waits for up to {@value #MAX_ROUNDS} rounds while tasks keep writing, and for
 * no round that starts more than half a millisecond after the previous flush: with many busy connections on one event
 * loop a round takes long, and as many batches would be open. The window closes when a round was without a flush, or
 * long. No task runs while a handler works on what was read, so the half millisecond is also looked at with flushes and
 * between the frames that were read.
 *
 * <p>On the channel's event loop only.
 */
final class FlushWindow implements Runnable {

    static final int MAX_ROUNDS = 16;
    static final long MAX_NANOS = 500_000;
    private static final int ALWAYS_LOOKS = 4;
    static final int LOOKS_EVERY = 8;

    private enum Waiting {
        NOTHING,

        /** A flush, which was deferred since {@link #isLate} was last asked. */
        NEW_FLUSH,

        FLUSH
    }

    private final TrafficWriter writer;
    private final EventExecutor executor;
    private final boolean consolidates;
    private final LongSupplier clock;

    /** This is queued as a task, behind those that are to be waited for. */
    private boolean queued;

    private Waiting waiting = Waiting.NOTHING;

    /** How often it was asked since the last flush whether one has to leave. */
    private int asked;

    /** There was a flush in this round. */
    private boolean flushed;

    /** What was in the batch at the end of the last round. */
    private int seen;

    /** How many rounds the flush has waited for. */
    private int rounds;

    /** When the last flush was. */
    private long since;

    /**
     * The flushes of {@code writer}; if not {@code consolidates}, each goes to the transport at once.
     *
     * @param clock nanoseconds
     */
    FlushWindow(TrafficWriter writer, EventExecutor executor, boolean consolidates, LongSupplier clock) {
        this.writer = writer;
        this.executor = executor;
        this.consolidates = consolidates;
        this.clock = clock;
    }

    /** Returns whether a flush was deferred, and is still to be made. */
    boolean isDue() {
        return waiting != Waiting.NOTHING;
    }

    /** Returns whether a flush would be deferred now. */
    boolean isOpen() {
        return queued;
    }

    /** A flush is asked for. Returns whether it waits for others. */
    boolean defer() {
        waiting = queued && !(isTimeToLook() && isLongSinceFlush()) ? Waiting.NEW_FLUSH : Waiting.NOTHING;
        return isDue();
    }

    /** Asked between two frames. Returns whether a flush waits for too long while what was read is handled. */
    boolean isLate() {
        if (waiting == Waiting.NEW_FLUSH) { // for the frame before, and the clock was looked at then
            waiting = Waiting.FLUSH;
            return false;
        }
        return isDue() && isTimeToLook() && isLongSinceFlush();
    }

    /**
     * The clock costs as much as a tenth of what a request does. So it is looked at for the first messages after a
     * flush, and then for one of eight: all answers of a slow handler are among the first.
     */
    private boolean isTimeToLook() {
        asked++;
        return asked < ALWAYS_LOOKS || asked % LOOKS_EVERY == 0;
    }

    private boolean isLongSinceFlush() {
        return clock.getAsLong() - since > MAX_NANOS;
    }

    /** The batch is being flushed. */
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

    /** A round is over. */
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
        } catch (RejectedExecutionException e) { // the event loop is ending
            writer.flushWaiting();
        }
    }
}
