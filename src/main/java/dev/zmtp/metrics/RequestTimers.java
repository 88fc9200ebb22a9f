package dev.zmtp.metrics;

import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPRequestObserver;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Times the requests that a socket makes and serves. From any thread. */
final class RequestTimers implements ZMTPRequestObserver {

    private final Meters meters;
    private final LongAdder active = new LongAdder();

    /** The timers by results. */
    private final Map<String, Timer> requests = new ConcurrentHashMap<>();

    private final Map<String, Timer> served = new ConcurrentHashMap<>();

    private RequestTimers(Meters meters) {
        this.meters = meters;
    }

    static void register(ZMTPSocket socket, Meters meters) {
        RequestTimers timers = new RequestTimers(meters);
        meters.gauge("zmtp.requests.active", "requests", Tags.empty(), timers.active, LongAdder::sum);
        ZMTPRegistration registration = socket.observeRequests(timers);
        meters.onClose(registration::close);
    }

    @Override
    public void requestStarted() {
        active.increment();
    }

    @Override
    public void requestEnded(Duration duration, @Nullable Throwable failure) {
        active.decrement();
        record(requests, "zmtp.requests", result(failure), duration);
    }

    @Override
    public void servedEnded(Duration duration, Outcome outcome) {
        record(served, "zmtp.served", outcome.name().toLowerCase(Locale.ROOT), duration);
    }

    private void record(Map<String, Timer> timers, String name, String result, Duration duration) {
        Timer timer = timers.computeIfAbsent(result, missing -> meters.timer(name, Tags.of("result", missing)));
        if (timer != null) {
            timer.record(duration);
        }
    }

    private static String result(@Nullable Throwable failure) {
        if (failure == null) {
            return "ok";
        }
        if (failure instanceof ZMTPSocketException socketFailure) {
            return socketFailure.reason().name().toLowerCase(Locale.ROOT);
        }
        return failure instanceof CancellationException ? "cancelled" : "error";
    }
}
