package dev.zmtp.internal.runtime;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.SingleThreadEventExecutor;

/**
 * Actions that an event loop runs when it begins to end, while it still takes tasks. By then it has closed the channels
 * of its selector, but no other channels.
 */
public final class LoopHooks {

    private LoopHooks() {}

    /** Adds an action, if the loop is of a type that runs any. */
    public static void add(EventLoop loop, Runnable action) {
        if (loop instanceof SingleThreadEventExecutor executor) {
            executor.addShutdownHook(action);
        }
    }

    /** Removes an action. */
    public static void remove(EventLoop loop, Runnable action) {
        if (loop instanceof SingleThreadEventExecutor executor) {
            executor.removeShutdownHook(action);
        }
    }
}
