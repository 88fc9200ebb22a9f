package dev.zmtp.codec;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes one flush of many: call {@link #flush} behind each write, and the channel is flushed when the event loop has
 * nothing more to write for now.
 *
 * <p>A flush is a system call, which costs as much as encoding hundreds of small messages. So this one waits until the
 * tasks and reads that are due in the event loop have made their writes; it does not wait for time to pass, and an idle loop
 * flushes at once. Within the event loop, not more than {@code maxPending} flushes are put off.
 *
 * <p><b>When to use it.</b> Where writes come one by one: from other threads, or as answers to single messages. Where a loop
 * of your own writes many messages, flush once behind the loop. Netty's {@code FlushConsolidationHandler} does much the same
 * from inside the pipeline for everything that flushes; it puts flushes off while the channel reads. A {@code BatchFlusher} is
 * not in the pipeline, also puts off what comes from other threads, and needs no {@code channelReadComplete}.
 *
 * <p>{@link #flush} may be called from any thread. It covers every write that the calling thread has made before. Once the
 * channel is closed it does nothing.
 */
public final class BatchFlusher {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(BatchFlusher.class);

    /** How many flushes the event loop puts off at most, by default. */
    public static final int DEFAULT_MAX_PENDING = 64;

    private static final int IDLE = 0;
    private static final int SCHEDULED = 1;
    /** Scheduled, and another thread has written since: its write may be queued behind the scheduled flush. */
    private static final int SCHEDULED_AGAIN = 2;

    private final Channel channel;
    private final int maxPending;
    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final Runnable scheduledFlush = this::scheduledFlush;

    /** Flushes put off since the last one. Of the event loop. */
    private int pending;

    /** A flusher of {@code channel} that puts off at most {@value #DEFAULT_MAX_PENDING} flushes. */
    public BatchFlusher(Channel channel) {
        this(channel, DEFAULT_MAX_PENDING);
    }

    /** A flusher of {@code channel} that puts off at most {@code maxPending} flushes, at least 1. */
    public BatchFlusher(Channel channel, int maxPending) {
        this.channel = Objects.requireNonNull(channel, "channel");
        if (maxPending < 1) {
            throw new IllegalArgumentException("maxPending: " + maxPending + " (expected: >= 1)");
        }
        this.maxPending = maxPending;
    }

    /**
     * Flushes the channel soon: once the event loop has run what is due before.
     *
     * @throws IllegalStateException if the channel is not registered with an event loop
     */
    public void flush() {
        EventLoop loop = channel.eventLoop();
        if (loop.inEventLoop()) {
            // What this thread has written is in the pipeline already, so a flush that was scheduled before covers it.
            if (++pending >= maxPending) {
                pending = 0;
                channel.flush();
            } else if (state.compareAndSet(IDLE, SCHEDULED)) {
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
                    return; // the flush that comes again is scheduled later than our write was
                }
            }
        }
    }

    private void schedule(EventLoop loop) {
        try {
            loop.execute(scheduledFlush);
        } catch (RejectedExecutionException e) {
            state.set(IDLE);
            logger.debug("{} not flushed: its event loop has ended", channel, e);
        }
    }

    private void scheduledFlush() {
        pending = 0;
        // First: who writes and flushes because the flush completes a write must be able to schedule another.
        if (!state.compareAndSet(SCHEDULED, IDLE)) {
            state.set(SCHEDULED);
            schedule(channel.eventLoop());
        }
        channel.flush();
    }
}
