package dev.zmtp.metrics;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** Counts events of a socket, and has a gauge for each endpoint that it connects to. */
final class SocketListener implements Consumer<ZMTPSocketEvent> {

    /** State of an endpoint that the socket connects to. */
    private static final class EndpointState {
        volatile boolean up;
    }

    private record Entry(EndpointState endpoint, Gauge gauge) {}

    private final Meters meters;

    /** Kept in memory here, because registries do not keep it. */
    @SuppressWarnings("unused")
    private final SocketSnapshot snapshot;

    private final Map<String, Entry> endpoints = new HashMap<>();

    private SocketListener(Meters meters, SocketSnapshot snapshot) {
        this.meters = meters;
        this.snapshot = snapshot;
    }

    static void register(ZMTPSocket socket, Meters meters, SocketSnapshot snapshot) {
        SocketListener listener = new SocketListener(meters, snapshot);
        ZMTPRegistration registration = socket.onEvent(Runnable::run, listener);
        socket.peers().forEach(listener::up);
        meters.onClose(registration::close);
    }

    @Override
    public synchronized void accept(ZMTPSocketEvent event) {
        if (event instanceof ZMTPSocketEvent.HandshakeFailed failed) {
            Tags kind = Tags.of("kind", failed.kind().name().toLowerCase(Locale.ROOT));
            meters.counter("zmtp.handshakes.failed", kind).increment(1.0 + failed.unreported());
        } else if (event instanceof ZMTPSocketEvent.Retrying) {
            meters.counter("zmtp.retries", Tags.empty()).increment();
        } else if (event instanceof ZMTPSocketEvent.SlowPeer) {
            meters.counter("zmtp.slow.peers", Tags.empty()).increment();
        } else if (event instanceof ZMTPSocketEvent.Connecting connecting) {
            entry(connecting.endpoint());
        } else if (event instanceof ZMTPSocketEvent.PeerUp up) {
            up(up.peer());
        } else if (event instanceof ZMTPSocketEvent.PeerDown down) {
            down(down.peer());
        } else if (event instanceof ZMTPSocketEvent.Stopped stopped) {
            Entry removed = endpoints.remove(stopped.endpoint());
            if (removed != null) {
                meters.remove(removed.gauge());
            }
        }
    }

    private synchronized void up(ZMTPPeer peer) {
        ZMTPEndpoint endpoint = peer.endpoint();
        if (endpoint != null && endpoint.peer() != null) { // otherwise the peer has connected to this socket
            entry(endpoint.text()).endpoint().up = true;
        }
    }

    private void down(ZMTPPeer peer) {
        ZMTPEndpoint endpoint = peer.endpoint();
        Entry entry = endpoint == null ? null : endpoints.get(endpoint.text()); // null if the endpoint was closed first
        if (entry != null) {
            entry.endpoint().up = false;
        }
    }

    private Entry entry(String text) {
        return endpoints.computeIfAbsent(text, missing -> {
            EndpointState endpoint = new EndpointState();
            Tags tags = Tags.of("endpoint", missing);
            return new Entry(endpoint, meters.gauge("zmtp.endpoint.up", "", tags, endpoint, from -> from.up ? 1 : 0));
        });
    }
}
