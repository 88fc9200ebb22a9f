package dev.zmtp.internal.runtime;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.ThreadPerChannelEventLoop;
import java.util.concurrent.RejectedExecutionException;

/**
 * Tasks that an event loop runs after it has checked its channels. Netty runs tasks that submit their successors for up
 * to a second before it does so, and all connections would wait that long.
 */
public final class AfterReads {

    private AfterReads() {}

    /**
     * Submits a task that runs when the event loop has no other tasks for now, and reads next. What the task submits
     * runs after these reads. Returns false if the loop takes no such task, because it is ending or of another kind. On
     * the event loop.
     */
    @CheckReturnValue
    public static boolean submit(EventLoop eventLoop, Runnable task) {
        // A task after each iteration would keep an ending loop from its hooks, and so its channels open.
        if (!eventLoop.isShuttingDown() && eventLoop instanceof SingleThreadEventLoop loop && hasIterations(loop)) {
            try {
                loop.executeAfterEventLoopIteration(task);
                return true;
            } catch (RejectedExecutionException e) {
                // The event loop is ending.
            }
        }
        return false;
    }

    /** Loops that check no channels run such tasks only at their end. */
    @SuppressWarnings("deprecation") // their successors are in Netty 4.2 only
    private static boolean hasIterations(SingleThreadEventLoop loop) {
        return !(loop instanceof DefaultEventLoop || loop instanceof ThreadPerChannelEventLoop);
    }
}
