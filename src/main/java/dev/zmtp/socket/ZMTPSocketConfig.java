package dev.zmtp.socket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.shm.SharedMemoryChannel;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a {@link ZMTPSocket}. Immutable. A socket keeps its settings: only how much may wait for a peer
 * can be changed later, with {@link ZMTPSocket#sendLimit}.
 *
 * <p>The settings of the protocol, such as security, the limits of messages and heartbeats, are in the
 * {@link ZMTPConfig} below it.
 */
public final class ZMTPSocketConfig {

    private static final Duration HEARTBEAT = Duration.ofSeconds(30);

    /** What happens if a peer connects whose identity another one has. */
    public enum DuplicateIdentity {
        /** The new one is refused. */
        REJECT,
        /** The new one takes over the name, and the connection of the old one is closed. */
        TAKE_OVER,
        /**
         * The new one takes over the name if the connection of the old one is ending or ends within a second. The
         * default.
         */
        TAKE_OVER_IF_CLOSING
    }

    private final Builder values;

    private ZMTPSocketConfig(Builder values) {
        this.values = values;
    }

    /** Returns a config with all defaults, which has heartbeats as with {@link #builder(ZMTPSocketType)}. */
    public static ZMTPSocketConfig of(ZMTPSocketType type) {
        return builder(type).build();
    }

    /**
     * Returns a builder with the defaults, and a heartbeat every 30 s. Peers of ZMTP 3.0 also get PINGs, as JeroMQ and
     * NetMQ answer them. One that closes its connection instead gets no more.
     */
    public static Builder builder(ZMTPSocketType type) {
        return builder(ZMTPConfig.builder()
                .socketType(type)
                .heartbeatInterval(HEARTBEAT)
                .heartbeatTimeout(HEARTBEAT)
                .heartbeatZmtp30Peers(true)
                .build());
    }

    /**
     * Returns a builder for sockets that speak the protocol in this way.
     *
     * @param codec has the type of the socket, and neither an encoder nor a decoder, as messages are
     *     {@code ZMTPMessage}s. It has no heartbeats unless they are set
     */
    public static Builder builder(ZMTPConfig codec) {
        return new Builder(withMessages(codec));
    }

    private static ZMTPConfig withMessages(ZMTPConfig codec) {
        if (codec.encoder() != null || codec.decoder() != null) {
            throw new IllegalArgumentException("codec: " + codec + " (expected: one without an encoder and a decoder)");
        }
        return codec;
    }

    /** Returns a builder with the settings of this config. */
    public Builder toBuilder() {
        return values.copy();
    }

    /** The type of the socket. */
    public ZMTPSocketType type() {
        return values.codec.socketType();
    }

    /** The settings of the protocol. */
    public ZMTPConfig codec() {
        return values.codec;
    }

    /** The event loops, of which a socket uses one; null for those that all such sockets of the process share. */
    public @Nullable EventLoopGroup group() {
        return values.group;
    }

    /** How much may wait to be sent to one peer. Default: 1,000 messages and 16 MiB. */
    public ZMTPQueueLimit sendLimit() {
        return values.slowPeer() == ZMTPSlowPeer.KEEP_LATEST
                ? new ZMTPQueueLimit(1, values.sendLimit.bytes())
                : values.sendLimit;
    }

    /** How much may be on its way to the event loop if the queues do not decide that. */
    ZMTPQueueLimit intakeLimit() {
        return values.sendLimit;
    }

    /**
     * How much of one peer may wait to be received. Beyond that, nothing is read from it until half of it is taken.
     * Default: 1,000 messages and 16 MiB. Not used by sockets with a handler, which keep no messages.
     */
    public ZMTPQueueLimit receiveLimit() {
        return values.receiveLimit;
    }

    /** What happens to messages for a peer whose queue is full. The default depends on the type. */
    public ZMTPSlowPeer slowPeer() {
        return values.slowPeer();
    }

    /** With {@link ZMTPSlowPeer#DISCONNECT}, how long the oldest message may wait. Default: 10 s. */
    public Duration slowPeerTimeout() {
        return values.slowPeerTimeout;
    }

    /** How long a message may wait for its peer before it is dropped. Default: without limit. */
    public Duration maxAge() {
        return values.maxAge;
    }

    long maxAgeNanos() {
        return values.maxAgeNanos;
    }

    /** How many sends may wait for room when all queues are full. Default: 64. */
    public int maxWaitingSends() {
        return values.maxWaitingSends;
    }

    /** Whether messages are queued for a peer that this socket connects to while it is away. Default: true. */
    public boolean queueWhileDown() {
        return values.queueWhileDown;
    }

    /** When a connector tries again. */
    public ZMTPReconnect reconnect() {
        return values.reconnect;
    }

    /** How long it may take to connect, without the handshake. Default: 10 s. */
    public Duration connectTimeout() {
        return values.connectTimeout;
    }

    /** How long {@link ZMTPSocket#close()} waits for what is queued. Default: 5 s. */
    public Duration linger() {
        return values.linger;
    }

    /** What happens if a peer connects whose identity another one has. */
    public DuplicateIdentity duplicateIdentity() {
        return values.duplicateIdentity;
    }

    /**
     * How many requests may wait for their answers, of those that were sent and of those that are served. Default:
     * 100,000.
     */
    public int maxOutstandingRequests() {
        return values.maxOutstandingRequests;
    }

    /** The greatest number of peers at a time. Default: 100,000. */
    public int maxPeers() {
        return values.maxPeers;
    }

    /** The executor on which names are resolved, which may block. Default: {@link ForkJoinPool#commonPool()}. */
    public Executor resolver() {
        return values.resolver;
    }

    @Nullable
    TlsContexts tls() {
        return values.tls;
    }

    Consumer<? super ChannelPipeline> pipeline() {
        return values.pipeline;
    }

    Map<ChannelOption<?>, Object> options() {
        return values.options;
    }

    @Nullable
    ZMTPTransport transport(String scheme) {
        return values.transports.get(scheme);
    }

    String schemes() {
        return String.join(", ", values.transports.keySet());
    }

    /** Shows the protocol's settings. */
    @Override
    public String toString() {
        return "ZMTPSocketConfig{" + values.codec + "}";
    }

    /** Collects the settings of a {@link ZMTPSocketConfig}. Not thread safe. */
    public static final class Builder {
        private ZMTPConfig codec;
        private final Map<ChannelOption<?>, Object> options = new LinkedHashMap<>();
        private final Map<String, ZMTPTransport> transports = new LinkedHashMap<>();
        private @Nullable EventLoopGroup group;
        private ZMTPQueueLimit sendLimit = ZMTPQueueLimit.DEFAULT;
        private ZMTPQueueLimit receiveLimit = ZMTPQueueLimit.DEFAULT;
        private @Nullable ZMTPSlowPeer slowPeer;
        private Duration slowPeerTimeout = Duration.ofSeconds(10);
        private Duration maxAge = Settings.FOREVER;
        private long maxAgeNanos = Long.MAX_VALUE;
        private int maxWaitingSends = 64;
        private boolean queueWhileDown = true;
        private ZMTPReconnect reconnect = ZMTPReconnect.DEFAULT;
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration linger = Duration.ofSeconds(5);
        private DuplicateIdentity duplicateIdentity = DuplicateIdentity.TAKE_OVER_IF_CLOSING;
        private int maxOutstandingRequests = 100_000;
        private int maxPeers = 100_000;
        private Executor resolver = ForkJoinPool.commonPool();
        private @Nullable TlsContexts tls;
        private Consumer<? super ChannelPipeline> pipeline = added -> {};

        private Builder(ZMTPConfig codec) {
            this.codec = codec;
            transport(ZMTPTransport.tcp(NioSocketChannel::new, NioServerSocketChannel::new));
            transport(ZMTPTransport.ipc(
                    NioDomainSocketChannel::new, NioServerDomainSocketChannel::new, UnixDomainSocketAddress::of));
            transport(ZMTPTransport.sharedMemory(SharedMemoryChannel::new, SharedMemoryServerChannel::new));
            transport(new InprocTransport());
        }

        private Builder copy() {
            Builder copy = new Builder(codec);
            copy.options.putAll(options);
            copy.transports.putAll(transports);
            copy.group = group;
            copy.sendLimit = sendLimit;
            copy.receiveLimit = receiveLimit;
            copy.slowPeer = slowPeer;
            copy.slowPeerTimeout = slowPeerTimeout;
            copy.maxAge = maxAge;
            copy.maxAgeNanos = maxAgeNanos;
            copy.maxWaitingSends = maxWaitingSends;
            copy.queueWhileDown = queueWhileDown;
            copy.reconnect = reconnect;
            copy.connectTimeout = connectTimeout;
            copy.linger = linger;
            copy.duplicateIdentity = duplicateIdentity;
            copy.maxOutstandingRequests = maxOutstandingRequests;
            copy.maxPeers = maxPeers;
            copy.resolver = resolver;
            copy.tls = tls;
            copy.pipeline = pipeline;
            return copy;
        }

        private ZMTPSlowPeer slowPeer() {
            return slowPeer != null ? slowPeer : Patterns.slowPeer(codec.socketType());
        }

        /**
         * Sets the event loops. A socket uses one of them. The caller shuts the group down after the sockets are
         * closed.
         */
        public Builder group(EventLoopGroup group) {
            this.group = Objects.requireNonNull(group, "group");
            return this;
        }

        /**
         * Changes settings of the protocol, such as the identity, the mechanism and the heartbeats, and leaves the
         * others as they are: {@code codec(c -> c.localIdentity("worker-1"))}.
         *
         * @throws IllegalArgumentException if it changes the type of the socket, or sets an encoder or a decoder
         */
        public Builder codec(Consumer<? super ZMTPConfig.Builder> changes) {
            ZMTPConfig.Builder changed = codec.toBuilder();
            changes.accept(changed);
            ZMTPConfig result = withMessages(changed.build());
            if (result.socketType() != codec.socketType()) {
                throw new IllegalArgumentException(
                        "socketType: " + result.socketType() + " (expected: " + codec.socketType() + ")");
            }
            this.codec = result;
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#sendLimit()}. */
        public Builder sendLimit(ZMTPQueueLimit limit) {
            this.sendLimit = Objects.requireNonNull(limit, "limit");
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#receiveLimit()}. */
        public Builder receiveLimit(ZMTPQueueLimit limit) {
            this.receiveLimit = Objects.requireNonNull(limit, "limit");
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#slowPeer()}. */
        public Builder slowPeer(ZMTPSlowPeer slowPeer) {
            this.slowPeer = Objects.requireNonNull(slowPeer, "slowPeer");
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#slowPeerTimeout()}, at least 1 ms. */
        public Builder slowPeerTimeout(Duration timeout) {
            this.slowPeerTimeout = Settings.positive("slowPeerTimeout", timeout);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxAge()}, at least 1 ms. */
        public Builder maxAge(Duration maxAge) {
            this.maxAge = Settings.positive("maxAge", maxAge);
            this.maxAgeNanos = Settings.nanos(maxAge);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxWaitingSends()}, at least 0. */
        public Builder maxWaitingSends(int sends) {
            this.maxWaitingSends = Settings.atLeast("maxWaitingSends", sends, 0);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#queueWhileDown()}. */
        public Builder queueWhileDown(boolean queueWhileDown) {
            this.queueWhileDown = queueWhileDown;
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#reconnect()}. */
        public Builder reconnect(ZMTPReconnect reconnect) {
            this.reconnect = Objects.requireNonNull(reconnect, "reconnect");
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#connectTimeout()}, from 1 ms to 24 days. */
        public Builder connectTimeout(Duration timeout) {
            Settings.positive("connectTimeout", timeout);
            if (timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
                throw new IllegalArgumentException("connectTimeout: " + timeout + " (expected: <= 24 days)");
            }
            this.connectTimeout = timeout;
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#linger()}, at least 0. */
        public Builder linger(Duration linger) {
            this.linger = Settings.notNegative("linger", linger);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#duplicateIdentity()}. */
        public Builder duplicateIdentity(DuplicateIdentity duplicateIdentity) {
            this.duplicateIdentity = Objects.requireNonNull(duplicateIdentity, "duplicateIdentity");
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxOutstandingRequests()}, at least 1. */
        public Builder maxOutstandingRequests(int requests) {
            this.maxOutstandingRequests = Settings.atLeast("maxOutstandingRequests", requests, 1);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxPeers()}, at least 1. */
        public Builder maxPeers(int peers) {
            this.maxPeers = Settings.atLeast("maxPeers", peers, 1);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#resolver()}. */
        public Builder resolver(Executor resolver) {
            this.resolver = Objects.requireNonNull(resolver, "resolver");
            return this;
        }

        /**
         * Encrypts connections over {@code tcp}: those that are made here with the context of a client, those that are
         * accepted with the context of a server. Call it twice for a socket that does both. The context of a client
         * checks that the certificate is for the host connected to if its parameters say so.
         */
        public Builder tls(SslContext context) {
            this.tls = TlsContexts.with(tls, context);
            return this;
        }

        /**
         * Adds handlers to each pipeline, before all others, such as the handler of a proxy. Called on the event loop.
         */
        public Builder pipeline(Consumer<? super ChannelPipeline> pipeline) {
            this.pipeline = Objects.requireNonNull(pipeline, "pipeline");
            return this;
        }

        /**
         * Sets an option of the channels of all connections, or of the listeners if it is {@code SO_BACKLOG}. An option
         * that a transport does not know is logged.
         */
        public <T> Builder option(ChannelOption<T> option, T value) {
            options.put(Objects.requireNonNull(option, "option"), Objects.requireNonNull(value, "value"));
            return this;
        }

        /** Adds a transport, or replaces the one of the same scheme. */
        public Builder transport(ZMTPTransport transport) {
            transports.put(transport.scheme(), transport);
            return this;
        }

        /** Returns a config of these settings; the builder may be used again. */
        public ZMTPSocketConfig build() {
            return new ZMTPSocketConfig(copy());
        }
    }
}
