package dev.zmtp.internal.socket;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The thread that looks up the names of hosts for all sockets, as the system's resolver may block for long. */
final class Lookup {

    private static final String NAME = "zmtp-lookup";

    /** Has no thread when there was nothing to look up for a second, so none outlives an application's class loader. */
    static final Executor SHARED = executor();

    private Lookup() {}

    private static ThreadPoolExecutor executor() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, NAME);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }
}
