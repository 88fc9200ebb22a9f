package dev.zmtp.internal.runtime;

import io.netty.channel.Channel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.SingleThreadEventExecutor;

/**
 * Actions that an event loop runs when it begins to end, usually while it still takes tasks. It runs them in a pass
 * without tasks. If other threads give it a task in each pass, it does not run them at all: use {@link #execute} for
 * these tasks.
 */
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

    /**
     * Executes a task, after an action if the loop is ending.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
     */
    public static void execute(EventExecutor loop, Runnable action, Runnable task) {
        if (loop.isShuttingDown()) {
            loop.execute(action);
        }
        loop.execute(task);
    }

    /**
     * Closes a channel on its event loop, although handlers wait, such as that of a WebSocket for the close frame of
     * its peer. In the last pass of the loop, in which Netty cannot schedule what follows, the handlers see the end at
     * once: otherwise, what they retain would be lost.
     */
    public static void close(Channel channel) {
        boolean wasOpen = channel.isOpen(); // otherwise, what follows is scheduled, or was done
        boolean wasActive = channel.isActive();
        channel.unsafe().close(channel.voidPromise());
        if (wasOpen && channel.isRegistered() && channel.eventLoop().isShutdown()) {
            if (wasActive) {
                channel.pipeline().fireChannelInactive();
            }
            channel.pipeline().fireChannelUnregistered(); // which removes them
        }
    }
}
