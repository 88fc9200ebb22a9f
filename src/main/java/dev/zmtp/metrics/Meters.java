package dev.zmtp.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** The meters that an object has in a registry. After the end of the object, no more are added. */
final class Meters {

    private final MeterRegistry registry;
    private final Tags tags;

    private final List<Meter> all = new ArrayList<>();
    private final List<Runnable> others = new ArrayList<>();
    private boolean closed;

    Meters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
    }

    /** Checks that the registry has no meter with this name and the same value of the tag. */
    void checkFree(String tag, String meter) {
        String name = tags.stream()
                .filter(present -> present.getKey().equals(tag))
                .findFirst()
                .orElseThrow()
                .getValue();
        if (registry.find(meter).tag(tag, name).meter() != null) {
            throw new IllegalStateException(tag + ": \"" + name + "\" (expected: a name that is not in the registry)");
        }
    }

    /** Returns the time of the registry, in nanoseconds. */
    long nanoTime() {
        return registry.config().clock().monotonicTime();
    }

    /** Adds an action of the end. */
    synchronized void onClose(Runnable action) {
        if (closed) {
            action.run();
        } else {
            others.add(action);
        }
    }

    /** Adds a counter of something that {@code object} counts. The registry does not keep the object in memory. */
    <T> void counter(String name, String unit, Tags more, T object, ToLongFunction<T> value) {
        add(FunctionCounter.builder(name, object, value::applyAsLong)
                .baseUnit(unit)
                .tags(tags.and(more))
                .register(registry));
    }

    /** Adds a gauge. The registry does not keep the object in memory. */
    <T> Gauge gauge(String name, String unit, Tags more, T object, ToDoubleFunction<T> value) {
        return add(Gauge.builder(name, object, value)
                .baseUnit(unit.isEmpty() ? null : unit)
                .tags(tags.and(more))
                .register(registry));
    }

    /** Returns a counter, which is created by the first call. */
    Counter counter(String name, Tags more) {
        return add(Counter.builder(name).tags(tags.and(more)).register(registry));
    }

    /** Returns a timer, which is created by the first call. */
    Timer timer(String name, Tags more) {
        return add(Timer.builder(name).tags(tags.and(more)).register(registry));
    }

    /** Adds a gauge of a time in seconds. */
    <T> void age(String name, T object, ToLongFunction<T> nanos) {
        gauge(
                name,
                "seconds",
                Tags.empty(),
                object,
                from -> (double) nanos.applyAsLong(from) / TimeUnit.SECONDS.toNanos(1));
    }

    private synchronized <M extends Meter> M add(M meter) {
        if (closed) {
            registry.remove(meter);
        } else if (!all.contains(meter)) {
            all.add(meter);
        }
        return meter;
    }

    /** Removes a meter before the end. */
    synchronized void remove(Meter meter) {
        all.remove(meter);
        registry.remove(meter);
    }

    /** Removes all meters. A second call does nothing. */
    void close() {
        List<Runnable> actions;
        synchronized (this) {
            closed = true;
            all.forEach(registry::remove);
            all.clear();
            actions = List.copyOf(others);
            others.clear();
        }
        actions.forEach(Runnable::run);
    }
}
