package dev.zmtp.socket;

import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.internal.transport.TcpTransport;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.internal.transport.UnixChannels;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.handler.ssl.SslContext;
import java.net.SocketAddress;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Setters of {@link ZMTPSocketConfig.Builder}. The accessors in {@link ZMTPSocketConfig} document each setting, its
 * bounds and its default.
 *
 * <p>A value that is out of bounds is refused at once, with an {@link IllegalArgumentException}. Settings that
 * contradict each other are refused by {@link ZMTPSocketConfig.Builder#build()}, so their order does not matter.
 */
public abstract sealed class ZMTPSocketSettings permits ZMTPSocketConfig.Builder {

    final SocketValues values;

    ZMTPSocketSettings(SocketValues values) {
        this.values = values;
    }

    private ZMTPSocketConfig.Builder self() {
        return (ZMTPSocketConfig.Builder) this;
    }

    /**
     * Sets the event loop group, of which a socket uses a single event loop. The caller shuts the group down after the
     * sockets are closed.
     */
    public ZMTPSocketConfig.Builder group(EventLoopGroup group) {
        values.group = Objects.requireNonNull(group, "group");
        return self();
    }

    /**
     * Changes protocol settings, such as the identity, the mechanism and the heartbeats, and leaves other settings
     * unchanged: {@code codec(c -> c.localIdentity("worker-1"))}.
     *
     * @throws IllegalArgumentException if it changes the type of the socket, or sets an encoder or a decoder
     */
    public ZMTPSocketConfig.Builder codec(Consumer<? super ZMTPConfig.Builder> changes) {
        values.codec = Settings.codec(values.codec, changes);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#sendQueueLimitMessages()} and {@link ZMTPSocketConfig#sendQueueLimitBytes()}. */
    public ZMTPSocketConfig.Builder sendQueueLimit(int messages, long bytes) {
        values.sendQueueLimit = new QueueLimit(messages, bytes);
        return self();
    }

    /**
     * Sets {@link ZMTPSocketConfig#receiveQueueLimitMessages()} and {@link ZMTPSocketConfig#receiveQueueLimitBytes()}.
     */
    public ZMTPSocketConfig.Builder receiveQueueLimit(int messages, long bytes) {
        values.receiveQueueLimit = new QueueLimit(messages, bytes);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#overflowPolicy()}. */
    public ZMTPSocketConfig.Builder overflowPolicy(ZMTPSocketConfig.OverflowPolicy policy) {
        values.overflowPolicy = Objects.requireNonNull(policy, "policy");
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#receiveOverflowPolicy()}. */
    public ZMTPSocketConfig.Builder receiveOverflowPolicy(ZMTPSocketConfig.ReceiveOverflowPolicy policy) {
        values.receiveOverflowPolicy = Objects.requireNonNull(policy, "policy");
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#slowPeerTimeout()}. */
    public ZMTPSocketConfig.Builder slowPeerTimeout(Duration timeout) {
        values.slowPeerTimeout = Settings.positive("slowPeerTimeout", timeout);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#maxMessageAge()}. */
    public ZMTPSocketConfig.Builder maxMessageAge(Duration maxMessageAge) {
        values.maxMessageAge = Settings.positive("maxMessageAge", maxMessageAge);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#maxWaitingSends()}. */
    public ZMTPSocketConfig.Builder maxWaitingSends(int sends) {
        values.maxWaitingSends = Settings.atLeast("maxWaitingSends", sends, 0);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#queueWhileDown()}. */
    public ZMTPSocketConfig.Builder queueWhileDown(boolean queueWhileDown) {
        values.queueWhileDown = queueWhileDown;
        return self();
    }

    /**
     * Sets {@link ZMTPSocketConfig#initialReconnectDelay()} and {@link ZMTPSocketConfig#maxReconnectDelay()}. If both
     * are zero, the first failure ends the connector, and its messages fail.
     */
    public ZMTPSocketConfig.Builder reconnectDelay(Duration initial, Duration max) {
        boolean never = initial.isZero() && max.isZero();
        values.initialReconnectDelay = never ? initial : Settings.positive("initial", initial);
        values.maxReconnectDelay = Settings.notLess(max, initial);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#connectTimeout()}. */
    public ZMTPSocketConfig.Builder connectTimeout(Duration timeout) {
        values.connectTimeout = Settings.connectTimeout(timeout);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#linger()}. */
    public ZMTPSocketConfig.Builder linger(Duration linger) {
        values.linger = Settings.notNegative("linger", linger);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#routingIdConflictPolicy()}. */
    public ZMTPSocketConfig.Builder routingIdConflictPolicy(ZMTPSocketConfig.RoutingIdConflictPolicy policy) {
        values.routingIdConflictPolicy = Objects.requireNonNull(policy, "policy");
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#ipcPermissions()}. Null means the permissions of any new file. */
    public ZMTPSocketConfig.Builder ipcPermissions(@Nullable Set<PosixFilePermission> permissions) {
        values.ipcPermissions = permissions == null ? null : Set.copyOf(permissions);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#maxOutstandingRequests()}. */
    public ZMTPSocketConfig.Builder maxOutstandingRequests(int requests) {
        values.maxOutstandingRequests = Settings.outstandingRequests(requests);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#correlateRequests()}, of a REQ. */
    public ZMTPSocketConfig.Builder correlateRequests(boolean correlateRequests) {
        values.correlateRequests = correlateRequests;
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#maxPeers()}. */
    public ZMTPSocketConfig.Builder maxPeers(int peers) {
        values.maxPeers = Settings.atLeast("maxPeers", peers, 1);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#subscriptionFilter()}. Null means that each topic is allowed. */
    public ZMTPSocketConfig.Builder subscriptionFilter(
            @Nullable BiPredicate<? super ZMTPPeer, ? super ByteBuf> filter) {
        values.subscriptionFilter = filter;
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#maxSubscriptionsMemory()}. */
    public ZMTPSocketConfig.Builder maxSubscriptionsMemory(long bytes) {
        values.maxSubscriptionsMemory = Settings.atLeast("maxSubscriptionsMemory", bytes, 1L);
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#resolverExecutor()}. */
    public ZMTPSocketConfig.Builder resolverExecutor(Executor executor) {
        values.resolverExecutor = Objects.requireNonNull(executor, "executor");
        return self();
    }

    /**
     * Encrypts {@code tcp} connections, and sets the context that {@code wss} needs. {@code ws} is never encrypted. A
     * client context is for outgoing connections, and a server context for accepted connections. Call this method twice
     * for a socket with both. A client context checks that the certificate is for the host connected to if its
     * parameters require this.
     */
    public ZMTPSocketConfig.Builder tls(SslContext context) {
        Objects.requireNonNull(context, "context");
        return tls(() -> context);
    }

    /**
     * Like {@link #tls(SslContext)}, with a context that can be different for each connection, so that a certificate
     * can be renewed without a restart. Existing connections keep their context.
     *
     * @param contexts called now to determine whether it is for a client or a server, which must not change; later
     *     called for each connection on the event loop, and by each {@code bind} and {@code connect} on the caller's
     *     thread. It must not block, so it should return a context that another thread has loaded. If it throws or
     *     returns null, the connection fails
     */
    public ZMTPSocketConfig.Builder tls(Supplier<? extends SslContext> contexts) {
        boolean isClient = contexts.get().isClient();
        Supplier<SslContext> checked = () -> {
            SslContext context = contexts.get();
            if (context == null || context.isClient() != isClient) { // which must not end in a connection without TLS
                throw new IllegalStateException("tls: " + context + " (expected: an SslContext of a "
                        + (isClient ? "client" : "server") + ", as the first was)");
            }
            return context;
        };
        if (isClient) {
            values.tlsClient = checked;
        } else {
            values.tlsServer = checked;
        }
        return self();
    }

    /**
     * Sets {@link ZMTPSocketConfig#handshakeLimiter()}. It can have other limits, be shared with other servers of this
     * process, or determine addresses behind a proxy. Null means no limiter.
     */
    public ZMTPSocketConfig.Builder handshakeLimiter(@Nullable ZMTPHandshakeLimiter limiter) {
        values.handshakeLimiter = limiter;
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#capture()}. */
    public ZMTPSocketConfig.Builder capture(@Nullable ZMTPCapture capture) {
        values.capture = capture;
        return self();
    }

    /**
     * Adds handlers to each pipeline, before all others except the {@link #handshakeLimiter}, such as the handler of a
     * proxy. The callback is called on the event loop with the bound or connecting endpoint, which distinguishes
     * accepted from outgoing connections.
     */
    public ZMTPSocketConfig.Builder pipelineInitializer(
            BiConsumer<? super ZMTPEndpoint, ? super ChannelPipeline> initializer) {
        values.pipelineInitializer = Objects.requireNonNull(initializer, "initializer");
        return self();
    }

    /**
     * Sets an option of the channels of all connections, or of the listeners if it is {@code SO_BACKLOG}. An option
     * that is unknown to a transport is logged.
     */
    public <T> ZMTPSocketConfig.Builder option(ChannelOption<T> option, T value) {
        values.options.put(Objects.requireNonNull(option, "option"), Objects.requireNonNull(value, "value"));
        return self();
    }

    /** Sets {@link ZMTPSocketConfig#webSocket()}. */
    public ZMTPSocketConfig.Builder webSocket(ZMTPWebSocket settings) {
        values.webSocket = Objects.requireNonNull(settings, "settings");
        return self();
    }

    /**
     * Sets the channel types of {@code tcp}, {@code ws} and {@code wss}, which must match the event loops of the
     * {@linkplain #group group}: {@code tcpChannels(EpollSocketChannel::new, EpollServerSocketChannel::new)}. Default:
     * NIO.
     */
    public ZMTPSocketConfig.Builder tcpChannels(
            ChannelFactory<? extends Channel> channels, ChannelFactory<? extends ServerChannel> serverChannels) {
        values.add(new TcpTransport(channels, serverChannels));
        return self();
    }

    /**
     * Like {@link #tcpChannels}, for {@code ipc}, and for {@code shm}, whose two sides meet at such a socket.
     *
     * @param addresses function that returns the address of a path, such as {@code DomainSocketAddress::new}; the path
     *     of an abstract name begins with the character 0
     */
    public ZMTPSocketConfig.Builder ipcChannels(
            ChannelFactory<? extends Channel> channels,
            ChannelFactory<? extends ServerChannel> serverChannels,
            Function<String, ? extends SocketAddress> addresses) {
        values.add(new UnixChannels(channels, serverChannels, addresses));
        return self();
    }

    /** Adds a transport, replacing any transport of the same scheme. */
    ZMTPSocketConfig.Builder transport(Transport transport) {
        values.add(transport);
        return self();
    }
}
