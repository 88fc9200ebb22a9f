package dev.zmtp.codec;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Combines the flushes of a channel. Call {@link #flush} after each write, and the channel is flushed once when the
 * event loop has nothing more to write for now.
 *
 * <p>A flush is a system call, which costs much more than encoding a small message. This class therefore delays a flush
 * until the tasks and reads that are due in the event loop have made their writes. It does not wait for time to pass,
 * so an idle loop flushes at once. Within the event loop, at most {@code maxPending} flushes are delayed.
 *
 * <p><b>When to use it.</b> Use it for single writes, such as writes from other threads or replies to single messages.
 * If your own loop writes many messages, flush once after the loop. The codec combines flushes too, but never delays
 * the first flush of an event-loop iteration (see {@link ZMTPConfig#consolidateFlushes()}). Netty's
 * {@code FlushConsolidationHandler} delays every flush of its pipeline while the channel reads. In contrast, a
 * {@code BatchFlusher} is not in the pipeline, also delays flushes from other threads, and needs no
 * {@code channelReadComplete}.
 *
 * <p>{@link #flush} can be called from any thread. It includes all earlier writes of the calling thread. After the
 * channel is closed it does nothing.
 */
public final class BatchFlusher {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(BatchFlusher.class);

    /** Default maximum number of flushes that the event loop delays. */
    public static final int DEFAULT_MAX_PENDING = 64;

    private static final int IDLE = 0;

    /** State while a thread schedules a flush. The event loop might not take it, so no other thread relies on it. */
    private static final int SCHEDULING = 1;

    private static final int SCHEDULED = 2;

    /**
     * State after another thread has written to a scheduled flusher. Its write can be queued after the scheduled flush.
     */
    private static final int SCHEDULED_AGAIN = 3;

    /** State after the flush has run, until the thread that has scheduled it notices. */
    private static final int FLUSHED = 4;

    private final Channel channel;
    private final int maxPending;
    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final Runnable scheduledFlush = this::scheduledFlush;

    /** Number of flushes delayed since the last executed flush. Accessed by the event loop only. */
    private int pending;

    /** Creates a flusher for {@code channel} that delays at most {@value #DEFAULT_MAX_PENDING} flushes. */
    public BatchFlusher(Channel channel) {
        this(channel, DEFAULT_MAX_PENDING);
    }

    /** Creates a flusher for {@code channel} that delays at most {@code maxPending} flushes, at least 1. */
    public BatchFlusher(Channel channel, int maxPending) {
        this.channel = Objects.requireNonNull(channel, "channel");
        if (maxPending < 1) {
            throw new IllegalArgumentException("maxPending: " + maxPending + " (expected: >= 1)");
        }
        this.maxPending = maxPending;
    }

    /**
     * Flushes the channel after the event loop has run the work that is due.
     *
     * @throws IllegalStateException if the channel is not registered with an event loop
     * @throws RejectedExecutionException if the event loop has no room for a task of this thread; nothing is flushed
     */
    public void flush() {
        EventLoop loop = channel.eventLoop();
        if (loop.inEventLoop()) {
            // What this thread has written is in the pipeline already, so a flush that was scheduled before covers it.
            int now = state.get();
            boolean isPlanned = now == SCHEDULED || now == SCHEDULED_AGAIN;
            if (++pending >= maxPending || (!isPlanned && !state.compareAndSet(IDLE, SCHEDULING))) {
                pending = 0;
                channel.flush();
            } else if (!isPlanned) {
                schedule(loop);
            }
        } else {
            flushFromOutside(loop);
        }
    }

    private void flushFromOutside(EventLoop loop) {
        while (true) {
            switch (state.get()) {
                case IDLE -> {
                    if (state.compareAndSet(IDLE, SCHEDULING)) {
                        schedule(loop);
                        return;
                    }
                }
                case SCHEDULING, FLUSHED -> {
                    execute(loop, channel::flush);
                    return;
                }
                case SCHEDULED -> {
                    if (state.compareAndSet(SCHEDULED, SCHEDULED_AGAIN)) {
                        return;
                    }
                }
                default -> { // SCHEDULED_AGAIN
                    return; // the second flush is scheduled after our write was
                }
            }
        }
    }

    /** Called in the state SCHEDULING. If this fails, for example for lack of memory, later flushes are scheduled. */
    private void schedule(EventLoop loop) {
        boolean isScheduled = false;
        try {
            isScheduled = execute(loop, scheduledFlush);
        } finally {
            if (!state.compareAndSet(SCHEDULING, isScheduled ? SCHEDULED : IDLE)) {
                state.set(IDLE); // FLUSHED
            }
        }
    }

    /** Returns whether the event loop takes the task. */
    private boolean execute(EventLoop loop, Runnable task) {
        try {
            loop.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            if (loop.inEventLoop()) {
                channel.flush();
            }
            if (loop.isShuttingDown()) {
                logger.debug("{} flush rejected by its event loop", channel, e);
                return false;
            }
            if (!loop.inEventLoop()) {
                throw e;
            }
            loop.schedule(task, 1, TimeUnit.MILLISECONDS); // for the writes of others in the queue
            return true;
        }
    }

    private void scheduledFlush() {
        pending = 0;
        try {
            // First: a listener that the flush calls may write, and must be able to schedule another flush.
            // In the order in which others change the state meanwhile.
            if (!state.compareAndSet(SCHEDULING, FLUSHED)
                    && !state.compareAndSet(SCHEDULED, IDLE)
                    && state.compareAndSet(SCHEDULED_AGAIN, SCHEDULING)) {
                schedule(channel.eventLoop());
            }
        } finally {
            channel.flush();
        }
    }
}
