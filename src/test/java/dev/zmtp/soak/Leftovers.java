package dev.zmtp.soak;

import io.netty.util.LeakPresenceDetector;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What a round must not leave in the JVM. */
final class Leftovers {

    /** How much more heap may be used after a run than after its first round, for classes, compiled code and caches. */
    static final long HEAP_TOLERANCE = 16L << 20;

    private static final int COLLECTIONS = 5;
    private static final int CREATIONS = 3;

    private final Set<Thread> before = threads();

    /** Looks at what is there now, to compare with. */
    Leftovers() {}

    private static Set<Thread> threads() {
        return new HashSet<>(Thread.getAllStackTraces().keySet());
    }

    /** Looks for buffers, and for threads that do not end within {@code patience}. */
    void look(Violations violations, Duration patience) throws InterruptedException {
        if (tracksBuffers()) {
            try {
                LeakPresenceDetector.check();
            } catch (IllegalStateException e) {
                violations.add("buffers: " + e.getMessage() + creations(e));
            }
        }
        List<Thread> left = newThreads();
        long deadline = System.nanoTime() + patience.toNanos();
        while (!left.isEmpty() && deadline - System.nanoTime() > 0) {
            Thread.sleep(100); // that of Netty's global executor ends a second after its last task
            left = newThreads();
        }
        left.forEach(thread -> violations.add("a thread that goes on: " + thread));
    }

    /** Where the first buffers were allocated, if that is recorded. */
    private static String creations(Throwable leak) {
        StringBuilder text = new StringBuilder();
        Stream.of(leak.getSuppressed())
                .limit(CREATIONS)
                .forEach(creation -> Stream.of(creation.getStackTrace())
                        .forEach(call -> text.append("\n    ").append(call)));
        return text.toString();
    }

    /** Whether the JVM counts buffers. */
    static boolean tracksBuffers() {
        return LeakPresenceDetector.class.getName().equals(System.getProperty("io.netty.customResourceLeakDetector"));
    }

    private List<Thread> newThreads() {
        Set<Thread> now = threads();
        now.removeAll(before);
        // Those of libraries that live as long as the JVM.
        now.removeIf(thread -> thread.getName().equals("JNA Cleaner")
                || thread.getName().startsWith("Attach Listener")
                || thread.getName().startsWith("ForkJoinPool.commonPool-worker")
                || thread.getName().startsWith("process reaper")
                || thread.getThreadGroup() == null
                || thread.getThreadGroup().getName().equals("InnocuousThreadGroup"));
        return List.copyOf(now);
    }

    /** Bytes of the heap in use when all garbage is gone. */
    static long heap() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            Thread.sleep(200); // for what is collected in the background
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
