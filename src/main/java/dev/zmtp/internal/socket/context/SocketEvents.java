package dev.zmtp.internal.socket.context;

import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Passes events to listeners, each on its executor, and waits for none of them. */
public final class SocketEvents {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.SocketEvents");

    /** How many events may wait for one listener. */
    private static final int MOST_WAITING = 1_024;

    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();

    public ZMTPRegistration listen(Executor executor, Consumer<? super ZMTPSocketEvent> listener) {
        Subscriber subscriber = new Subscriber(executor, listener);
        subscribers.add(subscriber);
        return () -> {
            subscribers.remove(subscriber);
            subscriber.end();
        };
    }

    /** Whether there is a listener. */
    boolean areHeard() {
        return !subscribers.isEmpty();
    }

    public void fire(ZMTPSocketEvent event) {
        if (logger.isDebugEnabled()) {
            logger.debug("{}", event);
        }
        for (Subscriber subscriber : subscribers) {
            subscriber.add(event);
        }
    }

    /** The events of one listener, in order. It runs as a task while there are any. */
    private static final class Subscriber implements Runnable {
        private final Executor executor;
        private final Consumer<? super ZMTPSocketEvent> listener;
        private final Queue<ZMTPSocketEvent> waiting = new ArrayDeque<>(0);
        private long lost;
        private boolean running;
        private boolean ended;

        Subscriber(Executor executor, Consumer<? super ZMTPSocketEvent> listener) {
            this.executor = executor;
            this.listener = listener;
        }

        void add(ZMTPSocketEvent event) {
            synchronized (waiting) { // held briefly, by the event loop and one task
                if (ended) {
                    return;
                }
                if (waiting.size() >= MOST_WAITING) {
                    lost++;
                } else {
                    addOverflow();
                    waiting.add(event);
                }
                if (running) {
                    return;
                }
                running = true;
            }
            try {
                executor.execute(this);
            } catch (Throwable e) { // the user's executor: it may have ended, or be full at present
                logger.debug("Events wait for the next one, as the listener's executor refuses", e);
                synchronized (waiting) {
                    running = false;
                }
            }
        }

        /** In its place among the events. */
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
                return next;
            }
        }

        @Override
        public void run() {
            for (ZMTPSocketEvent event = next(); event != null; event = next()) {
                try {
                    listener.accept(event);
                } catch (Throwable e) {
                    logger.warn("A listener of events failed at {}", event, e);
                }
            }
        }
    }
}
