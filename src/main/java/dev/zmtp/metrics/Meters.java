package dev.zmtp.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The meters that an object has in a registry. After the end of the object, no more are added. From any thread. */
final class Meters {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.metrics.ZMTPMetrics");

    private final Tags tags;
    private final Clock clock;

    /** Null after the end, because the object can live longer than the registry. */
    private @Nullable MeterRegistry registry;

    private final Set<Meter> all = new LinkedHashSet<>();

    /** Actions of the end. */
    private final List<Runnable> actions = new ArrayList<>();

    Meters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        this.clock = registry.config().clock();
    }

    /** Checks that the registry has no meter with this name and the same value of the tag. */
    static void checkFree(MeterRegistry registry, Tags tags, String tag, String meter) {
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
        return clock.monotonicTime();
    }

    /** Adds an action of the end. */
    void onClose(Runnable action) {
        synchronized (this) {
            if (registry != null) {
                actions.add(action);
                return;
            }
        }
        action.run();
    }

    /** Adds a counter of something that {@code object} counts. The registry does not keep the object in memory. */
    <T> void counter(String name, String unit, Tags more, T object, ToLongFunction<T> value) {
        add(to -> FunctionCounter.builder(name, object, value::applyAsLong)
                .baseUnit(unit)
                .tags(tags.and(more))
                .register(to));
    }

    /** Adds a gauge, unless this is closed. The registry does not keep the object in memory. */
    <T> @Nullable Gauge gauge(String name, String unit, Tags more, T object, ToDoubleFunction<T> value) {
        return add(to -> Gauge.builder(name, object, value)
                .baseUnit(unit.isEmpty() ? null : unit)
                .tags(tags.and(more))
                .register(to));
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

    /** Returns a counter, which is created by the first call; null after the end. */
    @Nullable
    Counter counter(String name, Tags more) {
        return add(to -> Counter.builder(name).tags(tags.and(more)).register(to));
    }

    /** Returns a timer, which is created by the first call; null after the end. */
    @Nullable
    Timer timer(String name, Tags more) {
        return add(to -> Timer.builder(name).tags(tags.and(more)).register(to));
    }

    /** Not after the end: a meter of a successor with the same name would be returned, and removed. */
    private synchronized <M extends Meter> @Nullable M add(Function<MeterRegistry, M> register) {
        if (registry == null) {
            return null;
        }
        M meter = register.apply(registry);
        all.add(meter);
        return meter;
    }

    /** Removes a meter before the end. */
    synchronized void remove(Meter meter) {
        if (registry != null && all.remove(meter)) {
            registry.remove(meter);
        }
    }

    /**
     * Removes all meters, the newest first. If the first is gone, which has the name, a successor can be registered. A
     * second call does nothing.
     */
    void close() {
        List<Runnable> last;
        synchronized (this) {
            MeterRegistry from = registry;
            if (from == null) {
                return;
            }
            registry = null;
            Meter[] meters = all.toArray(Meter[]::new);
            for (int i = meters.length - 1; i >= 0; i--) {
                Meter meter = meters[i];
                attempt(() -> from.remove(meter));
            }
            all.clear();
            last = List.copyOf(actions);
            actions.clear();
        }
        last.forEach(Meters::attempt);
    }

    private static void attempt(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) { // from a listener of the registry, and the other meters are still removed
            logger.warn("A meter was not removed", e);
        }
    }
}
