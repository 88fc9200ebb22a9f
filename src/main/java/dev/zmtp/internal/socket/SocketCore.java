package dev.zmtp.internal.socket;

import static dev.zmtp.internal.socket.PeerCounters.Counter.HANDSHAKE_FAILURES;
import static dev.zmtp.internal.socket.PeerCounters.Counter.UNKNOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.WhenFull;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one socket, and the event loop of all its connections. As all state is used on that loop, a message
 * passes no lock there. What comes from other threads arrives as a task, or through {@link Senders} and {@link Inbox}.
 */
public final class SocketCore {

    private final ZMTPSocketConfig config;
    private final EventLoop eventLoop;
    private final LongSupplier nanoTime;
    private final Routing routing;
    private final Reception reception;
    private final Senders senders;
    private final DirectSends directly;
    private final Inbox inbox;
    private final Requests requests;
    private final Subscribers subscribers = new Subscribers();
    private final Subscriptions subscriptions;
    private final SocketEvents events = new SocketEvents();
    private final SlowPeers slowPeers;
    private final FailedHandshakes failedHandshakes = new FailedHandshakes(this);
    private final ChannelSetup setup;
    private final boolean namesPeers;
    private final Closing closing;

    private final Set<Peer> peers = ConcurrentHashMap.newKeySet();
    private final SocketEndpoints endpoints;

    private final Account account = new Account(this);
    private final Usage usage = new Usage(this);

    private final Awaited connected = new Awaited();
    private final long maxAgeNanos;
    private volatile QueueLimit sendLimit;

    /** The allocator of the channels, as soon as there is one. */
    private ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;

    @SuppressWarnings("this-escape") // nothing happens before open()
    public SocketCore(
            ZMTPSocketConfig config,
            Map<String, Transport> transports,
            EventLoop eventLoop,
            LongSupplier nanoTime,
            Runnable whenClosed) {
        this.config = config;
        this.endpoints = new SocketEndpoints(this, transports);
        this.eventLoop = eventLoop;
        this.nanoTime = nanoTime;
        this.sendLimit = effective(SocketValues.limitOfSends(config));
        this.maxAgeNanos = Settings.nanos(config.maxAge());
        this.senders = new Senders(this);
        this.directly = new DirectSends(this);
        this.inbox = new Inbox(this);
        this.requests = new Requests(this);
        this.subscriptions = new Subscriptions(this);
        this.slowPeers = new SlowPeers(this);
        this.setup = new ChannelSetup(this);
        this.namesPeers = Patterns.namesPeers(config.type());
        this.routing = Patterns.routing(this);
        this.reception = Patterns.reception(this);
        this.closing = new Closing(this, whenClosed);
        senders.open();
    }

    public void open() {
        closing.open();
    }

    // Its parts

    public ZMTPSocketConfig config() {
        return config;
    }

    public ZMTPSocketType type() {
        return config.type();
    }

    public SocketEndpoints endpoints() {
        return endpoints;
    }

    public Routing routing() {
        return routing;
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

    public SocketEvents events() {
        return events;
    }

    SlowPeers slowPeers() {
        return slowPeers;
    }

    ChannelSetup setup() {
        return setup;
    }

    public Closing closing() {
        return closing;
    }

    // Where it runs

    public EventLoop eventLoop() {
        return eventLoop;
    }

    public boolean inEventLoop() {
        return eventLoop.inEventLoop();
    }

    public ByteBufAllocator allocator() {
        return allocator;
    }

    int random() {
        return ThreadLocalRandom.current().nextInt();
    }

    long nanoTime() {
        return nanoTime.getAsLong();
    }

    /** Runs the task later, unless the event loop has ended. */
    public void execute(Runnable task) {
        tryExecute(task);
    }

    public boolean tryExecute(Runnable task) {
        try {
            eventLoop.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /**
     * Runs the task on the event loop, at once if this is its thread. If the event loop ends before that, the task runs
     * after its end, when nothing else does.
     */
    public void executeAnyway(Runnable task) {
        if (inEventLoop()) {
            task.run();
        } else {
            executeLaterAnyway(task);
        }
    }

    /** As {@link #executeAnyway}, but not at once: for what must not happen in the middle of a call. */
    public void executeLaterAnyway(Runnable task) {
        if (!tryExecute(task)) {
            eventLoop.terminationFuture().addListener(f -> task.run());
        }
    }

    /** Runs the task at once if this is the event loop's thread. Otherwise, it runs there later. */
    public void executeHere(Runnable task) {
        if (inEventLoop()) {
            task.run();
        } else {
            execute(task);
        }
    }

    @Nullable
    ScheduledFuture<?> schedule(Runnable task, long nanos) {
        try {
            return eventLoop.schedule(task, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null; // the event loop ends, and this socket with it
        }
    }

    // Peers, on the event loop

    /** Returns the connection that has the name of this peer and may be about to end; null if there is none. */
    @Nullable
    PeerHandler inTheWay(Peer peer, PeerInfo info) {
        peer.info(info);
        return routing.inTheWay(peer);
    }

    /** Returns why the peer may not join; null if it may, in which case the routing knows it from now on. */
    @Nullable
    String mayJoin(Peer peer, PeerInfo info) {
        peer.info(info);
        if (peer.connector() == null) {
            if (senders.isClosed()) {
                return "the socket is closed";
            }
            if (peers.size() >= config.maxPeers() && !routing.takesOver(peer)) {
                return "peers: as many as may be, " + config.maxPeers();
            }
        }
        return routing.up(peer);
    }

    void up(PeerHandler link, Peer peer) {
        allocator = link.channel().alloc();
        peers.add(peer);
        peer.up(link);
        events.fire(new ZMTPSocketEvent.PeerUp(peer));
        subscriptions.up(peer);
        peer.drain();
        routing.becameWritable(peer);
        room();
        connected.changed(connected.there() + 1);
        Connector connector = peer.connector();
        if (connector != null && peer.link() == link) {
            connector.joined();
        }
    }

    void down(PeerHandler link, Peer peer, Throwable cause) {
        if (peer.link() != link) {
            return;
        }
        peer.down();
        connected.changed(connected.there() - 1);
        subscriptions.down(peer);
        routing.down(peer);
        if (peer.connector() == null) {
            peer.failQueue(PEER_DOWN, "connection to " + link.endpoint() + " ended");
        }
        if (peer.isForgotten()) {
            peers.remove(peer);
        }
        requests.down(peer, cause);
        events.fire(new ZMTPSocketEvent.PeerDown(peer, cause));
        room();
    }

    void handshakeFailed(PeerHandler link, Throwable cause) {
        account.ofAllPeers().add(HANDSHAKE_FAILURES, 1);
        failedHandshakes.failed(link, cause);
    }

    public Set<Peer> peers() {
        return peers;
    }

    /** The peers that are connected, and the futures that wait for them. */
    public Awaited connected() {
        return connected;
    }

    /** What {@link ZMTPSocket#whenPeers} counts. */
    public Awaited awaited() {
        boolean publishes = config.type().isPublisher() || config.type() == ZMTPSocketType.RADIO;
        return publishes ? subscribers.awaited() : connected;
    }

    // Messages, on the event loop

    void received(Peer from, ZMTPMessage message) {
        reception.received(from, message);
    }

    /** Called when there may be room for what waits for it. */
    void room() {
        requests.room();
        senders.room();
        closing.check();
    }

    DirectSends directly() {
        return directly;
    }

    /** Counts messages whose connection has ended and that may or may not have arrived. */
    void unknown(Peer peer, long messages) {
        peer.counters().add(UNKNOWN, messages);
    }

    void unconfirmed(long messages) {
        account.unconfirmed(messages);
    }

    void confirmed(long messages) {
        account.unconfirmed(-messages);
        if (account.unconfirmed() == 0) {
            closing.check();
        }
    }

    // The end

    public void checkOpen() {
        if (senders.isClosed()) {
            throw new ZMTPSocketException(CLOSED, "the socket is closed");
        }
    }

    List<Peer> peerList() {
        return List.copyOf(peers);
    }

    // From any thread

    public Usage usage() {
        return usage;
    }

    public boolean namesPeers() {
        return namesPeers;
    }

    public Account account() {
        return account;
    }

    long maxAgeNanos() {
        return maxAgeNanos;
    }

    private QueueLimit effective(QueueLimit limit) {
        return config.whenFull() == WhenFull.KEEP_LATEST ? new QueueLimit(1, limit.bytes()) : limit;
    }

    /** How much may wait for one peer. */
    public QueueLimit sendLimit() {
        return sendLimit;
    }

    public void sendLimit(QueueLimit limit) {
        QueueLimit effective = effective(limit);
        sendLimit = effective;
        execute(() -> {
            senders.limit(limit);
            routing.limit(effective);
            peers.forEach(peer -> peer.limit(effective));
            room();
        });
    }
}
