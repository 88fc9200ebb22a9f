package dev.zmtp.internal.socket;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.HANDSHAKE_FAILURES;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.Awaited;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.MessageCounts;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Surroundings;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.socket.context.Usage;
import dev.zmtp.internal.socket.endpoint.Connector;
import dev.zmtp.internal.socket.endpoint.EndedPeers;
import dev.zmtp.internal.socket.endpoint.FailedHandshakes;
import dev.zmtp.internal.socket.endpoint.Listener;
import dev.zmtp.internal.socket.endpoint.SocketEndpoints;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.PeerHome;
import dev.zmtp.internal.socket.peer.PeerInfo;
import dev.zmtp.internal.socket.peer.Peers;
import dev.zmtp.internal.socket.peer.SlowPeers;
import dev.zmtp.internal.socket.publish.FanOut;
import dev.zmtp.internal.socket.publish.Subscribers;
import dev.zmtp.internal.socket.publish.Subscriptions;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Reception;
import dev.zmtp.internal.socket.request.Requests;
import dev.zmtp.internal.socket.send.ByName;
import dev.zmtp.internal.socket.send.Credit;
import dev.zmtp.internal.socket.send.RoundRobin;
import dev.zmtp.internal.socket.send.Routing;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import io.netty.channel.EventLoop;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A socket with its parts, and the steps when a peer is connected, sends and leaves. Runs on the event loop. */
public final class SocketCore implements SocketEndpoints.Owner, Closing.Parts {

    private final SocketContext context;
    private final Usage usage;
    private final Credit credit = new Credit();
    private final SlowPeers slowPeers;
    private final Peers peers;
    private final Subscribers subscribers;
    private final Subscriptions subscriptions;
    private final Routing routing;

    // The routing again, if it is of this kind
    private final @Nullable RoundRobin shared;
    private final @Nullable ByName named;
    private final @Nullable FanOut publishing;
    private final Senders senders;
    private final Inbox inbox;
    private final Requests requests;
    private final Reception reception;
    private final FailedHandshakes failedHandshakes;
    private final EndedPeers endedPeers;
    private final StaleMessages staleMessages;
    private final SocketEndpoints endpoints;
    private final Account account;
    private final Exchange exchange;
    private final Closing closing;

    @SuppressWarnings("this-escape") // nothing happens before open()
    public SocketCore(
            ZMTPSocketConfig config,
            Map<String, Transport> transports,
            EventLoop eventLoop,
            Function<MessageCounts, ZMTPStats> stats,
            Runnable whenClosed) {
        Surroundings surroundings = Surroundings.of(eventLoop);
        this.context = new SocketContext(config, eventLoop, surroundings, stats);
        this.usage = new Usage(config);
        this.slowPeers = new SlowPeers(context);
        this.peers = new Peers(context.completions());
        this.subscribers = new Subscribers(context);
        this.subscriptions = new Subscriptions(context);
        this.routing = Patterns.routing(context, credit, subscribers, this::areBound);
        this.shared = routing instanceof RoundRobin withQueue ? withQueue : null;
        this.named = routing instanceof ByName byName ? byName : null;
        this.publishing = routing instanceof FanOut fanOut ? fanOut : null;
        this.senders = new Senders(context, routing, credit, slowPeers, this::unsentRequest);
        this.inbox = new Inbox(context);
        this.requests = new Requests(context, senders, shared, peers);
        this.reception = Patterns.reception(context, inbox, subscriptions, requests);
        this.staleMessages = new StaleMessages(context, inbox, named);
        this.endedPeers = new EndedPeers(surroundings::currentNanos);
        this.failedHandshakes = new FailedHandshakes(context, endedPeers);
        this.endpoints = new SocketEndpoints(context, this, surroundings.transports(transports));
        this.account = new Account(context, peers, shared == null ? null : shared.queue(), senders, requests);
        this.exchange = new Exchange(context, senders, inbox, requests, () -> reception.asks(peers.list()));
        this.closing = new Closing(context, this, endpoints.bindings(), whenClosed);
        context.when(this::capacityFreed, closing::check);
    }

    public void open() {
        closing.open();
    }

    // Parts, from any thread

    public SocketContext context() {
        return context;
    }

    public SocketEndpoints endpoints() {
        return endpoints;
    }

    public Peers peers() {
        return peers;
    }

    public Senders senders() {
        return senders;
    }

    public Inbox inbox() {
        return inbox;
    }

    public Requests requests() {
        return requests;
    }

    public Subscribers subscribers() {
        return subscribers;
    }

    public Subscriptions subscriptions() {
        return subscriptions;
    }

    public Exchange exchange() {
        return exchange;
    }

    /** Returns the peer with the name; null if there is none. */
    public @Nullable Peer named(ByteBuffer name) {
        return named == null ? null : named.named(name);
    }

    public ZMTPStats stats() {
        return account.stats();
    }

    /** Stops accepting messages, and ends when the accepted messages have left, or after this time. */
    public CompletableFuture<ZMTPStats> close(Duration linger) {
        CompletableFuture<ZMTPStats> closed = closing.close(linger);
        exchange.close(); // last, because the socket accepts no more messages by then
        return closed;
    }

    /** Completes at the end. */
    public CompletableFuture<ZMTPStats> report() {
        return closing.report();
    }

    /** Completes when there are this many peers, or this many subscribers if a publisher waits. */
    public CompletableFuture<Void> whenPeers(int count) {
        CompletableFuture<Void> reached = new LoopFuture<>();
        if (context.isClosed() || !context.tryExecute(() -> awaited().await(count, reached))) {
            context.completions().fail(reached, CLOSED, "the socket is closed");
        }
        return reached;
    }

    private Awaited awaited() {
        return TypeRules.publishes(context.type()) ? subscribers.awaited() : peers.connected();
    }

    public void resizeSendQueue(QueueLimit limit) {
        QueueLimit effective = context.sendQueueLimit(limit);
        context.execute(() -> {
            senders.limit(limit);
            if (shared != null) {
                shared.limit(effective);
            }
            peers.all().forEach(peer -> peer.outbound().limit(effective));
            capacityFreed();
        });
    }

    // Endpoints

    @Override
    public void expected(Peer peer) {
        if (shared != null) {
            shared.expected(peer);
        }
    }

    @Override
    public void added(Peer peer) {
        peers.all().add(peer);
        routing.added(peer);
        capacityFreed(); // messages might wait for it
    }

    @Override
    public void leaving(Peer peer) {
        routing.leaving(peer);
        peer.roomCame(); // for threads that wait for it
        capacityFreed(); // messages might have waited only for this peer
    }

    @Override
    public void left(Peer peer, String text) {
        routing.left(peer);
        peer.outbound().failQueue(PEER_DOWN, text);
        requests.down(peer, () -> new ZMTPSocketException(CLOSED, text));
        peers.removeIfForgotten(peer);
        context.execute(this::capacityFreed); // later, because the connector has not ended yet
    }

    @Override
    public boolean waitsFor(Peer peer) {
        return shared == null ? !peer.queue().isEmpty() : shared.waitsFor(peer);
    }

    @Override
    public void unbound() {
        if (shared != null) {
            shared.unbound();
        }
        closing.ended();
    }

    // Peers

    @Override
    public Peer newPeer(@Nullable PeerHome home) {
        return new Peer(context, senders.directly(), slowPeers, usage, home, this::exceeded);
    }

    /** The peer has retained the most memory for the longest time. It frees the memory, and its connection ends. */
    private void exceeded(Peer peer, ZMTPException cause) {
        long queued = peer.queue().messages();
        peer.exceeded(cause);
        context.drops().dropped(peer, DropReason.MEMORY_BUDGET, queued + inbox.drop(peer));
        capacityFreed();
    }

    @Override
    public void began(PeerHandler link) {
        closing.began(link);
    }

    @Override
    public @Nullable PeerHandler inTheWay(Peer peer, PeerInfo info) {
        peer.info(info);
        return routing.inTheWay(peer);
    }

    @Override
    public @Nullable String mayJoin(Peer peer, PeerInfo info) {
        peer.info(info);
        if (peer.home() == null) {
            if (context.isClosed()) {
                return "the socket is closed";
            }
            if (peers.all().size() >= context.config().maxPeers() && (named == null || !named.takesOver(peer))) {
                return "peers: " + context.config().maxPeers() + " (expected: fewer, see maxPeers)";
            }
        }
        return routing.up(peer);
    }

    @Override
    public void up(PeerHandler link, Peer peer) {
        context.allocator(link.channel().alloc());
        peers.all().add(peer);
        peer.up(link);
        peer.queue().limit(context.sendQueueLimit()); // which might have changed while it waited for its name
        peers.connected().count(peers.connected().there() + 1); // first, because user code called next can end this
        staleMessages.up(peer);
        context.fire(new ZMTPSocketEvent.PeerUp(peer));
        subscriptions.up(peer);
        peer.outbound().drain();
        sendQueued(peer);
        capacityFreed();
        peers.connected().announce();
        PeerHome home = peer.home();
        if (home != null && peer.link() == link) {
            home.joined();
        }
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        reception.received(from, message);
    }

    @Override
    public void readComplete() {
        inbox.readComplete();
    }

    @Override
    public void subscription(Peer from, ZMTPSubscription subscription) {
        if (publishing != null) {
            publishing.subscription(from, subscription);
        }
    }

    @Override
    public void membership(Peer from, ZMTPMembership membership) {
        if (publishing != null) {
            publishing.membership(from, membership);
        }
    }

    @Override
    public void becameWritable(Peer peer) {
        context.flushes().follow(() -> {
            sendQueued(peer);
            capacityFreed(); // a peer with an empty queue can be sent to again
        });
    }

    private void sendQueued(Peer peer) {
        if (shared != null) {
            shared.becameWritable(peer);
        }
    }

    @Override
    public void down(PeerHandler link, Peer peer, Throwable cause) {
        if (peer.link() != link) {
            return;
        }
        peer.down();
        peers.connected().changed(peers.connected().there() - 1);
        subscriptions.down(peer);
        routing.down(peer);
        peer.roomCame();
        staleMessages.down(peer, link.endpoint());
        peers.removeIfForgotten(peer);
        requests.down(peer, () -> cause);
        inbox.down(peer);
        endedPeers.ended(link, peer, cause);
        context.fire(new ZMTPSocketEvent.PeerDown(peer, cause));
        capacityFreed();
    }

    @Override
    public void handshakeFailed(PeerHandler link, Throwable cause) {
        context.tally().ofAllPeers().add(HANDSHAKE_FAILURES, 1);
        failedHandshakes.failed(link, cause);
    }

    @Override
    public void ended(PeerHandler link) {
        closing.ended(link);
    }

    // The end

    @Override
    public void endOthers() {
        senders.close();
        List.copyOf(endpoints.bindings()).forEach(Listener::end);
        requests.close();
        exchange.close(); // again, for an answer that came since, or if the event loop has ended
        inbox.close();
        peers.list().forEach(Peer::reading); // a peer that writes before it reads would get no queued messages
        peers.connected().close();
        subscribers.awaited().close();
    }

    @Override
    public void sendAccepted() {
        senders.drainLast();
        if (publishing != null) {
            publishing.sendGathered();
        }
    }

    @Override
    public boolean haveSentAll() {
        if (senders.blocked() > 0 || (shared != null && shared.hasMoreToSend())) {
            return false;
        }
        return peers.all().stream().allMatch(peer -> peer.queue().isEmpty());
    }

    @Override
    public void endAll() {
        if (publishing != null) {
            publishing.sendGathered();
        }
        senders.failAll();
        if (shared != null) {
            shared.failQueue(CLOSED, "the socket is closed");
        }
        peers.list().forEach(peer -> peer.outbound().failQueue(CLOSED, "the socket is closed"));
        List.copyOf(endpoints.connectors()).forEach(Connector::closeNow);
    }

    private boolean areBound() {
        return !endpoints.bindings().isEmpty();
    }

    @Override
    public void reportRest() {
        context.drops().reportRest();
        failedHandshakes.reportRest();
    }

    @Override
    public ZMTPStats statsAtTheEnd() {
        return account.atTheEnd();
    }

    // Capacity

    private void unsentRequest() {
        requests.capacityFreed();
    }

    /** Called when there might be room for waiting messages. */
    private void capacityFreed() {
        requests.capacityFreed();
        senders.capacityFreed();
        closing.check();
    }
}
