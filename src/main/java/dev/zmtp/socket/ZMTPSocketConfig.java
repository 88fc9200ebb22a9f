package dev.zmtp.socket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SharedGroup;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.transport.Transport;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
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

    /**
     * Completes when the event loops that sockets without a {@link #group()} share have ended, with their threads. They
     * end when the last of these sockets is closed. So an application that is undeployed closes its sockets, and waits
     * for this, which ends nothing and never fails. If there are none, it is complete. A socket that is opened after
     * the end of the others has new ones.
     *
     * <p>Threads that look up names and files end by themselves when they have had nothing to do for a second, those
     * that compute handshakes after a minute, and that of Netty's {@code GlobalEventExecutor}, which completes this,
     * soon after.
     *
     * @return a future of the caller's own, which is kept until the end. It does not wait on an event loop
     */
    public static CompletableFuture<Void> sharedLoopsEnded() {
        return SharedGroup.ended();
    }

    /** Returns a config with all defaults, which has heartbeats as with {@link #builder(ZMTPSocketType)}. */
    public static ZMTPSocketConfig of(ZMTPSocketType type) {
        return builder(type).build();
    }

    /**
     * Returns a builder with the defaults. The codec has them too, but for its heartbeats: a
     * {@link ZMTPConfig#heartbeatInterval() heartbeatInterval} of 30 s, a {@link ZMTPConfig#heartbeatTimeout()
     * heartbeatTimeout} of half as long again, 45 s, which follows the interval, and PINGs also to peers of ZMTP 3.0,
     * as JeroMQ and NetMQ answer them. A peer that closes its connection instead gets no more. An interval of zero
     * turns heartbeats off.
     */
    public static Builder builder(ZMTPSocketType type) {
        return builder(TypeRules.codec(type));
    }

    /**
     * Returns a builder for sockets that speak the protocol in this way.
     *
     * @param codec has the type of the socket, and neither an encoder nor a decoder, as messages are
     *     {@code ZMTPMessage}s. Unless it is of {@link ZMTPConfig#socketBuilder}, it has no heartbeats
     *     until they are set, with a timeout that is longer than the interval
     */
    public static Builder builder(ZMTPConfig codec) {
        return new Builder(new SocketValues(Settings.withMessages(codec)));
    }

    /** Returns a builder with the settings of this config. */
    public Builder toBuilder() {
        return new Builder(values.copy());
    }

    /** The type of the socket. */
    public ZMTPSocketType type() {
        return values.codec.socketType();
    }

    /** The settings of the protocol. Default: those of {@link #builder(ZMTPSocketType)}. */
    public ZMTPConfig codec() {
        return values.codec;
    }

    /**
     * The event loops, of which a socket uses one; null for those that all such sockets of the process share. Default:
     * none.
     */
    public @Nullable EventLoopGroup group() {
        return values.group;
    }

    /**
     * Maximum number of messages that wait to be sent: at least 1. Default: 1,000. They wait for one peer, or for all
     * of them where a message is for whichever has room first (REQ, DEALER, PUSH, CLIENT, SCATTER, PAIR and CHANNEL).
     * With {@link WhenFull#KEEP_LATEST}, one waits.
     */
    public int sendLimitMessages() {
        return values.sendLimit.messages();
    }

    /**
     * Maximum number of bytes that wait in the same place: at least 1. Default: 16 MiB. A message is taken while fewer
     * wait, so one that is larger still passes.
     */
    public long sendLimitBytes() {
        return values.sendLimit.bytes();
    }

    /**
     * Maximum number of messages of one peer that wait to be received: at least 1. Default: 1,000. Then nothing is read
     * from it until half of them are taken. A handler takes all at once, but for requests beyond
     * {@link #maxOutstandingRequests()}.
     */
    public int receiveLimitMessages() {
        return values.receiveLimit.messages();
    }

    /** Maximum number of bytes of one peer that wait to be received: at least 1. Default: 16 MiB. */
    public long receiveLimitBytes() {
        return values.receiveLimit.bytes();
    }

    /** Policy for a message whose queue is full. Default: that of the socket's type, which {@link WhenFull} names. */
    public WhenFull whenFull() {
        return values.whenFull();
    }

    /** Time that the oldest message may wait with {@link WhenFull#DISCONNECT}: at least 1 ms. Default: 1 s. */
    public Duration slowAfter() {
        return values.slowAfter;
    }

    /** Time that a message may wait for its peer before it is dropped: at least 1 ms. Default: no limit. */
    public Duration maxAge() {
        return values.maxAge;
    }

    /**
     * Maximum number of {@link ZMTPSocket#sendAsync} that wait for room when all queues are full: at least 0. Default:
     * 64.
     */
    public int maxWaitingSends() {
        return values.maxWaitingSends;
    }

    /** Whether messages are queued for a peer that this socket connects to while it is away. Default: true. */
    public boolean queueWhileDown() {
        return values.queueWhileDown;
    }

    /**
     * Bound of the wait before the second attempt to connect: at least 1 ms, or zero. Default: 100 ms. The bound
     * doubles with each attempt up to {@link #reconnectMost()}, and begins anew after a connection that lived for 10 s.
     * After a refusal by authentication it is a second to 30 s; after a peer that cannot fit, 30 s. What does not speak
     * ZMTP counts as a connection that failed. The wait is between half of the bound and all of it.
     */
    public Duration reconnectFirst() {
        return values.reconnectFirst;
    }

    /**
     * Bound of the wait between attempts to connect: not less than {@link #reconnectFirst()}; zero if there is only one
     * attempt. Default: 5 s.
     */
    public Duration reconnectMost() {
        return values.reconnectMost;
    }

    /**
     * Time that connecting may take, without the handshake: 1 ms to 24 days. Default: 10 s. While a name has other
     * addresses to try, it is a second at most.
     */
    public Duration connectTimeout() {
        return values.connectTimeout;
    }

    /** Time that {@link ZMTPSocket#close()} waits for what is not sent and not read: at least 0. Default: 5 s. */
    public Duration linger() {
        return values.linger;
    }

    /** Policy for a peer that announces a name that another one has. Default: {@link NameTaken#REFUSE}. */
    public NameTaken nameTaken() {
        return values.nameTaken;
    }

    /**
     * Maximum number of requests that wait for their answers, of those that were sent and of those that are served: at
     * least 1, at most 4,194,303. Default: 10,000. Of those that are served, a peer may have half of what is left, and
     * one at least: so a single peer has no more than a third of them.
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

    /** Maximum number of peers at a time: at least 1. Default: 100,000. */
    public int maxPeers() {
        return values.maxPeers;
    }

    /**
     * Maximum number of bytes on the heap that the topics or groups of all peers of a publisher take, as
     * {@link dev.zmtp.ZMTPTopicMatcher#memory()} counts them: at least 1. Default: an eighth of the heap. When they
     * are more, one of the peers that have about the most is disconnected, and not a peer with few.
     */
    public long maxTopicsMemory() {
        return values.maxTopicsMemory;
    }

    /**
     * The executor on which the names of hosts are looked up, which may block. Default: up to eight daemon threads for
     * all sockets of the process, each of which ends when it has been idle for a second. A socket may have half of
     * those that are left, and one at least; endpoints whose name took more than a second the last time have four of
     * them together, and each name is asked for once at a time. Endpoints without the name of a host need no executor.
     */
    public Executor resolver() {
        return values.resolver;
    }

    /**
     * The context that encrypts connections made over {@code tcp}; null if nothing does. If there is a supplier, it is
     * asked for it now. Default: none.
     */
    public @Nullable SslContext tlsClient() {
        return values.tlsClient == null ? null : values.tlsClient.get();
    }

    /** As {@link #tlsClient()}, of connections accepted over {@code tcp}. Default: none. */
    public @Nullable SslContext tlsServer() {
        return values.tlsServer == null ? null : values.tlsServer.get();
    }

    /**
     * The limiter of handshakes, which comes first in the pipelines of accepted connections, but not over
     * {@code inproc}; null if nothing limits them. Sockets that share it are counted together. Default: one with the
     * defaults of its class, which all sockets of this config share, and of those made from it with
     * {@link #toBuilder()}.
     */
    public @Nullable ZMTPHandshakeLimiter handshakeLimiter() {
        return values.handshakeLimiter;
    }

    /**
     * The function that adds handlers to each pipeline, before all others but the {@link #handshakeLimiter()}. Default:
     * one that adds none.
     */
    public BiConsumer<? super ZMTPEndpoint, ? super ChannelPipeline> pipeline() {
        return values.pipeline;
    }

    /** The options of all channels, each with a value of its type. Default: none. */
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
    public static final class Builder extends ZMTPSocketSettings {
        private Builder(SocketValues values) {
            super(values);
        }

        /** Returns a config of these settings; the builder may be used again. */
        public ZMTPSocketConfig build() {
            TypeRules.checkHeartbeats(values.codec);
            TypeRules.checkWhenFull(values.codec.socketType(), values.whenFull());
            TypeRules.checkCorrelate(values.codec.socketType(), values.correlate);
            return new ZMTPSocketConfig(values.copy());
        }
    }
}
