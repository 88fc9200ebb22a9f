package dev.zmtp.internal.runtime;

import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.netty.util.AttributeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the running and queued computations of an executor for a channel. The peer waits for this side while there are
 * any, so it must not be treated as a peer that keeps this side waiting.
 */
public final class Computations {

    private static final AttributeKey<AtomicInteger> COUNT =
            AttributeKey.valueOf("dev.zmtp.internal.runtime.Computations");

    private Computations() {}

    /** Returns an executor that counts the computations of the channel and delegates to the given executor. */
    public static Executor counted(AttributeMap channel, Executor executor) {
        AtomicInteger count = new AtomicInteger();
        channel.attr(COUNT).set(count);
        return task -> {
            Counted counted = new Counted(task, count);
            try {
                executor.execute(counted);
            } catch (Throwable e) { // the executor is full, or has no thread, or the task has failed on this one
                counted.end();
                throw e;
            }
        };
    }

    /** A computation that counts until it has run, or is not taken. */
    private static final class Counted implements Runnable {
        private final Runnable task;
        private final AtomicInteger count;
        private final AtomicBoolean ended = new AtomicBoolean();

        Counted(Runnable task, AtomicInteger count) {
            this.task = task;
            this.count = count;
            count.incrementAndGet();
        }

        @Override
        public void run() {
            try {
                task.run();
            } finally {
                end();
            }
        }

        void end() {
            if (ended.compareAndSet(false, true)) {
                count.decrementAndGet();
            }
        }
    }

    /** Returns whether any computations are queued or running for the channel. Can be called from any thread. */
    public static boolean areFor(AttributeMap channel) {
        Attribute<AtomicInteger> counted = channel.attr(COUNT);
        AtomicInteger count = counted.get();
        return count != null && count.get() > 0;
    }
}
