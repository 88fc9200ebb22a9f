package dev.zmtp.metrics;

import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPProxy.SideStats;
import io.micrometer.core.instrument.Tags;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** The meters of a proxy. */
final class ProxySource implements Source {

    private static final String MESSAGES = "messages";
    private static final String BYTES = "bytes";

    private final ZMTPProxy proxy;

    ProxySource(ZMTPProxy proxy) {
        this.proxy = proxy;
    }

    @Override
    public String tag() {
        return "proxy";
    }

    @Override
    public String meter() {
        return "zmtp.proxy.messages";
    }

    @Override
    public void register(Meters meters) {
        side(meters, "frontend", ZMTPProxy.Stats::frontend);
        side(meters, "backend", ZMTPProxy.Stats::backend);
        meters.counter(
                "zmtp.proxy.captured",
                MESSAGES,
                Tags.empty(),
                proxy,
                from -> from.stats().captured());
        meters.counter(
                "zmtp.proxy.capture.dropped",
                MESSAGES,
                Tags.empty(),
                proxy,
                from -> from.stats().captureDropped());
        proxy.closeFuture().whenComplete((closed, failure) -> meters.close());
    }

    private void side(Meters meters, String side, Function<ZMTPProxy.Stats, SideStats> of) {
        Tags tags = Tags.of("side", side);
        Tags received = tags.and("direction", "received");
        Tags sent = tags.and("direction", "sent");
        counter(meters, meter(), MESSAGES, received, of, SideStats::messagesReceived);
        counter(meters, meter(), MESSAGES, sent, of, SideStats::messagesSent);
        counter(meters, "zmtp.proxy.bytes", BYTES, received, of, SideStats::bytesReceived);
        counter(meters, "zmtp.proxy.bytes", BYTES, sent, of, SideStats::bytesSent);
        counter(meters, "zmtp.proxy.dropped", MESSAGES, tags, of, SideStats::dropped);
    }

    private void counter(
            Meters meters,
            String name,
            String unit,
            Tags tags,
            Function<ZMTPProxy.Stats, SideStats> side,
            ToLongFunction<SideStats> value) {
        meters.counter(name, unit, tags, proxy, from -> value.applyAsLong(side.apply(from.stats())));
    }
}
