package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.flight.Flight;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPRequestObserver;
import dev.zmtp.socket.ZMTPRequestObserver.Outcome;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The observers of a socket's requests. Requests cost nothing while there are none. From any thread. */
public final class RequestObservers {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.RequestObservers");

    /** Peers can cause failures of the application's code without bound. */
    private static final RateLimitedLog FAILURES = new RateLimitedLog(logger, InternalLogLevel.WARN, System::nanoTime);

    private static final ZMTPRequestObserver[] NONE = {};

    /** Start of a request that is not observed. */
    private static final long NOT_OBSERVED = Long.MIN_VALUE;

    private final ZMTPSocketType type;
    private final LongSupplier nanoTime;

    /** Never changed, but replaced. */
    private volatile ZMTPRequestObserver[] observers = NONE;

    RequestObservers(ZMTPSocketType type, LongSupplier nanoTime) {
        this.type = type;
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

    /** Returns the observed form of a request that the socket makes now; null if it is not observed. */
    public @Nullable ObservedRequest observe() {
        ZMTPRequestObserver[] now = observers;
        Object recorded = Flight.beginRequest();
        return now.length == 0 && recorded == null ? null : new ObservedRequest(type, now, nanoTime, recorded);
    }

    /** Returns the start of a request that the socket serves now. */
    public long served() {
        return observers.length == 0 ? NOT_OBSERVED : nanoTime.getAsLong();
    }

    /** Called after a request that the socket has served has ended, at this time. Runs user code. */
    public void ended(long start, long end, Outcome outcome) {
        ZMTPRequestObserver[] now = observers;
        if (start != NOT_OBSERVED && now.length > 0) {
            Duration duration = Duration.ofNanos(end - start);
            forEach(now, observer -> observer.servedEnded(duration, outcome));
        }
    }

    static void forEach(ZMTPRequestObserver[] observers, Consumer<ZMTPRequestObserver> event) {
        for (ZMTPRequestObserver observer : observers) {
            try {
                event.accept(observer);
            } catch (Throwable e) { // from the application, and requests are not affected
                FAILURES.log("An observer of requests", "failed", e);
            }
        }
    }
}
