package dev.zmtp.testing;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.function.Supplier;

/** What an object takes on the heap with everything that it refers to: the heap with it, less the heap after it. */
public final class HeapMeter {

    private static final int MOST_ATTEMPTS = 100;

    /** How many bytes others may take or free meanwhile. */
    private static final int UNREST = 32 << 10;

    private static final List<MemoryPoolMXBean> HEAP = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .toList();

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
            long before = atRest < 0 ? usedWithout(new WeakReference<>(new Object())) : atRest;
            Object object = made.get();
            WeakReference<Object> collected = new WeakReference<>(object);
            long with;
            try {
                with = usedWithout(new WeakReference<>(new Object()));
            } finally {
                Reference.reachabilityFence(object);
            }
            object = null;
            long after = usedWithout(collected);
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

    /**
     * Returns what was left on the heap by a collection after which {@code garbage} was gone. Usually that is the first:
     * each takes long where other tests have left much. But the JVM may ignore a request, as while a thread is in native
     * code.
     */
    private static long usedWithout(WeakReference<Object> garbage) {
        for (int i = 0; i < MOST_ATTEMPTS; i++) {
            System.gc();
            if (garbage.get() == null) {
                // Not what is used now: another thread may have taken a new piece of the heap to allocate from.
                return HEAP.stream()
                        .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                        .sum();
            }
        }
        throw new IllegalStateException("collected after " + MOST_ATTEMPTS + " attempts: false (expected: true)");
    }
}
