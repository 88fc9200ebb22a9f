package dev.zmtp.bench;

import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.DefaultThreadFactory;

/**
 * The threads of a benchmark that has no event loop: Netty's own, as those of a channel are.
 *
 * <p>On any other thread Netty's allocators keep no cache, so that their locks would be measured. A
 * {@code FastThreadLocalThread} alone is enough for the pooled allocator, but the adaptive one asks for an executor
 * too.
 */
public final class BenchmarkThreads extends DefaultEventExecutorGroup {

    /** JVM argument: JMH takes its threads from the class that {@link #CLASS} names. */
    static final String CUSTOM = "-Djmh.executor=CUSTOM";

    /** JVM argument: that class. */
    static final String CLASS = "-Djmh.executor.class=dev.zmtp.bench.BenchmarkThreads";

    /** JVM argument: the leak detector would track a share of the buffers. */
    static final String NO_LEAK_DETECTION = "-Dio.netty.leakDetection.level=disabled";

    /** Called by JMH, by reflection. */
    public BenchmarkThreads(int threads, String prefix) {
        super(threads, new DefaultThreadFactory(prefix));
    }
}
