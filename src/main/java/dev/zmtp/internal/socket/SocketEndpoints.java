package dev.zmtp.internal.socket;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that a socket is bound and connects to. An endpoint is added in any thread, and begins on the event
 * loop.
 */
public final class SocketEndpoints {

    private final SocketCore core;
    private final Map<String, Transport> transports;

    /** By the text of the endpoint, without those that were closed. */
    private final ConcurrentHashMap<String, Connector> connectors = new ConcurrentHashMap<>();

    /** All that have not stopped: one that was closed may linger beside its successor. */
    private final Set<Connector> working = ConcurrentHashMap.newKeySet();

    private final Set<Listener> bindings = ConcurrentHashMap.newKeySet();

    SocketEndpoints(SocketCore core, Map<String, Transport> transports) {
        this.core = core;
        this.transports = transports;
    }

    /**
     * Connects, whether or not a peer is there.
     *
     * @param changes of the protocol's settings; null to take the endpoint of the same text if there is one
     */
    public Connector connect(String text, @Nullable Consumer<? super ZMTPConfig.Builder> changes) {
        Endpoint endpoint = Endpoint.parse(transports, text, false);
        core.checkOpen();
        core.setup().check(endpoint, false);
        Connector made = new Connector(core, endpoint, changes);
        Patterns.checkHeartbeats(made.codec(core.config().codec())); // now, so that the caller hears of it
        Connector there = connectors.compute(
                endpoint.toString(), (key, known) -> known == null || known.wasClosed() ? made : known);
        if (there == made) {
            begin(made);
            return made;
        }
        if (changes != null) {
            throw new IllegalStateException("connect: to " + endpoint + " already (expected: once)");
        }
        return there;
    }

    private void begin(Connector made) {
        working.add(made);
        core.routing().expected(made.peer()); // now: a message may be sent before the event loop knows the peer
        if (core.inEventLoop()) {
            start(made);
        } else if (!core.tryExecute(() -> start(made))) {
            made.closeNow();
        }
    }

    private void start(Connector connector) {
        if (core.closing().isFinished()) { // but not before: messages for it may wait, and the socket linger for them
            connector.closeNow();
        } else if (working.contains(connector)) {
            core.peers().add(connector.peer());
            connector.start();
        }
    }

    /** Called when the connector will not connect again. What is queued for it fails. */
    void stopped(Connector connector) {
        connectors.remove(connector.endpoint.toString(), connector);
        working.remove(connector);
        Peer peer = connector.peer();
        core.routing().left(peer);
        peer.failQueue(PEER_DOWN, connector.text() + " was closed");
        core.requests().down(peer, new ZMTPSocketException(CLOSED, connector.text() + " was closed"));
        if (peer.isForgotten()) {
            core.peers().remove(peer);
        }
    }

    /** Listens. */
    public Listener bind(String text) {
        Endpoint endpoint = Endpoint.parse(transports, text, true);
        core.checkOpen();
        core.setup().check(endpoint, true);
        Listener binding = new Listener(core, endpoint);
        bindings.add(binding);
        if (!core.tryExecute(() -> start(binding))) {
            binding.end();
        }
        return binding;
    }

    private void start(Listener binding) {
        if (core.senders().isClosed()) {
            binding.end();
            return;
        }
        for (Listener before : bindings) {
            if (before != binding && before.hasTheAddressOf(binding)) {
                before.unbound().whenComplete((unbound, failure) -> core.executeHere(() -> start(binding)));
                return;
            }
        }
        binding.start();
    }

    void unbound(Listener binding) {
        bindings.remove(binding);
        core.closing().ended();
    }

    Collection<Connector> connectors() {
        return working;
    }

    Collection<Listener> bindings() {
        return bindings;
    }
}
