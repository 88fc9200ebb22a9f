package dev.zmtp.compare.peer;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * The figures of this process, all since its start.
 *
 * <ul>
 *   <li>{@code nanos}: a clock that only goes forward, and stands still while a mark is made
 *   <li>{@code messages}: received, sent or answered, or round trips made, whichever this end does
 *   <li>{@code cpu}: nanoseconds of the processor, in user and system, of all threads, without what marks took
 *   <li>{@code allocated}: bytes on the Java heap, of all threads that still live
 *   <li>{@code rss}: bytes of physical memory, at the peak
 *   <li>{@code resident}: bytes of physical memory, at this moment; in idle only
 *   <li>{@code heap}, {@code direct}: bytes in use, after a garbage collection; in idle only
 *   <li>{@code late}: messages sent more than a millisecond after their time; in openloop only
 * </ul>
 */
final class Marks {

    private final Arguments arguments;
    private final Counter messages;
    private final Counter late;
    private final com.sun.management.OperatingSystemMXBean system =
            ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
    private final com.sun.management.ThreadMXBean threads =
            ManagementFactory.getPlatformMXBean(com.sun.management.ThreadMXBean.class);

    /**
     * What the marks until now took, of both clocks: a garbage collection, mostly, which idle connections do not need.
     */
    private long ownNanos;

    private long ownCpu;

    /** Bytes outside of the heap that the JDK does not know of. */
    private volatile LongSupplier hidden = () -> 0;

    Marks(Arguments arguments, Counter messages, Counter late) {
        this.arguments = arguments;
        this.messages = messages;
        this.late = late;
    }

    /** Tells of a library's own account of direct memory. */
    void hiddenMemory(LongSupplier bytes) {
        hidden = bytes;
    }

    /** One line of all figures. Of one thread. */
    String mark() throws IOException {
        long nanos = System.nanoTime();
        long cpu = system.getProcessCpuTime();
        StringBuilder line = new StringBuilder("mark");
        add(line, "nanos", nanos - ownNanos);
        add(line, "messages", messages.count());
        add(line, "cpu", cpu - ownCpu);
        if (arguments.workload() == Workload.IDLE) {
            System.gc();
        }
        add(line, "allocated", allocated());
        add(line, "rss", memory("VmHWM:"));
        if (arguments.workload() == Workload.IDLE) {
            add(line, "resident", memory("VmRSS:"));
            add(
                    line,
                    "heap",
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            add(line, "direct", direct());
        }
        if (arguments.workload().scheduled()) {
            add(line, "late", late.count());
        }
        if (arguments.workload() == Workload.IDLE) {
            ownNanos += System.nanoTime() - nanos;
            ownCpu += system.getProcessCpuTime() - cpu;
        }
        return line.toString();
    }

    private static void add(StringBuilder line, String key, long value) {
        line.append(' ').append(key).append('=').append(value);
    }

    private long allocated() {
        long sum = 0;
        for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
            sum += Math.max(0, bytes); // -1: the thread ended between the two calls
        }
        return sum;
    }

    private long direct() {
        long known = 0;
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                known = pool.getMemoryUsed();
            }
        }
        return known + hidden.getAsLong();
    }

    private static long memory(String key) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(key)) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10; // its unit is KiB
            }
        }
        throw new IOException("/proc/self/status: no " + key + " (expected: that of Linux)");
    }
}
