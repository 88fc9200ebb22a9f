package dev.zmtp.internal.socket.context;

import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.internal.transport.InprocTransport;
import dev.zmtp.internal.transport.IpcTransport;
import dev.zmtp.internal.transport.Lookup;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.internal.transport.SharedMemoryTransport;
import dev.zmtp.internal.transport.TcpTransport;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.internal.transport.UnixChannels;
import dev.zmtp.internal.transport.WebSocketTransport;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketConfig.ReceiveOverflowPolicy;
import dev.zmtp.socket.ZMTPSocketConfig.RoutingIdConflictPolicy;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import java.net.UnixDomainSocketAddress;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The values behind a {@link ZMTPSocketConfig} and its builder, with their defaults. The builder has checked them. The
 * values of a config do not change.
 * <p>A copy is a clone, so that no setting can be missed. Only the collections are mutable, and they are copied.
 */
public final class SocketValues implements Cloneable {

    public ZMTPConfig codec;
    public Map<ChannelOption<?>, Object> options = new LinkedHashMap<>();
    public Map<String, Transport> transports = new LinkedHashMap<>();
    public @Nullable EventLoopGroup group;
    public QueueLimit sendQueueLimit = QueueLimit.DEFAULT;
    public QueueLimit receiveQueueLimit = QueueLimit.DEFAULT;
    public @Nullable OverflowPolicy overflowPolicy;
    public ReceiveOverflowPolicy receiveOverflowPolicy = ReceiveOverflowPolicy.WAIT;
    public Duration slowPeerTimeout = Duration.ofSeconds(1);
    public Duration maxMessageAge = Settings.FOREVER;
    public int maxWaitingSends = 64;
    public boolean queueWhileDown = true;
    public Duration initialReconnectDelay = Duration.ofMillis(100);
    public Duration maxReconnectDelay = Duration.ofSeconds(5);
    public Duration connectTimeout = Duration.ofSeconds(10);
    public Duration linger = Duration.ofSeconds(5);
    public RoutingIdConflictPolicy routingIdConflictPolicy = RoutingIdConflictPolicy.REFUSE;

    /** Unmodifiable; null if they are not set. */
    public @Nullable Set<PosixFilePermission> ipcPermissions;

    public int maxOutstandingRequests = 10_000;
    public boolean correlateRequests;
    public int maxPeers = 100_000;
    public @Nullable BiPredicate<? super ZMTPPeer, ? super ByteBuf> subscriptionFilter;
    public long maxSubscriptionsMemory = Math.max(1, Runtime.getRuntime().maxMemory() / 8);
    public Executor resolverExecutor = Lookup.SHARED;
    public @Nullable Supplier<SslContext> tlsClient;
    public @Nullable Supplier<SslContext> tlsServer;
    public @Nullable ZMTPHandshakeLimiter handshakeLimiter = new ZMTPHandshakeLimiter();
    public @Nullable ZMTPCapture capture;
    public ZMTPWebSocket webSocket = ZMTPWebSocket.DEFAULT;
    public BiConsumer<? super ZMTPEndpoint, ? super ChannelPipeline> pipelineInitializer = (endpoint, added) -> {};

    /** Creates the defaults. */
    public SocketValues(ZMTPConfig codec) {
        this.codec = codec;
        add(new TcpTransport(NioSocketChannel::new, NioServerSocketChannel::new));
        add(new UnixChannels(
                NioDomainSocketChannel::new, NioServerDomainSocketChannel::new, UnixDomainSocketAddress::of));
        add(new InprocTransport());
    }

    /** Returns a copy that shares no mutable state. */
    public SocketValues copy() {
        try {
            SocketValues copy = (SocketValues) clone();
            copy.options = new LinkedHashMap<>(options);
            copy.transports = new LinkedHashMap<>(transports);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the limit of queued outgoing messages in this config. */
    public static QueueLimit limitOfSends(ZMTPSocketConfig config) {
        return new QueueLimit(config.sendQueueLimitMessages(), config.sendQueueLimitBytes());
    }

    /** Returns the limit of queued received messages in this config. */
    public static QueueLimit limitOfReceives(ZMTPSocketConfig config) {
        return new QueueLimit(config.receiveQueueLimitMessages(), config.receiveQueueLimitBytes());
    }

    /** Adds the transport, or replaces the transport with the same scheme. */
    public void add(Transport transport) {
        transports.put(transport.scheme(), transport);
    }

    /** Adds or replaces the transports on TCP. */
    public void add(TcpTransport tcp) {
        add((Transport) tcp);
        add(new WebSocketTransport(tcp, false));
        add(new WebSocketTransport(tcp, true));
    }

    /**
     * Adds or replaces both transports that need these channels. The two sides of shared memory also meet at a Unix
     * domain socket.
     */
    public void add(UnixChannels unix) {
        add(new IpcTransport(unix));
        add(new SharedMemoryTransport(unix));
    }

    /** Returns the configured policy, or the default of the type. */
    public OverflowPolicy overflowPolicy() {
        return overflowPolicy != null ? overflowPolicy : TypeRules.overflowPolicy(codec.socketType());
    }
}
