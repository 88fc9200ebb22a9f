package dev.zmtp.internal.runtime;

import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.netty.util.AttributeMap;
import java.util.concurrent.Executor;
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
            count.incrementAndGet();
            try {
                executor.execute(() -> run(task, count));
            } catch (Throwable e) { // the executor is full, or has no thread
                count.decrementAndGet();
                throw e;
            }
        };
    }

    private static void run(Runnable task, AtomicInteger count) {
        try {
            task.run();
        } finally {
            count.decrementAndGet();
        }
    }

    /** Returns whether any computations are queued or running for the channel. Can be called from any thread. */
    public static boolean areFor(AttributeMap channel) {
        Attribute<AtomicInteger> counted = channel.attr(COUNT);
        AtomicInteger count = counted.get();
        return count != null && count.get() > 0;
    }
}
