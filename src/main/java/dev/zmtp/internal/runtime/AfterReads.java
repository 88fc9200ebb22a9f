package dev.zmtp.internal.runtime;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.ThreadPerChannelEventLoop;
import io.netty.util.concurrent.EventExecutor;
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

    /** Like {@link #submit}, but runs the task at once if the executor takes no such task. On the executor. */
    public static void run(EventExecutor executor, Runnable task) {
        if (!(executor instanceof EventLoop loop && submit(loop, task))) {
            task.run();
        }
    }

    /**
     * Passes the elements to the action, {@link LoopBudget#MESSAGES} of them at once, and the others in later tasks of
     * the executor. If the executor takes no more tasks, all are passed at once. On the executor, or after its end.
     */
    public static <T> void forEach(EventExecutor executor, Iterator<T> elements, Consumer<? super T> action) {
        for (int left = LoopBudget.MESSAGES; left > 0 && elements.hasNext(); left--) {
            action.accept(elements.next());
        }
        if (elements.hasNext()) {
            Runnable rest = () -> forEach(executor, elements, action);
            run(executor, () -> executeOrRun(executor, rest));
        }
    }

    private static void executeOrRun(EventExecutor executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }

    /** Loops that check no channels run such tasks only at their end. */
    @SuppressWarnings("deprecation") // their successors are in Netty 4.2 only
    private static boolean hasIterations(SingleThreadEventLoop loop) {
        return !(loop instanceof DefaultEventLoop || loop instanceof ThreadPerChannelEventLoop);
    }
}
