package dev.zmtp.metrics;

import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import io.micrometer.core.instrument.Tags;
import java.util.function.ToDoubleFunction;

/** The meter of a limiter, which is the number of what it limits. */
final class LimiterSource<T> implements Source {

    private final T limiter;
    private final String meter;
    private final String unit;
    private final ToDoubleFunction<T> count;

    private LimiterSource(T limiter, String unit, ToDoubleFunction<T> count) {
        this.limiter = limiter;
        this.meter = "zmtp.limiter." + unit;
        this.unit = unit;
        this.count = count;
    }

    static Source of(ZMTPConnectionLimiter limiter) {
        return new LimiterSource<>(limiter, "connections", ZMTPConnectionLimiter::connectionCount);
    }

    static Source of(ZMTPHandshakeLimiter limiter) {
        return new LimiterSource<>(limiter, "handshakes", ZMTPHandshakeLimiter::handshakeCount);
    }

    @Override
    public String tag() {
        return "limiter";
    }

    @Override
    public String meter() {
        return meter;
    }

    @Override
    public void register(Meters meters) {
        meters.gauge(meter, unit, Tags.empty(), limiter, count);
    }
}
