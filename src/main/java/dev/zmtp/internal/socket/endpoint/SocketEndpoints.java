package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.internal.transport.Transport;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that a socket is bound to and connects to. An endpoint is added in any thread, and begins on the event
 * loop.
 */
public final class SocketEndpoints {

    /** The socket that the endpoints belong to. */
    public interface Owner extends PeerHandler.Owner {
        /** Called when the socket begins to connect to a peer, in the calling thread. */
        void expected(Peer peer);

        /** Called when the connector of the peer begins. */
        void added(Peer peer);

        /** Called when the connector of the peer accepts no new messages. */
        void leaving(Peer peer);

        /** Called when the connector will not connect again. */
        void left(Peer peer, String text);

        /** Returns whether there are messages that only this peer could get. */
        boolean waitsFor(Peer peer);

        /** Called when a binding has ended. */
        void unbound();
    }

    private final SocketContext context;
    private final Owner owner;
    private final ChannelSetup setup;
    private final Map<String, Transport> transports;

    /** Connectors by the text of the endpoint, without closed connectors. */
    private final ConcurrentHashMap<String, Connector> connectors = new ConcurrentHashMap<>();

    /** All connectors that have not stopped. A closed connector can linger beside its successor. */
    private final Set<Connector> working = ConcurrentHashMap.newKeySet();

    private final Set<Listener> bindings = ConcurrentHashMap.newKeySet();

    public SocketEndpoints(SocketContext context, Owner owner, Map<String, Transport> transports) {
        this.context = context;
        this.owner = owner;
        this.setup = new ChannelSetup(context);
        this.transports = transports;
    }

    /**
     * Connects, whether or not a peer is there.
     *
     * @param changes changes to the codec settings; null to use an existing endpoint with the same text
     */
    public Connector connect(String text, @Nullable Consumer<? super ZMTPConfig.Builder> changes) {
        Endpoint endpoint = Endpoint.parse(transports, text, false);
        context.checkOpen();
        setup.check(endpoint, false);
        Connector made = new Connector(context, this, endpoint, changes);
        TypeRules.checkHeartbeats(made.codec(context.config().codec())); // now, so that the caller gets the exception
        Connector there = connectors.compute(
                endpoint.toString(), (key, known) -> known == null || known.wasClosed() ? expected(made) : known);
        if (there == made) {
            begin(made);
            return made;
        }
        if (changes != null) {
            throw new IllegalStateException("already connected to " + endpoint + ", with settings that cannot change");
        }
        return there;
    }

    /**
     * Counts a connector before another thread can find and close it. This happens now, because a message can be sent
     * before the peer is known on the event loop.
     */
    private Connector expected(Connector made) {
        working.add(made);
        owner.expected(made.peer());
        return made;
    }

    private void begin(Connector made) {
        if (context.inEventLoop()) {
            start(made);
        } else if (!context.tryExecute(() -> start(made))) {
            made.closeNow();
        }
    }

    private void start(Connector connector) {
        if (context.isFinished()) { // not before, because messages might wait, and the socket linger for them
            connector.closeNow();
        } else if (working.contains(connector)) {
            owner.added(connector.peer());
            connector.start();
        }
    }

    /** Called when the connector will not connect again. The messages queued for it fail. */
    void stopped(Connector connector) {
        connectors.remove(connector.endpoint.toString(), connector);
        working.remove(connector);
        owner.left(connector.peer(), connector.text() + " was closed");
    }

    /** Binds the endpoint, and accepts peers. */
    public Listener bind(String text) {
        Endpoint endpoint = Endpoint.parse(transports, text, true);
        context.checkOpen();
        setup.check(endpoint, true);
        Listener binding = new Listener(context, this, endpoint);
        bindings.add(binding);
        if (context.inEventLoop()) { // before what the caller connects next
            start(binding);
        } else if (!context.tryExecute(() -> start(binding))) {
            binding.end();
        }
        return binding;
    }

    private void start(Listener binding) {
        if (context.isClosed()) {
            binding.end();
            return;
        }
        for (Listener before : bindings) {
            if (before != binding && before.hasTheAddressOf(binding)) {
                before.unbound().whenComplete((unbound, failure) -> context.executeHere(() -> start(binding)));
                return;
            }
        }
        binding.start();
    }

    void unbound(Listener binding) {
        bindings.remove(binding);
        owner.unbound();
    }

    Owner owner() {
        return owner;
    }

    ChannelSetup setup() {
        return setup;
    }

    public Collection<Connector> connectors() {
        return working;
    }

    public Collection<Listener> bindings() {
        return bindings;
    }
}
