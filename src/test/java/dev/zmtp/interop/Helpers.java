package dev.zmtp.interop;

import java.util.ArrayList;
import java.util.List;

/** Threads that work inside a peer until its context ends. */
final class Helpers {

    private final List<Thread> threads = new ArrayList<>();

    /** Starts one. What it uses was made by the caller and is the thread's alone from here on. */
    void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    /** Returns when all have ended. */
    void join() {
        for (Thread thread : threads) {
            try {
                thread.join(Patience.LIMIT.toMillis());
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
            if (thread.isAlive()) {
                throw new AssertionError(thread.getName() + ": still running (expected: ended)");
            }
        }
    }
}
