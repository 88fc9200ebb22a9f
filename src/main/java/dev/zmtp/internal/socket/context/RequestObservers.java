package dev.zmtp.internal.socket.context;

import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPRequestObserver;
import dev.zmtp.socket.ZMTPRequestObserver.Outcome;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The observers of a socket's requests. Requests cost nothing while there are none. From any thread. */
public final class RequestObservers {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.RequestObservers");

    private static final ZMTPRequestObserver[] NONE = {};

    /** Start of a request that is not observed. */
    private static final long NOT_OBSERVED = Long.MIN_VALUE;

    private final LongSupplier nanoTime;

    /** Never changed, but replaced. */
    private volatile ZMTPRequestObserver[] observers = NONE;

    RequestObservers(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Adds an observer until the registration is closed. */
    public ZMTPRegistration add(ZMTPRequestObserver observer) {
        AtomicBoolean registered = new AtomicBoolean(true);
        change(list -> list.add(observer));
        return () -> {
            if (registered.compareAndSet(true, false)) {
                change(list -> list.remove(lastIndexOf(observer, list)));
            }
        };
    }

    private synchronized void change(Consumer<List<ZMTPRequestObserver>> change) {
        List<ZMTPRequestObserver> list = new ArrayList<>(Arrays.asList(observers));
        change.accept(list);
        observers = list.toArray(NONE);
    }

    @SuppressWarnings("ReferenceEquality") // an application can register equal observers
    private static int lastIndexOf(ZMTPRequestObserver observer, List<ZMTPRequestObserver> list) {
        int index = list.size() - 1;
        while (list.get(index) != observer) {
            index--;
        }
        return index;
    }

    /** Observes a request that the socket makes, until its future is complete. */
    public void started(CompletableFuture<?> request) {
        ZMTPRequestObserver[] now = observers;
        if (now.length > 0) {
            long start = nanoTime.getAsLong();
            notify(now, ZMTPRequestObserver::requestStarted);
            request.whenComplete((answer, failure) -> {
                Duration duration = since(start);
                notify(now, observer -> observer.requestEnded(duration, failure));
            });
        }
    }

    /** Returns the start of a request that the socket serves now. */
    public long served() {
        return observers.length == 0 ? NOT_OBSERVED : nanoTime.getAsLong();
    }

    /** Called when a request that the socket has served ends. */
    public void ended(long start, Outcome outcome) {
        if (start != NOT_OBSERVED) {
            Duration duration = since(start);
            notify(observers, observer -> observer.servedEnded(duration, outcome));
        }
    }

    private Duration since(long start) {
        return Duration.ofNanos(nanoTime.getAsLong() - start);
    }

    private static void notify(ZMTPRequestObserver[] observers, Consumer<ZMTPRequestObserver> event) {
        for (ZMTPRequestObserver observer : observers) {
            try {
                event.accept(observer);
            } catch (Throwable e) { // from the application, and requests are not affected
                logger.warn("An observer of requests failed", e);
            }
        }
    }
}
