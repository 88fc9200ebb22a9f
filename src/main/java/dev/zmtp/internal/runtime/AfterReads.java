package dev.zmtp.internal.runtime;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.ThreadPerChannelEventLoop;
import java.util.Iterator;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

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

    /**
     * Passes the elements to the action, {@link LoopBudget#MESSAGES} of them at once, and the others in later tasks. If
     * the event loop is ending, all are passed at once. On the event loop, or after its end.
     */
    public static <T> void forEach(EventLoop eventLoop, Iterator<T> elements, Consumer<? super T> action) {
        for (int left = LoopBudget.MESSAGES; elements.hasNext(); left--) {
            if (left == 0 && isLater(eventLoop, () -> forEach(eventLoop, elements, action))) {
                return;
            }
            action.accept(elements.next());
        }
    }

    private static boolean isLater(EventLoop eventLoop, Runnable rest) {
        if (submit(eventLoop, rest)) {
            return true;
        }
        try {
            eventLoop.execute(rest);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Loops that check no channels run such tasks only at their end. */
    @SuppressWarnings("deprecation") // their successors are in Netty 4.2 only
    private static boolean hasIterations(SingleThreadEventLoop loop) {
        return !(loop instanceof DefaultEventLoop || loop instanceof ThreadPerChannelEventLoop);
    }
}
