package dev.zmtp.internal.runtime;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Daemon threads for work that can block. A thread ends after a second without work. */
public final class IdleThread {

    private IdleThread() {}

    /**
     * Returns an executor with at most one such thread, which therefore does not outlive an application's class loader.
     */
    public static Executor executor(String name) {
        return executor(name, 1);
    }

    /** Returns an executor with at most {@code threads} such threads. */
    public static Executor executor(String name, int threads) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(threads, threads, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }
}
