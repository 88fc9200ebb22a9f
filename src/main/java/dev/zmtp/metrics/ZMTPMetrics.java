package dev.zmtp.metrics;

import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The meters of a socket, proxy, memory budget or limiter, for Micrometer.
 *
 * <pre>{@code
 *   ZMTPMetrics.of(orders, "orders").bindTo(registry);
 * }</pre>
 *
 * <p>The name is a tag of all meters. In a registry, it must be unique among sockets, and likewise among proxies,
 * budgets, and limiters of each type. No meter has a tag for a peer, a peer's address or a topic, so the number of
 * meters does not depend on peers. docs/observing.md lists the meters.
 *
 * <p>The meters are removed shortly after the socket or proxy is closed, or at once when this object is closed. The
 * registry does not keep a socket, proxy, budget or limiter in memory. A socket keeps the registry until the meters are
 * removed, so close this object before you discard a registry. Meters do not allocate memory for a message. A scrape
 * reads the counts of a socket once a second at most.
 *
 * <p>Requires {@code io.micrometer:micrometer-core}. The methods can be called from any thread.
 */
public final class ZMTPMetrics implements MeterBinder, AutoCloseable {

    private final Source source;
    private final Tags tags;

    private final List<Meters> bound = new ArrayList<>();
    private boolean closed;

    private ZMTPMetrics(Source source, Tags tags) {
        this.source = source;
        this.tags = tags;
    }

    private static ZMTPMetrics named(String name, Source source) {
        if (name.isBlank()) {
            throw new IllegalArgumentException("name: \"" + name + "\" (expected: a text that is not blank)");
        }
        return new ZMTPMetrics(source, source.tags().and(source.tag(), name));
    }

    /**
     * Returns the meters of a socket.
     *
     * @param name value of the tag {@code socket}
     * @throws IllegalArgumentException if the name is blank
     */
    public static ZMTPMetrics of(ZMTPSocket socket, String name) {
        return named(name, new SocketSource(Objects.requireNonNull(socket, "socket")));
    }

    /**
     * Returns the meters of a proxy.
     *
     * @param name value of the tag {@code proxy}
     * @throws IllegalArgumentException if the name is blank
     */
    public static ZMTPMetrics of(ZMTPProxy proxy, String name) {
        return named(name, new ProxySource(Objects.requireNonNull(proxy, "proxy")));
    }

    /**
     * Returns the meters of a memory budget.
     *
     * @param name value of the tag {@code budget}
     * @throws IllegalArgumentException if the name is blank
     */
    public static ZMTPMetrics of(ZMTPMemoryBudget budget, String name) {
        return named(name, new BudgetSource(Objects.requireNonNull(budget, "budget")));
    }

    /**
     * Returns the meters of a limiter of connections.
     *
     * @param name value of the tag {@code limiter}
     * @throws IllegalArgumentException if the name is blank
     */
    public static ZMTPMetrics of(ZMTPConnectionLimiter limiter, String name) {
        return named(name, LimiterSource.of(Objects.requireNonNull(limiter, "limiter")));
    }

    /**
     * Returns the meters of a limiter of handshakes.
     *
     * @param name value of the tag {@code limiter}
     * @throws IllegalArgumentException if the name is blank
     */
    public static ZMTPMetrics of(ZMTPHandshakeLimiter limiter, String name) {
        return named(name, LimiterSource.of(Objects.requireNonNull(limiter, "limiter")));
    }

    /** Returns meters with additional tags. Meters that this object has already registered are not changed. */
    public ZMTPMetrics tags(Iterable<Tag> additional) {
        return new ZMTPMetrics(source, tags.and(additional));
    }

    /**
     * Registers the meters. Can be called for several registries.
     *
     * @throws IllegalStateException if the registry has meters of this kind with the same name, because Micrometer
     *     would report those of the first, or if this object is closed
     */
    @Override
    public void bindTo(MeterRegistry registry) {
        Objects.requireNonNull(registry, "registry");
        synchronized (ZMTPMetrics.class) { // so that one of two threads fails that bind the same name
            if (closed) {
                throw new IllegalStateException("the meters are closed");
            }
            Meters.checkFree(registry, tags, source.tag(), source.meter());
            Meters meters = new Meters(registry, tags);
            try {
                source.register(meters);
            } catch (RuntimeException e) { // such as a filter's: nothing remains
                meters.close();
                throw e;
            }
            bound.add(meters);
        }
    }

    /** Removes the meters from all registries. A second call does nothing. */
    @Override
    public void close() {
        synchronized (ZMTPMetrics.class) {
            closed = true;
            bound.forEach(Meters::close);
            bound.clear();
        }
    }
}
