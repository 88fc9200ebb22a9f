package dev.zmtp.testing;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.function.Supplier;

/** What an object takes on the heap with everything that it refers to: the heap with it, less the heap after it. */
public final class HeapMeter {

    private static final int COLLECTIONS = 2;
    private static final int MOST_ATTEMPTS = 100;

    /** How many bytes others may take or free meanwhile. */
    private static final int UNREST = 32 << 10;

    /** The heap after the last measurement, which is mostly that before the next one; -1 if there was none. */
    private static long atRest = -1;

    private HeapMeter() {}

    /**
     * Returns the bytes of what {@code made} returns. That should be several megabytes: other threads work, too. It is
     * made again if the heap without it was not the same before and after, and until two measurements agree.
     */
    public static long measure(Supplier<?> made) {
        long last = -1;
        for (int i = 0; i < MOST_ATTEMPTS; i++) {
            long before = atRest < 0 ? used() : atRest;
            long with = usedWith(made);
            long after = used();
            atRest = after;
            if (Math.abs(after - before) < UNREST) {
                long now = with - after;
                if (last >= 0 && Math.abs(now - last) < UNREST) {
                    return Math.min(now, last);
                }
                last = now;
            }
        }
        throw new IllegalStateException("heap at rest after " + MOST_ATTEMPTS + " attempts: false (expected: true)");
    }

    private static long usedWith(Supplier<?> made) {
        Object object = made.get();
        WeakReference<Object> collected = new WeakReference<>(object);
        long with;
        try {
            with = used();
        } finally {
            Reference.reachabilityFence(object);
        }
        object = null;
        await(collected);
        return with;
    }

    /** The least of several measurements: garbage of other threads adds, and nothing takes away. */
    private static long used() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            await(new WeakReference<>(new Object()));
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    /** Collects until {@code garbage} is gone. The JVM may ignore a request, as while a thread is in native code. */
    private static void await(WeakReference<Object> garbage) {
        for (int i = 0; i < MOST_ATTEMPTS; i++) {
            System.gc();
            if (garbage.get() == null) {
                return;
            }
        }
        throw new IllegalStateException("collected after " + MOST_ATTEMPTS + " attempts: false (expected: true)");
    }
}
