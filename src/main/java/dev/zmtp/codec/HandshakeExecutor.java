package dev.zmtp.codec;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads that compute for handshakes unless the application gives an executor. Created at the first use. */
final class HandshakeExecutor {

    private static final int MAX_WAITING = 10_000;
    private static final int IDLE_SECONDS = 60;

    private static final AtomicInteger COUNT = new AtomicInteger();

    private static final Executor SHARED = newExecutor();

    private HandshakeExecutor() {}

    private static Executor newExecutor() {
        int threads = Runtime.getRuntime().availableProcessors();
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads,
                threads,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAX_WAITING),
                HandshakeExecutor::newThread);
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /**
     * Not a Netty thread: BlockHound takes those for event loops, and these block, waiting for work and for random
     * bytes.
     */
    private static Thread newThread(Runnable work) {
        Thread thread = new Thread(work, "zmtp-handshake-" + COUNT.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    static Executor shared() {
        return SHARED;
    }
}
