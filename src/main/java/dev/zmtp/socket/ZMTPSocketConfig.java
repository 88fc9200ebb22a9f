package dev.zmtp.socket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.internal.transport.TcpTransport;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.internal.transport.UnixChannels;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.handler.ssl.SslContext;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a {@link ZMTPSocket}. Immutable. A socket keeps its settings: only how much may wait for a peer
 * can be changed later, with {@link ZMTPSocket#sendLimit}.
 *
 * <p>The settings of the protocol, such as security, the limits of messages and heartbeats, are in the
 * {@link ZMTPConfig} below it.
 */
public final class ZMTPSocketConfig {

    /** The choices for a ROUTER when a newcomer announces another peer's name. */
    public enum NameTaken {
        /** The newcomer waits for a second, as the other one may be leaving, and is then disconnected. The default. */
        REFUSE,
        /** The newcomer has the name at once, and the connection of the other one is closed. */
        TAKE_OVER
    }

    /**
     * The choices for a message whose queue is full. Where all peers share a queue (REQ, DEALER, PUSH, CLIENT,
     * SCATTER, PAIR, CHANNEL), only {@link #WAIT} and {@link #DROP_NEW} may be chosen. Elsewhere
     * {@link ZMTPSocketEvent.SlowPeer} comes first, and what is dropped is counted for the peer.
     */
    public enum WhenFull {
        /** It stays with the sender. The default, but for publishers, as one that waits keeps all peers waiting. */
        WAIT,
        /** It is dropped for this peer. The default of PUB, XPUB, RADIO and XSUB, as in RFC 29. */
        DROP_NEW,
        /** The oldest messages in the queue are dropped until this one fits. */
        DROP_OLD,
        /** The queue holds one message, the latest, of any number of frames. libzmq's CONFLATE keeps one frame. */
        KEEP_LATEST,
        /** It is dropped, and a slow peer whose oldest message has waited for {@link #slowAfter()} is disconnected. */
        DISCONNECT
    }

    private final SocketValues values;

    private ZMTPSocketConfig(SocketValues values) {
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
        return builder(TypeRules.codec(type));
    }

    /**
     * Returns a builder for sockets that speak the protocol in this way.
     *
     * @param codec has the type of the socket, and neither an encoder nor a decoder, as messages are
     *     {@code ZMTPMessage}s. It has no heartbeats unless they are set
     */
    public static Builder builder(ZMTPConfig codec) {
        return new Builder(new SocketValues(Settings.withMessages(codec)));
    }

    /** Returns a builder with the settings of this config. */
    public Builder toBuilder() {
        return new Builder(new SocketValues(values));
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

    /**
     * How many messages may wait to be sent: to one peer, or to all of them where a message is for whichever has room
     * first (REQ, DEALER, PUSH, CLIENT, SCATTER, PAIR and CHANNEL). With {@link WhenFull#KEEP_LATEST}, one. Default:
     * 1,000.
     */
    public int sendLimitMessages() {
        return values.sendLimit.messages();
    }

    /** How many bytes may wait in the same place. Default: 16 MiB. */
    public long sendLimitBytes() {
        return values.sendLimit.bytes();
    }

    /**
     * How many messages of one peer may wait to be received. Then nothing is read from it until half of them are taken.
     * Default: 1,000. A handler takes all at once, but for requests beyond {@link #maxOutstandingRequests()}.
     */
    public int receiveLimitMessages() {
        return values.receiveLimit.messages();
    }

    /** How many bytes of one peer may wait to be received. Default: 16 MiB. */
    public long receiveLimitBytes() {
        return values.receiveLimit.bytes();
    }

    /** What happens to messages if the queue is full. The default depends on the type. */
    public WhenFull whenFull() {
        return values.whenFull();
    }

    /** With {@link WhenFull#DISCONNECT}, how long the oldest message may wait. Default: 1 s. */
    public Duration slowAfter() {
        return values.slowAfter;
    }

    /** How long a message may wait for its peer before it is dropped. Default: without limit. */
    public Duration maxAge() {
        return values.maxAge;
    }

    /** How many {@link ZMTPSocket#sendAsync} may wait for room when all queues are full. Default: 64. */
    public int maxWaitingSends() {
        return values.maxWaitingSends;
    }

    /** Whether messages are queued for a peer that this socket connects to while it is away. Default: true. */
    public boolean queueWhileDown() {
        return values.queueWhileDown;
    }

    /** The greatest wait before the second attempt to connect. Default: 100 ms. */
    public Duration reconnectFirst() {
        return values.reconnectFirst;
    }

    /** The greatest wait between attempts to connect; zero if there is only one. Default: 5 s. */
    public Duration reconnectMost() {
        return values.reconnectMost;
    }

    /** How long it may take to connect, without the handshake. Default: 10 s. */
    public Duration connectTimeout() {
        return values.connectTimeout;
    }

    /** How long {@link ZMTPSocket#close()} waits for what is queued. Default: 5 s. */
    public Duration linger() {
        return values.linger;
    }

    /** What happens if a peer announces a name that another one has. Default: {@link NameTaken#REFUSE}. */
    public NameTaken nameTaken() {
        return values.nameTaken;
    }

    /**
     * How many requests may wait for their answers, of those that were sent and of those that are served. Default:
     * 10,000.
     */
    public int maxOutstandingRequests() {
        return values.maxOutstandingRequests;
    }

    /**
     * Whether the requests of a REQ have ids, as those of a DEALER do, so that a peer may have several at a time.
     * Default: false, as services that were written for other libraries may expect the empty frame first.
     */
    public boolean correlate() {
        return values.correlate;
    }

    /** The greatest number of peers at a time. Default: 100,000. */
    public int maxPeers() {
        return values.maxPeers;
    }

    /**
     * The executor on which the names of hosts are looked up, which may block. Default: one daemon thread for all
     * sockets of the process, which ends when it has been idle for a second.
     */
    public Executor resolver() {
        return values.resolver;
    }

    /** What encrypts connections that are made over {@code tcp}; null if nothing does. */
    public @Nullable SslContext tlsClient() {
        return values.tlsClient;
    }

    /** What encrypts connections that are accepted over {@code tcp}; null if nothing does. */
    public @Nullable SslContext tlsServer() {
        return values.tlsServer;
    }

    /** What adds handlers to each pipeline, before all others. */
    public BiConsumer<? super ZMTPEndpoint, ? super ChannelPipeline> pipeline() {
        return values.pipeline;
    }

    /** The options of all channels, each with a value of its type. */
    public Map<ChannelOption<?>, Object> options() {
        return Collections.unmodifiableMap(values.options);
    }

    /** The transports by their schemes. */
    Map<String, Transport> transports() {
        return Collections.unmodifiableMap(values.transports);
    }

    /** Shows the protocol's settings. */
    @Override
    public String toString() {
        return "ZMTPSocketConfig{" + values.codec + "}";
    }

    /** Collects the settings of a {@link ZMTPSocketConfig}. Not thread safe. */
    public static final class Builder {
        private final SocketValues values;

        private Builder(SocketValues values) {
            this.values = values;
        }

        /**
         * Sets the event loops. A socket uses one of them. The caller shuts the group down after the sockets are
         * closed.
         */
        public Builder group(EventLoopGroup group) {
            values.group = Objects.requireNonNull(group, "group");
            return this;
        }

        /**
         * Changes settings of the protocol, such as the identity, the mechanism and the heartbeats, and leaves the
         * others as they are: {@code codec(c -> c.localIdentity("worker-1"))}.
         *
         * @throws IllegalArgumentException if it changes the type of the socket, or sets an encoder or a decoder
         */
        public Builder codec(Consumer<? super ZMTPConfig.Builder> changes) {
            values.codec = Settings.codec(values.codec, changes);
            return this;
        }

        /**
         * Sets how much may wait to be sent, both at least 1. A message is taken while less waits, so one that is
         * larger than {@code bytes} still passes.
         */
        public Builder sendLimit(int messages, long bytes) {
            values.sendLimit = new QueueLimit(messages, bytes);
            return this;
        }

        /** Sets how much of one peer may wait to be received, both at least 1. */
        public Builder receiveLimit(int messages, long bytes) {
            values.receiveLimit = new QueueLimit(messages, bytes);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#whenFull()}. */
        public Builder whenFull(WhenFull whenFull) {
            values.whenFull = Objects.requireNonNull(whenFull, "whenFull");
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#slowAfter()}, at least 1 ms. */
        public Builder slowAfter(Duration timeout) {
            values.slowAfter = Settings.positive("slowAfter", timeout);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxAge()}, at least 1 ms. */
        public Builder maxAge(Duration maxAge) {
            values.maxAge = Settings.positive("maxAge", maxAge);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxWaitingSends()}, at least 0. */
        public Builder maxWaitingSends(int sends) {
            values.maxWaitingSends = Settings.atLeast("maxWaitingSends", sends, 0);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#queueWhileDown()}. */
        public Builder queueWhileDown(boolean queueWhileDown) {
            values.queueWhileDown = queueWhileDown;
            return this;
        }

        /**
         * Sets how long a connector waits between attempts. The bound of the wait doubles from {@code first}, at least
         * 1 ms, to {@code most}, and begins anew after a connection that lived for 10 s. After a refusal by
         * authentication it is a second to 30 s; after a peer that cannot fit, 30 s. The wait is between half of the
         * bound and all of it. With zero for both, the first failure ends the connector, and messages for it fail.
         */
        public Builder reconnect(Duration first, Duration most) {
            boolean never = first.isZero() && most.isZero();
            values.reconnectFirst = never ? first : Settings.positive("first", first);
            values.reconnectMost = Settings.notLess(most, first);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#connectTimeout()}, from 1 ms to 24 days. */
        public Builder connectTimeout(Duration timeout) {
            values.connectTimeout = Settings.connectTimeout(timeout);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#linger()}, at least 0. */
        public Builder linger(Duration linger) {
            values.linger = Settings.notNegative("linger", linger);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#nameTaken()}. */
        public Builder nameTaken(NameTaken nameTaken) {
            values.nameTaken = Objects.requireNonNull(nameTaken, "nameTaken");
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxOutstandingRequests()}, 1 to 4,194,303. */
        public Builder maxOutstandingRequests(int requests) {
            values.maxOutstandingRequests = Settings.outstandingRequests(requests);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#correlate()}, of a REQ. */
        public Builder correlate(boolean correlate) {
            values.correlate = correlate;
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#maxPeers()}, at least 1. */
        public Builder maxPeers(int peers) {
            values.maxPeers = Settings.atLeast("maxPeers", peers, 1);
            return this;
        }

        /** Sets {@link ZMTPSocketConfig#resolver()}. */
        public Builder resolver(Executor resolver) {
            values.resolver = Objects.requireNonNull(resolver, "resolver");
            return this;
        }

        /**
         * Encrypts connections over {@code tcp}: those that are made here with the context of a client, those that are
         * accepted with the context of a server. Call it twice for a socket that does both. The context of a client
         * checks that the certificate is for the host connected to if its parameters say so.
         */
        public Builder tls(SslContext context) {
            if (context.isClient()) {
                values.tlsClient = context;
            } else {
                values.tlsServer = context;
            }
            return this;
        }

        /**
         * Adds handlers to each pipeline, before all others, such as the handler of a proxy. Called on the event loop,
         * with what was bound or connected, which tells one from the other.
         */
        public Builder pipeline(BiConsumer<? super ZMTPEndpoint, ? super ChannelPipeline> pipeline) {
            values.pipeline = Objects.requireNonNull(pipeline, "pipeline");
            return this;
        }

        /**
         * Sets an option of the channels of all connections, or of the listeners if it is {@code SO_BACKLOG}. An option
         * that a transport does not know is logged.
         */
        public <T> Builder option(ChannelOption<T> option, T value) {
            values.options.put(Objects.requireNonNull(option, "option"), Objects.requireNonNull(value, "value"));
            return this;
        }

        /**
         * Sets the channels of {@code tcp}, which have to fit the event loops of the {@linkplain #group group}:
         * {@code tcpChannels(EpollSocketChannel::new, EpollServerSocketChannel::new)}. Default: NIO.
         */
        public Builder tcpChannels(
                ChannelFactory<? extends Channel> channels, ChannelFactory<? extends ServerChannel> serverChannels) {
            return transport(new TcpTransport(channels, serverChannels));
        }

        /**
         * As {@link #tcpChannels}, for {@code ipc}, and for {@code shm}, whose two sides meet at such a socket.
         *
         * @param addresses makes the address of a path, such as {@code DomainSocketAddress::new}; the path of an
         *     abstract name begins with the character 0
         */
        public Builder ipcChannels(
                ChannelFactory<? extends Channel> channels,
                ChannelFactory<? extends ServerChannel> serverChannels,
                Function<String, ? extends SocketAddress> addresses) {
            values.add(new UnixChannels(channels, serverChannels, addresses));
            return this;
        }

        /** Adds a transport, or replaces the one of the same scheme. */
        Builder transport(Transport transport) {
            values.add(transport);
            return this;
        }

        /** Returns a config of these settings; the builder may be used again. */
        public ZMTPSocketConfig build() {
            TypeRules.checkHeartbeats(values.codec);
            TypeRules.checkWhenFull(values.codec.socketType(), values.whenFull());
            TypeRules.checkCorrelate(values.codec.socketType(), values.correlate);
            return new ZMTPSocketConfig(new SocketValues(values));
        }
    }
}
