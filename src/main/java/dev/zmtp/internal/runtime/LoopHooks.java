package dev.zmtp.internal.runtime;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.SingleThreadEventExecutor;

/** Actions that an event loop runs when it begins to end, usually while it still takes tasks. */
public final class LoopHooks {

    private LoopHooks() {}

    /** Adds an action, if the loop is of a type that runs any. */
    public static void add(EventExecutor loop, Runnable action) {
        if (loop instanceof SingleThreadEventExecutor executor) {
            executor.addShutdownHook(action);
        }
    }

    /** Removes an action. */
    public static void remove(EventExecutor loop, Runnable action) {
        if (loop instanceof SingleThreadEventExecutor executor) {
            executor.removeShutdownHook(action);
        }
    }
}
