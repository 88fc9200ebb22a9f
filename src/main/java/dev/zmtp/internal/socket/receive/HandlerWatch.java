package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPSocketType;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Logs a handler of messages that keeps its event loop for more than a second, with what it is doing: all sockets of
 * that event loop wait for it, and each of them only looks slow. The next event loop of the group looks, once a second
 * while there are messages. A group of one has nobody who could.
 */
final class HandlerWatch {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.HandlerWatch");

    private static final int SECONDS = 1;

    private final ZMTPSocketType type;
    private final @Nullable EventExecutor watcher;

    /** Odd in a handler, and another number in each call. Written on the event loop. */
    private final AtomicLong call = new AtomicLong();

    private final AtomicBoolean watching = new AtomicBoolean();
    private volatile @Nullable Thread loop;

    // On the watcher's thread
    private long reported;
    private boolean warned;

    HandlerWatch(ZMTPSocketType type, @Nullable EventExecutor watcher) {
        this.type = type;
        this.watcher = watcher;
    }

    /** Returns the event loop after this one in its group; null if it is alone. */
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

    /** Called on the event loop before the handler. */
    void entered() {
        call.setOpaque((call.getPlain() | 1) + 2);
        if (watcher != null && !watching.getOpaque()) {
            loop = Thread.currentThread();
            watching.set(true);
            lookSoon(0);
        }
    }

    /** Called on the event loop after the handler. */
    void left() {
        call.setOpaque(call.getPlain() & ~1);
    }

    private void lookSoon(long seen) {
        try {
            Objects.requireNonNull(watcher).schedule(() -> look(seen), SECONDS, TimeUnit.SECONDS);
        } catch (RejectedExecutionException e) {
            logger.debug("The event loops end, and are watched no more", e);
        }
    }

    private void look(long seen) {
        long now = call.get();
        if (now != seen || isInside(now)) {
            if (now == seen) {
                report(now);
            }
            lookSoon(now);
            return;
        }
        watching.set(false); // nothing has arrived for a second
        if (call.get() != now && watching.compareAndSet(false, true)) {
            lookSoon(now);
        }
    }

    private static boolean isInside(long call) {
        return (call & 1) != 0;
    }

    private void report(long now) {
        Thread busy = loop;
        if (now == reported || busy == null) {
            return;
        }
        reported = now;
        Throwable where = new Throwable("what " + busy.getName() + " is doing");
        where.setStackTrace(busy.getStackTrace());
        String text = "A handler of messages of a " + type + " has kept its event loop for more than " + SECONDS
                + " s. It must not block: all sockets of the event loop wait for it.";
        if (warned) {
            logger.debug(text, where);
        } else {
            logger.warn(text, where);
        }
        warned = true;
    }
}
