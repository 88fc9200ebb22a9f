package dev.zmtp.metrics;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPStats;
import io.micrometer.core.instrument.Tags;
import java.util.function.ToLongFunction;

/** The meters of a socket. */
final class SocketSource implements Source {

    private static final String MESSAGES = "messages";

    private final ZMTPSocket socket;

    SocketSource(ZMTPSocket socket) {
        this.socket = socket;
    }

    @Override
    public String tag() {
        return "socket";
    }

    @Override
    public String meter() {
        return "zmtp.peers";
    }

    @Override
    public Tags tags() {
        return Tags.of("type", socket.socketType().name());
    }

    @Override
    public void register(Meters meters) {
        SocketSnapshot snapshot =
                new SocketSnapshot(socket::stats, () -> socket.peers().size(), meters::nanoTime);
        meters.gauge(meter(), "peers", Tags.empty(), snapshot, SocketSnapshot::peers);
        counter(meters, "zmtp.messages.written", snapshot, ZMTPStats::written);
        counter(meters, "zmtp.messages.received", snapshot, ZMTPStats::received);
        counter(meters, "zmtp.messages.dropped", snapshot, ZMTPStats::dropped);
        counter(meters, "zmtp.messages.unknown", snapshot, ZMTPStats::outcomeUnknown);
        counter(meters, "zmtp.messages.malformed", snapshot, ZMTPStats::malformed);
        counter(meters, "zmtp.messages.discarded", snapshot, ZMTPStats::discarded);
        counter(meters, "zmtp.late.replies", snapshot, ZMTPStats::lateReplies);
        bytes(meters, "zmtp.bytes.written", snapshot, ZMTPStats::writtenBytes);
        bytes(meters, "zmtp.bytes.received", snapshot, ZMTPStats::receivedBytes);
        meters.gauge(
                "zmtp.queue.messages",
                MESSAGES,
                Tags.empty(),
                snapshot,
                from -> from.stats().queued());
        meters.gauge(
                "zmtp.queue.bytes",
                "bytes",
                Tags.empty(),
                snapshot,
                from -> from.stats().queuedBytes());
        meters.age("zmtp.queue.age", snapshot, from -> from.stats().oldestAge().toNanos());
        handshakes(meters, "success", snapshot, ZMTPStats::connects);
        handshakes(meters, "failure", snapshot, ZMTPStats::handshakeFailures);
        // The socket keeps both, and the first the snapshot, for as long as the meters exist.
        SocketListener.register(socket, meters, snapshot);
        RequestTimers.register(socket, meters);
        socket.closeFuture().whenComplete((closed, failure) -> meters.close());
    }

    private static void counter(Meters meters, String name, SocketSnapshot snapshot, ToLongFunction<ZMTPStats> value) {
        meters.counter(name, MESSAGES, Tags.empty(), snapshot, from -> value.applyAsLong(from.stats()));
    }

    private static void bytes(Meters meters, String name, SocketSnapshot snapshot, ToLongFunction<ZMTPStats> value) {
        meters.counter(name, "bytes", Tags.empty(), snapshot, from -> value.applyAsLong(from.stats()));
    }

    private static void handshakes(
            Meters meters, String result, SocketSnapshot snapshot, ToLongFunction<ZMTPStats> value) {
        meters.counter(
                "zmtp.handshakes",
                "handshakes",
                Tags.of("result", result),
                snapshot,
                from -> value.applyAsLong(from.stats()));
    }
}
