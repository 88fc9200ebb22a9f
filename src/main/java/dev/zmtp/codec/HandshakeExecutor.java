package dev.zmtp.codec;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that compute for handshakes unless the application gives an executor. Created at the first use.
 *
 * <p>They are half as many as the processors, and of a lower priority than event loops, where the operating system
 * heeds that: peers that start handshakes must not take the processors from the connections that are there.
 */
final class HandshakeExecutor {

    static final int MAX_WAITING = 10_000;
    private static final int IDLE_SECONDS = 60;

    private static final AtomicInteger COUNT = new AtomicInteger();

    private static final Executor SHARED = newExecutor();

    private HandshakeExecutor() {}

    static ThreadPoolExecutor newExecutor() {
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads,
                threads,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAX_WAITING),
                HandshakeExecutor::newThread,
                (task, pool) -> {
                    throw new QueueFullException();
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /**
     * Not a Netty thread: BlockHound takes those for event loops, and these block, waiting for work and for random
     * bytes.
     */
    @SuppressWarnings("ThreadPriorityCheck") // a help where it is heeded; the number of threads is what counts
    private static Thread newThread(Runnable work) {
        Thread thread = new Thread(work, "zmtp-handshake-" + COUNT.incrementAndGet());
        thread.setDaemon(true);
        thread.setPriority(Thread.NORM_PRIORITY - 1);
        return thread;
    }

    /** Collects no stack trace: a flood of handshakes makes one of these for each. */
    private static final class QueueFullException extends RejectedExecutionException {
        private static final long serialVersionUID = 1L;

        QueueFullException() {
            super("handshakes waiting: " + MAX_WAITING + " (expected: fewer)");
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    static Executor shared() {
        return SHARED;
    }
}
