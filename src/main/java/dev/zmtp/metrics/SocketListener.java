package dev.zmtp.metrics;

import dev.zmtp.internal.socket.context.Bystander;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import org.jspecify.annotations.Nullable;

/** Counts events of a socket, and has a gauge for each endpoint that it connects to. */
final class SocketListener implements Bystander {

    /**
     * The endpoints with the same text that were connected. Usually there is one; another can end while its successor
     * is already connected.
     */
    private record Connected(
            Set<ZMTPEndpoint> endpoints, @Nullable Gauge gauge) {}

    private final Meters meters;

    /** Kept in memory here, because registries do not keep it. */
    @SuppressWarnings("unused")
    private final SocketSnapshot snapshot;

    private final Map<String, Connected> all = new HashMap<>();

    private SocketListener(Meters meters, SocketSnapshot snapshot) {
        this.meters = meters;
        this.snapshot = snapshot;
    }

    static void register(ZMTPSocket socket, Meters meters, SocketSnapshot snapshot) {
        SocketListener listener = new SocketListener(meters, snapshot);
        ZMTPRegistration registration = socket.onEvent(Runnable::run, listener);
        meters.onClose(registration::close); // first, because what follows can fail
        socket.peers().forEach(listener::up);
    }

    @Override
    public synchronized void accept(ZMTPSocketEvent event) {
        if (event instanceof ZMTPSocketEvent.HandshakeFailed failed) {
            Tags kind = Tags.of("kind", failed.kind().name().toLowerCase(Locale.ROOT));
            count("zmtp.handshakes.failed", kind, 1.0 + failed.unreported());
        } else if (event instanceof ZMTPSocketEvent.Retrying) {
            count("zmtp.retries", Tags.empty(), 1);
        } else if (event instanceof ZMTPSocketEvent.SlowPeer) {
            count("zmtp.slow.peers", Tags.empty(), 1);
        } else if (event instanceof ZMTPSocketEvent.Connecting connecting) {
            connected(connecting.endpoint());
        } else if (event instanceof ZMTPSocketEvent.PeerUp up) {
            up(up.peer());
        } else if (event instanceof ZMTPSocketEvent.Stopped stopped) {
            stopped(stopped.endpoint());
        }
    }

    private void count(String name, Tags tags, double amount) {
        Counter counter = meters.counter(name, tags);
        if (counter != null) {
            counter.increment(amount);
        }
    }

    private synchronized void up(ZMTPPeer peer) {
        ZMTPEndpoint endpoint = peer.endpoint();
        boolean isOurs = endpoint != null && endpoint.peer() != null; // otherwise the peer has connected to this socket
        if (isOurs && endpoint.state() != ZMTPEndpoint.State.STOPPED) {
            connected(endpoint.text()).endpoints().add(endpoint);
        }
    }

    private void stopped(String text) {
        Connected connected = all.get(text);
        if (connected != null) {
            connected.endpoints().removeIf(endpoint -> endpoint.state() == ZMTPEndpoint.State.STOPPED);
            if (connected.endpoints().isEmpty()) {
                all.remove(text);
                if (connected.gauge() != null) {
                    meters.remove(connected.gauge());
                }
            }
        }
    }

    private Connected connected(String text) {
        return all.computeIfAbsent(text, missing -> {
            Set<ZMTPEndpoint> endpoints = new CopyOnWriteArraySet<>();
            Tags tags = Tags.of("endpoint", missing);
            return new Connected(endpoints, meters.gauge("zmtp.endpoint.up", "", tags, endpoints, SocketListener::up));
        });
    }

    private static double up(Set<ZMTPEndpoint> endpoints) {
        return endpoints.stream().anyMatch(endpoint -> endpoint.state() == ZMTPEndpoint.State.UP) ? 1 : 0;
    }
}
