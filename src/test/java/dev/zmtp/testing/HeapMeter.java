package dev.zmtp.testing;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.function.Supplier;

/** What an object takes on the heap with everything that it refers to: the heap with it, less the heap after it. */
public final class HeapMeter {

    private static final int TRIES = 2;

    private HeapMeter() {}

    /** Returns the bytes of what {@code made} returns. That should be several megabytes: other threads work, too. */
    public static long measure(Supplier<?> made) {
        Object object = made.get();
        long with;
        try {
            with = used();
        } finally {
            Reference.reachabilityFence(object);
        }
        object = null;
        return with - used();
    }

    /** The least of several measurements: garbage of other threads adds, and nothing takes away. */
    private static long used() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
