package dev.zmtp.codec;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads for the computations of handshakes unless the application provides an executor. Created on first use.
 *
 * <p>There are half as many threads as processors. Their priority is lower than that of event loops, on operating
 * systems that respect priorities, because peers that start handshakes must not take the processors from existing
 * connections.
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
     * Creates a plain thread. BlockHound considers Netty's threads event loops, but these threads block for work and
     * random bytes.
     */
    @SuppressWarnings("ThreadPriorityCheck") // a help where it is heeded; the number of threads is what counts
    private static Thread newThread(Runnable work) {
        Thread thread = new Thread(work, "zmtp-handshake-" + COUNT.incrementAndGet());
        thread.setDaemon(true);
        thread.setPriority(Thread.NORM_PRIORITY - 1);
        return thread;
    }

    /** Has no stack trace, because a flood of handshakes creates an exception for each handshake. */
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
