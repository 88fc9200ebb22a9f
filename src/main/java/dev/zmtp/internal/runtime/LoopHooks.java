package dev.zmtp.internal.runtime;

import io.netty.channel.Channel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Actions that an event loop runs when it begins to end, usually while it still takes tasks. Netty runs them in a pass
 * without tasks, and so not at all if other threads give the loop a task in each pass. Therefore, {@link #execute} runs
 * them as well. An action can run several times.
 */
public final class LoopHooks {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LoopHooks.class);

    /** The actions of the event loop whose thread this is. */
    private static final FastThreadLocal<LoopHooks> HERE = new FastThreadLocal<>() {
        @Override
        protected LoopHooks initialValue() {
            return new LoopHooks();
        }
    };

    private final Set<Runnable> actions = new LinkedHashSet<>();
    private boolean running;

    private LoopHooks() {}

    /** Adds an action on the event loop, if the loop is of a type that runs any. */
    public static void add(EventExecutor loop, Runnable action) {
        if (loop instanceof SingleThreadEventExecutor executor) {
            executor.addShutdownHook(action);
            HERE.get().actions.add(action);
        }
    }

    /** Removes an action, on the event loop. */
    public static void remove(EventExecutor loop, Runnable action) {
        if (loop instanceof SingleThreadEventExecutor executor) {
            executor.removeShutdownHook(action);
            HERE.get().actions.remove(action);
        }
    }

    /** Returns the action that closes a channel. */
    public static Runnable closing(Channel channel) {
        return () -> close(channel);
    }

    /**
     * Executes a task, after all actions of the loop if it is ending.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
     */
    public static void execute(EventExecutor loop, Runnable task) {
        if (loop.isShuttingDown()) {
            loop.execute(LoopHooks::run);
        }
        loop.execute(task);
    }

    /** Runs the actions of this event loop, which is ending. Does nothing within such an action. */
    public static void run() {
        LoopHooks here = HERE.get();
        if (!here.running) {
            here.running = true;
            try {
                List.copyOf(here.actions).forEach(LoopHooks::run);
            } finally {
                here.running = false;
            }
        }
    }

    private static void run(Runnable action) {
        try {
            action.run();
        } catch (Throwable e) { // which does not concern the next action
            logger.warn("An action at the end of an event loop failed", e);
        }
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
