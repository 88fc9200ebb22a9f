package dev.zmtp.internal.runtime;

import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.netty.util.AttributeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts what an executor computes for a channel, or is about to. Meanwhile its peer waits for this side, and must not
 * be taken for one that keeps this side waiting.
 */
public final class Computations {

    private static final AttributeKey<AtomicInteger> COUNT =
            AttributeKey.valueOf("dev.zmtp.internal.runtime.Computations");

    private Computations() {}

    /** Returns an executor for the channel that counts, and leaves the work to the given one. */
    public static Executor counted(AttributeMap channel, Executor executor) {
        AtomicInteger count = new AtomicInteger();
        channel.attr(COUNT).set(count);
        return task -> {
            count.incrementAndGet();
            try {
                executor.execute(() -> run(task, count));
            } catch (RuntimeException e) { // it is full
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

    /** Whether there are any for the channel. From any thread. */
    public static boolean areFor(AttributeMap channel) {
        Attribute<AtomicInteger> counted = channel.attr(COUNT);
        AtomicInteger count = counted.get();
        return count != null && count.get() > 0;
    }
}
