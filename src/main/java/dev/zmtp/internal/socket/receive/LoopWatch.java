package dev.zmtp.internal.socket.receive;

import dev.zmtp.internal.socket.flight.Flight;
import dev.zmtp.socket.ZMTPRegistration;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Logs an event loop that is blocked by a single task for more than a second, with the stack of that task. All sockets
 * of such a loop are stalled, and each of them only looks slow. The next event loop of the group asks the loop to run a
 * task, twice a second while a socket of the loop has a message handler. A group of one loop has no other loop that
 * could ask.
 */
final class LoopWatch {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.LoopWatch");

    private static final int MILLIS = 500;

    /**
     * Number of checks without an answer after which a loop counts as blocked. After a single check, the process might
     * have paused.
     */
    private static final int PATIENCE = 2;

    /** Time within which a loop that is blocked again is reported at debug, in nanoseconds. */
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private static final Map<EventLoop, LoopWatch> WATCHES = new ConcurrentHashMap<>();

    private final EventLoop loop;
    private final EventExecutor watcher;
    private final Thread thread;

    /** Number of handlers. Changed only in {@link #WATCHES}. */
    private int users;

    private volatile boolean ended;
    private volatile long answered;

    // On the watcher's thread
    private long asked;
    private int unanswered;
    private @Nullable Long warnedAt;

    /** Called on the event loop. */
    LoopWatch(EventLoop loop, EventExecutor watcher) {
        this.loop = loop;
        this.watcher = watcher;
        this.thread = Thread.currentThread();
    }

    /**
     * Watches the event loop until the registration is closed. Several registrations share a watch. Called on the event
     * loop.
     */
    static ZMTPRegistration watch(EventLoop loop) {
        EventExecutor watcher = neighbor(loop);
        if (watcher == null) {
            return () -> {};
        }
        WATCHES.compute(loop, (key, known) -> {
            LoopWatch watch = known == null ? new LoopWatch(loop, watcher) : known;
            if (watch.users++ == 0) {
                watch.begin();
            }
            return watch;
        });
        AtomicBoolean closed = new AtomicBoolean();
        return () -> {
            if (closed.compareAndSet(false, true)) {
                WATCHES.computeIfPresent(loop, (key, watch) -> {
                    watch.ended = --watch.users == 0;
                    return watch.ended ? null : watch;
                });
            }
        };
    }

    static boolean isWatched(EventLoop loop) {
        return WATCHES.containsKey(loop);
    }

    /** Returns the event loop after this loop in its group; null if there is no other. */
    static @Nullable EventExecutor neighbor(EventLoop of) {
        EventLoopGroup group = of.parent();
        if (group == null) {
            return null;
        }
        EventExecutor first = null;
        boolean found = false;
        for (EventExecutor each : group) {
            if (found) {
                return each;
            }
            found = each == of;
            if (first == null) {
                first = each;
            }
        }
        return first == of ? null : first;
    }

    /** Begins to check, twice a second. If that is impossible, the handler must still get its messages. */
    void begin() {
        try {
            watcher.schedule(this::look, MILLIS, TimeUnit.MILLISECONDS);
        } catch (Throwable e) { // the event loops end, or no thread can be started for the watcher
            logger.debug("An event loop is watched no more", e);
        }
    }

    private void look() {
        if (ended) {
            return;
        }
        if (answered == asked) {
            unanswered = 0;
            ask();
        } else if (++unanswered == PATIENCE) {
            report();
        }
        begin();
    }

    private void ask() {
        long question = ++asked;
        try {
            loop.execute(() -> answered = question);
        } catch (RejectedExecutionException e) {
            ended = loop.isShuttingDown(); // otherwise its task queue is full, so it does not answer either
        }
    }

    private void report() {
        Throwable where = new Throwable("the task of " + thread.getName());
        where.setStackTrace(thread.getStackTrace());
        String text = "A task has blocked its event loop for more than 1 s. All sockets of the event loop are stalled: "
                + "move blocking work to another thread.";
        Flight.blocked(thread.getName(), TimeUnit.MILLISECONDS.toNanos(MILLIS * PATIENCE));
        long now = System.nanoTime();
        if (warnedAt != null && now - warnedAt < MINUTE) {
            logger.debug(text, where);
        } else {
            logger.warn(text, where);
            warnedAt = now;
        }
    }
}
