package dev.zmtp.socket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SharedGroup;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContext;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of a {@link ZMTPSocket}. Immutable. The settings of a socket do not change, except for the send queue
 * limit, which {@link ZMTPSocket#resizeSendQueue} can change later.
 *
 * <p>Protocol settings, such as security, message limits and heartbeats, are in the underlying {@link ZMTPConfig}.
 */
public final class ZMTPSocketConfig {

    /** Policy of a ROUTER for a new peer that announces another peer's routing id. */
    public enum RoutingIdConflictPolicy {
        /**
         * The new peer waits for up to a second, because the other peer may be leaving, or for up to 30 seconds while
         * the other peer is not read, because its end cannot be seen. If the routing id is still in use after that, the
         * new peer is disconnected. The default.
         */
        REFUSE,
        /** The new peer gets the routing id at once, and the connection of the other peer is closed. */
        TAKE_OVER
    }

    /**
     * Policy for a message whose queue is full. For types whose peers share a queue (REQ, DEALER, PUSH, CLIENT,
     * SCATTER, PAIR, CHANNEL), only {@link #WAIT} and {@link #DROP_NEW} are allowed. For other types,
     * {@link ZMTPSocketEvent.SlowPeer} is reported first, and dropped messages are counted for the peer.
     */
    public enum OverflowPolicy {
        /**
         * The message is not accepted. {@code trySend} returns false, {@code send} blocks, and {@code sendAsync} waits
         * or fails. Default for all types except PUB, XPUB, RADIO and XSUB, where waiting for one peer would delay all
         * peers.
         */
        WAIT,
        /** The message is dropped for this peer. Default for PUB, XPUB, RADIO and XSUB, as in RFC 29. */
        DROP_NEW,
        /** The oldest messages in the queue are dropped until the new message fits. */
        DROP_OLD,
        /**
         * The queue holds only the latest message, with any number of frames. With CONFLATE, libzmq keeps a single
         * frame.
         */
        KEEP_LATEST,
        /**
         * The message is dropped, and a slow peer whose oldest message has waited for {@link #slowPeerTimeout()} is
         * disconnected. A peer is slow from the time when its queue is half full until it is less than a quarter full.
         */
        DISCONNECT
    }

    /** Policy for a received message when earlier messages of its peer have not been taken. */
    public enum ReceiveOverflowPolicy {
        /** The message is queued. A peer whose queue is full is not read until there is room. The default. */
        WAIT,
        /**
         * The message, with any number of frames, replaces the queued message of its peer. The socket continues to read
         * from the peer even if messages are taken slowly. Allowed for all types that receive, except REQ and REP,
         * whose peers wait for each message.
         */
        KEEP_LATEST
    }

    private final SocketValues values;

    private ZMTPSocketConfig(SocketValues values) {
        this.values = values;
    }

    /**
     * Returns a future that completes when the event loops shared by sockets without a {@link #group()} have ended,
     * along with their threads. They end a tenth of a second after the last of these sockets is closed, unless another
     * is opened, or at once if this method is called when no such socket is open. An application that is undeployed
     * should close its sockets and then wait for this future, which never fails. The future is already complete if
     * there are no shared event loops. A socket that is opened after their end gets new event loops.
     *
     * <p>Other threads end by themselves. Threads for lookups of names and files end after a second without work,
     * threads that compute handshakes after a minute, and the thread of Netty's {@code GlobalEventExecutor}, which
     * completes this future, soon afterwards.
     *
     * @return a separate future for each call, which is retained until the end. Its blocking methods throw on an event
     *     loop
     */
    public static CompletableFuture<Void> sharedGroupTerminationFuture() {
        return SharedGroup.ended();
    }

    /** Returns a config with all defaults, including the heartbeats of {@link #builder(ZMTPSocketType)}. */
    public static ZMTPSocketConfig of(ZMTPSocketType type) {
        return builder(type).build();
    }

    /**
     * Returns a builder with the defaults. The codec has its defaults too, except for the heartbeats. The
     * {@link ZMTPConfig#heartbeatInterval() heartbeatInterval} is 30 s. The
     * {@link ZMTPConfig#heartbeatTimeout() heartbeatTimeout} is one and a half times the interval, even if the interval
     * is changed, so it is 45 s by default. PINGs are also sent to ZMTP 3.0 peers, because JeroMQ and NetMQ answer
     * them. A peer that closes its connection instead of answering gets no further PINGs. An interval of zero turns
     * heartbeats off.
     */
    public static Builder builder(ZMTPSocketType type) {
        return builder(TypeRules.codec(type));
    }

    /**
     * Returns a builder for sockets with these protocol settings.
     *
     * @param codec settings with the socket type, and without an encoder or decoder, because messages are
     *     {@code ZMTPMessage}s. Unless created with {@link ZMTPConfig#builderForSocket}, they have no heartbeats until
     *     heartbeats are set, with a timeout that is longer than the interval
     */
    public static Builder builder(ZMTPConfig codec) {
        return new Builder(new SocketValues(Settings.withMessages(codec)));
    }

    /** Returns a builder with the settings of this config. */
    public Builder toBuilder() {
        return new Builder(values.copy());
    }

    /** Returns the type of the socket. */
    public ZMTPSocketType socketType() {
        return values.codec.socketType();
    }

    /** Protocol settings. Default: those of {@link #builder(ZMTPSocketType)}. */
    public ZMTPConfig codec() {
        return values.codec;
    }

    /**
     * Event loop group, of which a socket uses a single event loop, or null for the group that all such sockets of the
     * process share. Default: none.
     */
    public @Nullable EventLoopGroup group() {
        return values.group;
    }

    /**
     * Maximum number of queued outgoing messages, per peer, or per socket for types whose peers share a queue (REQ,
     * DEALER, PUSH, CLIENT, SCATTER, PAIR and CHANNEL). Must be at least 1. Default: 1,000. With
     * {@link OverflowPolicy#KEEP_LATEST}, the queue of a peer holds 1 message instead.
     */
    public int sendQueueLimitMessages() {
        return values.sendQueueLimit.messages();
    }

    /**
     * Maximum number of bytes in the queue that {@link #sendQueueLimitMessages()} limits. Must be at least 1. Default:
     * 16 MiB. A message is accepted while the queue has fewer bytes, so a larger message still passes.
     */
    public long sendQueueLimitBytes() {
        return values.sendQueueLimit.bytes();
    }

    /**
     * Maximum number of messages of a peer that are queued to be received. Must be at least 1. Default: 1,000. When it
     * is reached, nothing is read from the peer until half of the messages are taken. A handler takes all messages at
     * once, except for requests beyond {@link #maxOutstandingRequests()}.
     */
    public int receiveQueueLimitMessages() {
        return values.receiveQueueLimit.messages();
    }

    /** Maximum number of bytes of a peer that are queued to be received. Must be at least 1. Default: 16 MiB. */
    public long receiveQueueLimitBytes() {
        return values.receiveQueueLimit.bytes();
    }

    /** Policy for a message whose queue is full. Default: that of the socket's type (see {@link OverflowPolicy}). */
    public OverflowPolicy overflowPolicy() {
        return values.overflowPolicy();
    }

    /**
     * Policy for a received message when earlier messages of its peer have not been taken. Default:
     * {@link ReceiveOverflowPolicy#WAIT}. With {@link ReceiveOverflowPolicy#KEEP_LATEST}, the receive queue limits have
     * no effect. Replaced messages are counted as {@linkplain ZMTPStats#discarded() discarded}.
     */
    public ReceiveOverflowPolicy receiveOverflowPolicy() {
        return values.receiveOverflowPolicy;
    }

    /**
     * Maximum time in the queue for the oldest message with {@link OverflowPolicy#DISCONNECT}. Must be at least 1 ms.
     * Default: 1 s.
     */
    public Duration slowPeerTimeout() {
        return values.slowPeerTimeout;
    }

    /**
     * Maximum time for which a message waits in a queue before it is dropped. A {@code sendAsync} that waits for room
     * in the queue has the same limit for that wait. A message is never sent after this time. While nothing can be
     * sent, it is dropped up to a quarter of the time later, and at most 1 s later. Must be at least 1 ms. Default: no
     * limit.
     */
    public Duration maxMessageAge() {
        return values.maxMessageAge;
    }

    /**
     * Maximum number of {@link ZMTPSocket#sendAsync} calls that wait for room when all queues are full. Must be at
     * least 0. Default: 64.
     */
    public int maxWaitingSends() {
        return values.maxWaitingSends;
    }

    /**
     * Whether messages are queued for a disconnected peer that this socket connects to. If not, the messages queued for
     * a peer are dropped when it leaves, and those for any peer when the last has left and no endpoint is bound. A
     * publisher queues no new messages for a subscriber that is away. Default: true.
     */
    public boolean queueWhileDown() {
        return values.queueWhileDown;
    }

    /**
     * Initial bound of the delay between connection attempts, which applies before the second attempt. Must be at least
     * 1 ms, or zero. Default: 100 ms. The bound doubles with each attempt up to {@link #maxReconnectDelay()}, and is
     * reset after a connection that lasted for 10 s. After an authentication refusal the bound is 1 s to 30 s, and
     * after an incompatible peer it is 30 s. A peer that does not speak ZMTP counts as a failed connection. The delay
     * is between half of the bound and the whole bound.
     */
    public Duration initialReconnectDelay() {
        return values.initialReconnectDelay;
    }

    /**
     * Maximum bound of the delay between connection attempts, not less than {@link #initialReconnectDelay()}, or zero
     * for a single attempt. Default: 5 s.
     */
    public Duration maxReconnectDelay() {
        return values.maxReconnectDelay;
    }

    /**
     * Maximum time to connect, without the handshake. Must be between 1 ms and 24 days. Default: 10 s. While a name has
     * other addresses to try, the time is at most a second.
     */
    public Duration connectTimeout() {
        return values.connectTimeout;
    }

    /**
     * Maximum time that {@link ZMTPSocket#close()} waits for messages to be sent and read. Must be at least 0. Default:
     * 5 s.
     */
    public Duration linger() {
        return values.linger;
    }

    /**
     * Policy for a peer that announces a routing id already in use. Default: {@link RoutingIdConflictPolicy#REFUSE}.
     */
    public RoutingIdConflictPolicy routingIdConflictPolicy() {
        return values.routingIdConflictPolicy;
    }

    /**
     * Permissions of the file that an {@code ipc} or {@code shm} endpoint binds, set before the file gets its path. On
     * Linux, a peer needs write permission to connect. A bind with permissions fails where the file system has none,
     * with an abstract name, and in a directory whose path has more than about 90 bytes. Default: none, that is null,
     * for the permissions of any new file, which the umask restricts.
     */
    public @Nullable Set<PosixFilePermission> ipcPermissions() {
        return values.ipcPermissions;
    }

    /**
     * Maximum number of unanswered requests, separately for sent requests and for served requests. Must be at least 1
     * and at most 4,194,303. Default: 10,000. Served requests occupy slots, which all peers share. A peer can have half
     * as many slots as remain free, and at least one slot. A single peer therefore gets at most a third of the slots.
     */
    public int maxOutstandingRequests() {
        return values.maxOutstandingRequests;
    }

    /**
     * Whether the requests of a REQ have ids like those of a DEALER, so that a peer can have several requests at a
     * time. Default: false, because services for other libraries can expect the empty frame first.
     */
    public boolean correlateRequests() {
        return values.correlateRequests;
    }

    /** Maximum number of concurrent peers. Must be at least 1. Default: 100,000. */
    public int maxPeers() {
        return values.maxPeers;
    }

    /**
     * Predicate that decides whether a subscriber of a PUB or XPUB gets a topic, or whether a DISH gets a group of a
     * RADIO, like libzmq's {@code XPUB_MANUAL}. A refused topic is ignored, and {@link ZMTPSocket#onSubscription} does
     * not report it. The peer remains connected and gets no messages for that topic. Because a topic is a prefix, a
     * predicate that refuses {@code secret} also has to refuse {@code sec} and the empty topic. The predicate is called
     * on the event loop and must not block. Its arguments are the peer and the topic, which is valid only during the
     * call. If the predicate throws, the topic is refused and a warning is logged. Default: none, so that each topic is
     * allowed.
     */
    public @Nullable BiPredicate<? super ZMTPPeer, ? super ByteBuf> subscriptionFilter() {
        return values.subscriptionFilter;
    }

    /**
     * Maximum memory on the heap for the topics or groups of all peers of a publisher, in bytes as counted by
     * {@link dev.zmtp.ZMTPTopicMatcher#memory()}. Must be at least 1. Default: an eighth of the heap. When it is
     * exceeded, one of the peers with about the highest use is disconnected, instead of a peer with few topics.
     */
    public long maxSubscriptionsMemory() {
        return values.maxSubscriptionsMemory;
    }

    /**
     * Executor for host name lookups, which can block. Default: up to eight daemon threads for all sockets of the
     * process, each of which ends after a second without work. A socket can use half of the remaining threads, and at
     * least one. Endpoints whose last lookup took more than a second share four threads, and each name is looked up
     * only once at a time. Endpoints without a host name need no executor.
     */
    public Executor resolverExecutor() {
        return values.resolverExecutor;
    }

    /**
     * TLS context for outgoing {@code tcp} connections, or null if they are not encrypted. A supplier that was set is
     * queried on each call. Default: none.
     */
    public @Nullable SslContext tlsClient() {
        return values.tlsClient == null ? null : values.tlsClient.get();
    }

    /** Like {@link #tlsClient()}, for accepted {@code tcp} connections. Default: none. */
    public @Nullable SslContext tlsServer() {
        return values.tlsServer == null ? null : values.tlsServer.get();
    }

    /**
     * Handshake limiter, or null for no limit. It is the first handler in the pipelines of accepted connections, except
     * over {@code inproc}. Sockets that share it are counted together. Default: one with the defaults of its class,
     * shared by all sockets of this config and of configs derived from it with {@link #toBuilder()}.
     */
    public @Nullable ZMTPHandshakeLimiter handshakeLimiter() {
        return values.handshakeLimiter;
    }

    /**
     * Capture of the traffic of all connections, which the caller closes after the socket, or null if nothing is
     * captured. Default: none.
     */
    public @Nullable ZMTPCapture capture() {
        return values.capture;
    }

    /** Settings of {@code ws} and {@code wss} endpoints. Default: no origin is allowed, and no header is added. */
    public ZMTPWebSocket webSocket() {
        return values.webSocket;
    }

    /**
     * Callback that adds handlers to each pipeline, before all others except the {@link #handshakeLimiter()}. Default:
     * one that adds none.
     */
    public BiConsumer<? super ZMTPEndpoint, ? super ChannelPipeline> pipelineInitializer() {
        return values.pipelineInitializer;
    }

    /** Options of all channels, each with a value of its type. Default: none. */
    public Map<ChannelOption<?>, Object> options() {
        return Collections.unmodifiableMap(values.options);
    }

    /** Returns the transports by scheme. */
    Map<String, Transport> transports() {
        return Collections.unmodifiableMap(values.transports);
    }

    /** Returns the protocol settings as text. */
    @Override
    public String toString() {
        return "ZMTPSocketConfig{" + values.codec + "}";
    }

    /** Builder of a {@link ZMTPSocketConfig}. Not thread safe. */
    public static final class Builder extends ZMTPSocketSettings {
        private Builder(SocketValues values) {
            super(values);
        }

        /** Returns a config with these settings. The builder can be reused. */
        public ZMTPSocketConfig build() {
            TypeRules.checkHeartbeats(values.codec);
            TypeRules.checkOverflowPolicy(values.codec.socketType(), values.overflowPolicy());
            TypeRules.checkReceiveOverflowPolicy(values.codec.socketType(), values.receiveOverflowPolicy);
            TypeRules.checkCorrelateRequests(values.codec.socketType(), values.correlateRequests);
            return new ZMTPSocketConfig(values.copy());
        }
    }
}
