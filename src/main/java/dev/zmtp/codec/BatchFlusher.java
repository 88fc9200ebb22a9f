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
    private static final int SCHEDULED = 1;
    /**
     * State after another thread has written to a scheduled flusher. Its write can be queued after the scheduled flush.
     */
    private static final int SCHEDULED_AGAIN = 2;

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
            if (++pending >= maxPending) {
                pending = 0;
                channel.flush();
            } else if (state.get() == IDLE && state.compareAndSet(IDLE, SCHEDULED)) {
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
                    if (state.compareAndSet(IDLE, SCHEDULED)) {
                        schedule(loop);
                        return;
                    }
                }
                case SCHEDULED -> {
                    if (state.compareAndSet(SCHEDULED, SCHEDULED_AGAIN)) {
                        return;
                    }
                }
                default -> {
                    return; // the second flush is scheduled after our write was
                }
            }
        }
    }

    private void schedule(EventLoop loop) {
        try {
            loop.execute(scheduledFlush);
        } catch (RejectedExecutionException e) {
            rejected(loop, e);
        } catch (Throwable e) { // such as an OutOfMemoryError, after which later flushes still have to be scheduled
            state.set(IDLE);
            throw e;
        }
    }

    private void rejected(EventLoop loop, RejectedExecutionException cause) {
        if (loop.isShuttingDown()) {
            state.set(IDLE);
            logger.debug("{} flush rejected by its event loop", channel, cause);
        } else if (!loop.inEventLoop()) {
            state.set(IDLE);
            throw cause;
        } else { // it takes timers without a limit, and has the writes of others in its queue
            loop.schedule(scheduledFlush, 1, TimeUnit.MILLISECONDS);
        }
        if (loop.inEventLoop()) {
            channel.flush();
        }
    }

    private void scheduledFlush() {
        pending = 0;
        try {
            // First: a listener that the flush calls may write, and must be able to schedule another flush.
            if (!state.compareAndSet(SCHEDULED, IDLE)) {
                state.set(SCHEDULED);
                schedule(channel.eventLoop());
            }
        } finally {
            channel.flush();
        }
    }
}
