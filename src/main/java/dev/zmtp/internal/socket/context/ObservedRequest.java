package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.flight.Flight;
import dev.zmtp.socket.ZMTPRequestObserver;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A request that observers or the Flight Recorder are told about. */
public final class ObservedRequest {

    private static final long NOT_ENDED = Long.MIN_VALUE;

    private final ZMTPSocketType type;
    private final ZMTPRequestObserver[] observers;
    private final LongSupplier nanoTime;
    private final long start;
    private final @Nullable Object recorded;
    private volatile long end = NOT_ENDED;

    ObservedRequest(
            ZMTPSocketType type, ZMTPRequestObserver[] observers, LongSupplier nanoTime, @Nullable Object recorded) {
        this.type = type;
        this.observers = observers;
        this.nanoTime = nanoTime;
        this.start = nanoTime.getAsLong();
        this.recorded = recorded;
    }

    /** Notifies the observers of the start, and of the end when the future is complete. Runs user code. */
    public void begin(CompletableFuture<?> request) {
        RequestObservers.forEach(observers, ZMTPRequestObserver::requestStarted);
        request.whenComplete((answer, failure) -> report(failure));
    }

    /** Called before the future is completed, whose other listeners can take long. */
    public void ending() {
        if (end == NOT_ENDED) {
            end = nanoTime.getAsLong();
            if (recorded != null) {
                Flight.requestEnds(recorded);
            }
        }
    }

    private void report(@Nullable Throwable failure) {
        ending(); // if the future was completed in another way
        if (recorded != null) {
            Flight.request(recorded, type, failure);
        }
        Duration duration = Duration.ofNanos(end - start);
        RequestObservers.forEach(observers, observer -> observer.requestEnded(duration, failure));
    }
}
