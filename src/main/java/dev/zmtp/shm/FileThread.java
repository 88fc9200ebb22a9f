package dev.zmtp.shm;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The thread that creates and removes files for all servers, as to fill one with zeros takes long. */
final class FileThread {

    private static final String NAME = "zmtp-shm-files";
    private static final int IDLE_SECONDS = 2;

    /** Has no thread when there was nothing to do for a while, so none outlives an application's class loader. */
    static final Executor SHARED = executor();

    private FileThread() {}

    private static ThreadPoolExecutor executor() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, NAME);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }
}
