package dev.zmtp.internal.socket.context;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Passes events to listeners, each on its executor, without waiting for any of them. */
public final class SocketEvents {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.SocketEvents");

    /** Maximum number of events waiting for a listener. */
    private static final int MOST_WAITING = 1_024;

    /** Time that an executor has to start an accepted task before it is given another task, in nanoseconds. */
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();

    SocketEvents(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    public ZMTPRegistration listen(Executor executor, Consumer<? super ZMTPSocketEvent> listener) {
        Subscriber subscriber = new Subscriber(executor, listener, nanoTime);
        subscribers.add(subscriber);
        return () -> {
            subscribers.remove(subscriber);
            subscriber.end();
        };
    }

    /** Returns whether there is a listener that does more than count. */
    boolean areHeard() {
        return subscribers.stream().anyMatch(subscriber -> !(subscriber.listener instanceof Bystander));
    }

    public void fire(ZMTPSocketEvent event) {
        if (logger.isDebugEnabled()) {
            logger.debug("{}", event);
        }
        for (Subscriber subscriber : subscribers) {
            subscriber.add(event);
        }
    }

    /** The events of a single listener, in order. It runs as a task while there are events. */
    private static final class Subscriber implements Runnable {
        private final Executor executor;
        private final Consumer<? super ZMTPSocketEvent> listener;
        private final LongSupplier nanoTime;
        private final RateLimitedLog failures;
        private final Queue<ZMTPSocketEvent> waiting = new ConsistentDeque<>();
        private long lost;
        private boolean scheduled;
        private boolean running;
        private boolean ended;
        private long scheduledAt;

        Subscriber(Executor executor, Consumer<? super ZMTPSocketEvent> listener, LongSupplier nanoTime) {
            this.executor = executor;
            this.listener = listener;
            this.nanoTime = nanoTime;
            this.failures = new RateLimitedLog(logger, InternalLogLevel.WARN, nanoTime);
        }

        void add(ZMTPSocketEvent event) {
            synchronized (waiting) { // locked briefly, by the event loop and a single task
                if (ended) {
                    return;
                }
                if (waiting.size() >= MOST_WAITING) {
                    lost++;
                } else {
                    addOverflow();
                    waiting.add(event);
                }
                long now = nanoTime.getAsLong();
                if (running || (scheduled && now - scheduledAt < PATIENCE)) {
                    return;
                }
                scheduled = true; // scheduled again in case the executor has discarded the last task
                scheduledAt = now;
            }
            try {
                executor.execute(this);
            } catch (Throwable e) { // the user's executor, which might have ended, or be full at present
                logger.debug("Events wait for the next one, as the listener's executor refuses", e);
                synchronized (waiting) {
                    scheduled = false;
                }
            }
        }

        /** Adds the number of missed events at its place among the events. */
        private void addOverflow() {
            if (lost > 0) {
                waiting.add(new ZMTPSocketEvent.Missed(lost));
                lost = 0;
            }
        }

        void end() {
            synchronized (waiting) {
                ended = true;
                waiting.clear();
                lost = 0;
            }
        }

        private @Nullable ZMTPSocketEvent next() {
            synchronized (waiting) {
                if (waiting.isEmpty()) {
                    addOverflow();
                }
                ZMTPSocketEvent next = waiting.poll();
                running = next != null;
                scheduled = running;
                return next;
            }
        }

        private boolean begins() {
            synchronized (waiting) {
                boolean begins = !running; // otherwise the executor was late, and this is the second task
                running = true;
                return begins;
            }
        }

        @Override
        public void run() {
            if (!begins()) {
                return;
            }
            for (ZMTPSocketEvent event = next(); event != null; event = next()) {
                try {
                    listener.accept(event);
                } catch (Throwable e) {
                    failures.log("A listener of events", "failed at " + event, e);
                }
            }
        }
    }
}
