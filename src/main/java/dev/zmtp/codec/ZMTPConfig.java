package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPMechanism;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of a {@link ZMTPCodec}. Immutable, and can be shared by all channels of a bootstrap. {@link Builder}
 * lists all settings.
 *
 * <p>Every limit is on by default. A limit is checked when a length arrives, before memory is allocated for it.
 */
public final class ZMTPConfig {

    private static final Map<ZMTPSocketType, ZMTPConfig> DEFAULTS = Arrays.stream(ZMTPSocketType.values())
            .collect(Collectors.toUnmodifiableMap(
                    type -> type, type -> builder().socketType(type).build()));

    private final ConfigValues values;

    private ZMTPConfig(ConfigValues values) {
        values.check();
        values.warn();
        this.values = values;
    }

    /** Returns a builder with the defaults; a socket type must be set. */
    public static Builder builder() {
        return new Builder(new ConfigValues());
    }

    /**
     * Returns a builder with the defaults of a {@code ZMTPSocket} of this type, which differ in the heartbeats.
     * {@link #heartbeatInterval()} is 30 s, {@link #heartbeatTimeout()} is one and a half times the interval, even if
     * the interval is changed, and {@link #heartbeatZMTP30Peers()} is true if there is an interval. Explicit settings
     * take precedence.
     */
    public static Builder builderForSocket(ZMTPSocketType socketType) {
        ConfigValues values = new ConfigValues();
        values.heartbeatInterval = Duration.ofSeconds(30);
        values.ofSocket = true;
        return new Builder(values).socketType(socketType);
    }

    /** Returns a builder with all settings of this config. */
    public Builder toBuilder() {
        return new Builder(values.copy());
    }

    /** Returns the config of this type with all defaults, which all connections share. */
    static ZMTPConfig of(ZMTPSocketType socketType) {
        return Objects.requireNonNull(DEFAULTS.get(Objects.requireNonNull(socketType, "socketType")));
    }

    static ZMTPConfig of(ZMTPSettings<?> settings) {
        return new ZMTPConfig(settings.values.copy());
    }

    /** Highest protocol version spoken (RFC 37, "Version Negotiation"). Default: ZMTP 3.1. */
    public ZMTPVersion protocol() {
        return values.protocol;
    }

    /** Whether the peer is allowed to speak an older version than {@link #protocol()}. Default: true. */
    public boolean interop() {
        return values.interop;
    }

    /** Socket type of this side. Required. */
    public ZMTPSocketType socketType() {
        return values.socketType();
    }

    /**
     * Identity announced to the peer, read-only. Has at most 255 bytes, and the first byte is not zero. Default: empty,
     * to stay anonymous.
     *
     * <p>RFC 37, "The Identity Property". In ZMTP 3.x only REQ, DEALER and ROUTER sockets announce an identity. Sockets
     * of other types announce it to 1.0 and 2.0 peers only; set a {@link #properties() property} for all other peers.
     */
    public ByteBuffer localIdentity() {
        return values.localIdentity.duplicate();
    }

    /** Application-defined properties announced to a 3.x peer (RFC 37, "Connection Metadata"). Default: none. */
    public ZMTPMetadata properties() {
        return values.properties;
    }

    /** Security mechanism. Default: NULL. */
    public ZMTPMechanism.Factory mechanism() {
        return values.mechanism;
    }

    /**
     * Authenticator that accepts or refuses peers, or null. Default: none, every peer is accepted. With an
     * authenticator, ZMTP 1.0 and 2.0 peers are refused, because those versions cannot report a refusal.
     */
    public @Nullable ZMTPAuthenticator authenticator() {
        return values.authenticator;
    }

    /**
     * Name of the group of services that this service belongs to, passed to the authenticator (RFC 27, "The ZAP
     * Request"). Default: empty.
     */
    public String domain() {
        return values.domain;
    }

    /**
     * Executor that runs the computations of a CURVE handshake, and for sockets also those of TLS. It must not run them
     * on the event loop. Default: threads of the library, half as many as there are processors. They are daemon threads
     * that start on demand and end after a minute without work. At most 10,000 computations are queued.
     */
    public Executor handshakeExecutor() {
        Executor executor = values.handshakeExecutor;
        return executor == null ? HandshakeExecutor.shared() : executor;
    }

    /** Generator of identities for anonymous peers. Default: {@link ZMTPIdentityGenerator#sequential()}. */
    public ZMTPIdentityGenerator identityGenerator() {
        return values.identityGenerator;
    }

    /** Factory of encoders, or null to write {@code ZMTPMessage}. Default: none. */
    public ZMTPEncoder.@Nullable Factory encoder() {
        return values.encoder;
    }

    /** Factory of decoders, or null to read {@code ZMTPMessage}. Default: none. */
    public ZMTPDecoder.@Nullable Factory decoder() {
        return values.decoder;
    }

    /**
     * Maximum length of a received frame, in bytes. Must be at least 1 and at most {@link #maxMessageLength()}.
     * Default: 64 MiB or half of the {@link #memoryBudget()}, whichever is less, or {@code maxMessageLength} if that is
     * set to less.
     */
    public int maxFrameLength() {
        return values.maxFrameLength();
    }

    /**
     * Maximum length of a received message, in bytes, with 64 bytes more for each frame after the first. Must be at
     * least 1. Default: 64 MiB or half of the {@link #memoryBudget()}, whichever is less, or {@link #maxFrameLength()}
     * if that is set to more. The budget is a limit too. A message that cannot fit is refused at its header, and
     * {@code build()} logs a warning for a setting that exceeds the budget. The budget does not limit messages for a
     * {@link #decoder()}, which receives bytes as they arrive; with encryption, it limits each frame.
     */
    public long maxMessageLength() {
        return values.maxMessageLength();
    }

    /** Maximum number of frames in a received message. Must be at least 1. Default: 1,024. */
    public int maxMessageFrames() {
        return values.maxMessageFrames;
    }

    /**
     * Maximum length of a command received during the handshake, in bytes. Must be at least 25, the length of the
     * shortest READY. Default: 8 KiB. Any peer can send this much before it is authenticated, and its properties are
     * retained for the life of the connection.
     */
    public int maxHandshakeCommandLength() {
        return values.maxHandshakeCommandLength;
    }

    /**
     * Maximum length of a command received after the handshake, in bytes. Must be at least 1. Default: 8 KiB. A
     * SUBSCRIBE command is 10 bytes longer than its topic. A subscription that arrives as a message is treated as a
     * message if its topic is too long for a command. An XPUB channel fires such a message, and a PUB channel drops it.
     */
    public int maxCommandLength() {
        return values.maxCommandLength;
    }

    /**
     * Maximum number of commands received within a second, including subscriptions that arrive as messages. Must be at
     * least 1. Default: 100,000. Up to twice as many commands can pass before the limit is noticed, but never more.
     * Commands that accumulated while nothing was read count when they are read.
     */
    public int maxCommandsPerSecond() {
        return values.maxCommandsPerSecond;
    }

    /**
     * Maximum number of frames, including commands, handled for one connection before its event loop serves other
     * connections. Must be at least 1. Default: 2,048. Because handlers can be slow, the time since the first 64 frames
     * is checked after every 64 further frames, and also ends the read once it exceeds a millisecond. The remaining
     * frames follow in order after the other connections were served.
     */
    public int maxFramesPerRead() {
        return values.maxFramesPerRead;
    }

    /**
     * Whether the flushes of one event-loop iteration are combined. Default: true. The first flush goes to the
     * transport at once. Later flushes are delayed until a batch of 64 KiB is full, until the bytes that were read are
     * decoded, or until the event loop has run its queued tasks and none of them has written more. While tasks keep
     * writing, a flush is delayed for up to 16 rounds of tasks, but not for a round that starts more than half a
     * millisecond after the previous flush.
     *
     * <p>No task runs while received messages are handled. During that time, a flush leaves at once if the previous
     * flush was at least half a millisecond ago. Otherwise, it leaves before the first message that is handled after
     * that time, or before the eighth message if that is earlier. A delayed flush also leaves before the
     * channel is closed or the codec is removed, but not before {@code shutdownOutput()}, which bypasses all handlers.
     */
    public boolean consolidateFlushes() {
        return values.consolidateFlushes;
    }

    /**
     * Maximum number of topics or groups that a peer is subscribed to at a time. Must be at least 0. Default: 10,000.
     * XSUB peers have a separate limit, {@link #maxRelayedSubscriptions()}.
     */
    public int maxSubscriptions() {
        return values.maxSubscriptions;
    }

    /**
     * Maximum total length of the topics that a peer is subscribed to at a time, in bytes. Each topic counts 256
     * bytes more. Must be at least 0. Default: 4 MiB.
     */
    public long maxSubscriptionsLength() {
        return values.maxSubscriptionsLength;
    }

    /**
     * Maximum number of topics that a peer of type XSUB is subscribed to at a time. Must be at least 0. Default:
     * 1,000,000. Proxies subscribe as an XSUB for all of their own subscribers. {@link #maxCommandsPerSecond()} does
     * not count new topics of an XSUB, and as many cancellations within a second.
     */
    public int maxRelayedSubscriptions() {
        return values.maxRelayedSubscriptions;
    }

    /**
     * Maximum total length of the topics that a peer of type XSUB is subscribed to at a time, in bytes. Each topic
     * counts 256 bytes more. Must be at least 0. Default: 256 MiB. The topics count in the {@link #memoryBudget()},
     * which is a limit too.
     */
    public long maxRelayedSubscriptionsLength() {
        return values.maxRelayedSubscriptionsLength;
    }

    /** Maximum number of properties that a peer announces. Must be at least 1, for the Socket-Type. Default: 256. */
    public int maxMetadataProperties() {
        return values.maxMetadataProperties;
    }

    /**
     * Maximum total length of the writes held until the handshake is complete, in bytes. Each frame counts 64 bytes
     * more. Must be at least 0. Default: 16 MiB. Objects other than {@code ZMTPMessage} are sized by the channel's
     * {@code MessageSizeEstimator}, plus 64 bytes. Netty's default estimator reports 8 bytes for unknown types. Set a
     * different estimator if your {@link #encoder()} handles large objects.
     */
    public long maxHeldWritesLength() {
        return values.maxHeldWritesLength;
    }

    /**
     * Budget that bounds the memory of this connection and others together. Default: {@link ZMTPMemoryBudget#shared()}.
     */
    public ZMTPMemoryBudget memoryBudget() {
        return values.memoryBudget;
    }

    /**
     * Maximum time from connection to the end of the handshake, not extended by progress. Must be at least 1 ms, or
     * zero for no limit. Default: 30 s.
     */
    public Duration handshakeTimeout() {
        return values.handshakeTimeout;
    }

    /**
     * Time between PINGs (RFC 37, "Connection Heartbeating") to a ZMTP 3.1 peer, and to a 3.0 peer with
     * {@link #heartbeatZMTP30Peers()}. Must be at least 1 ms, or zero to send none. Default: zero. Without a
     * {@link #heartbeatTtl()}, no PING is sent while the previous PING is unanswered, or while this side is not reading
     * from a peer that never sends PINGs. A RADIO sends none to such a DISH.
     */
    public Duration heartbeatInterval() {
        return values.heartbeatInterval;
    }

    /**
     * Maximum silence of the peer, counted from a PING. A longer silence ends the connection with
     * {@code HEARTBEAT_TIMEOUT} if there is proof that the peer is gone. Must be at least 1 ms, or zero for never.
     * Needs an interval. Default: the interval, or one and a half times the interval with {@link #builderForSocket}. A
     * lost peer is noticed within the sum of the interval and the timeout.
     *
     * <p>A slow peer is silent too, because a PING arrives after all bytes written before it. There are therefore two
     * proofs, either of which is sufficient. The first proof is an unanswered PING before which little was written
     * since the last answered PING, namely at most 128 bytes for each second of the timeout, or 256 bytes if that is
     * more. The second proof is that the peer's kernel has acknowledged nothing during the timeout although this side's
     * kernel has sent bytes again, which the TCP channels of epoll and io_uring report. Over NIO, a host that is lost
     * while much data is in flight to it is noticed when TCP reports a failure.
     */
    public Duration heartbeatTimeout() {
        return values.heartbeatTimeout();
    }

    /**
     * TTL sent with each PING. The peer should close the connection if it receives nothing for this time (RFC 37,
     * "Connection Heartbeating"). From 0.1 to 65.5 s, rounded down to a tenth of a second, or zero for no TTL. Default:
     * zero. Needs an interval, which sockets require to be shorter. For libzmq, longer than the longest frame takes.
     */
    public Duration heartbeatTtl() {
        return values.heartbeatTtl;
    }

    /**
     * Whether PINGs are also sent to ZMTP 3.0 peers. That version has no PING, but JeroMQ, NetMQ and libzmq 4.2 to
     * 4.3.2, which speak it, answer a PING. libzmq 4.0 and 4.1 ignore a PING, and other peers can close the connection.
     * An answer is expected of a 3.0 peer only after its first PING or PONG, so that a peer that ignores PINGs is not
     * considered dead. Needs an interval. Default: false, or true with {@link #builderForSocket} and an interval.
     */
    public boolean heartbeatZMTP30Peers() {
        return values.heartbeatZMTP30Peers();
    }

    /** Clock for all time measurements of a connection, in nanoseconds. */
    LongSupplier nanoTime() {
        return values.nanoTime;
    }

    /**
     * Returns the socket type and each changed setting. The identity and the properties are shown by their lengths
     * only, and application-defined objects by their class.
     */
    @Override
    public String toString() {
        return "ZMTPConfig" + values;
    }

    /**
     * Builder of a {@link ZMTPConfig}. Not thread safe.
     *
     * <p>A value that is out of bounds is refused at once. Each name links to the full description of the setting.
     *
     * <table class="striped">
     * <caption>All settings</caption>
     * <thead>
     * <tr><th scope="col">setting</th><th scope="col">what it is</th>
     * <th scope="col">bounds</th><th scope="col">default</th></tr>
     * </thead>
     * <tbody>
     * <tr><th scope="row">{@link ZMTPConfig#protocol() protocol}</th>
     * <td>the highest version spoken</td><td></td><td>ZMTP 3.1</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#interop() interop}</th>
     * <td>whether a peer may speak an older version</td><td></td><td>true</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#socketType() socketType}</th>
     * <td>the type of this side's socket</td><td>required</td><td>none</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#localIdentity() localIdentity}</th>
     * <td>the identity announced</td><td>at most 255 bytes, the first not zero</td><td>empty: anonymous</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#properties() property}</th>
     * <td>a property announced to a 3.x peer</td>
     * <td>{@code X-} and 1 to 253 characters; {@code Resource}</td><td>none</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#mechanism() mechanism}</th>
     * <td>the security mechanism</td><td></td><td>NULL</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#authenticator() authenticator}</th>
     * <td>accepts or refuses peers</td><td></td><td>none: all are accepted</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#domain() domain}</th>
     * <td>a name that is passed to the authenticator</td><td></td><td>empty</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#handshakeExecutor() handshakeExecutor}</th>
     * <td>computes CURVE handshakes</td><td>not the event loop</td><td>threads of the library</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#identityGenerator() identityGenerator}</th>
     * <td>makes identities for anonymous peers</td><td></td><td>sequential</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#encoder() encoder}</th>
     * <td>writes the application's own type</td><td></td><td>none: {@code ZMTPMessage}</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#decoder() decoder}</th>
     * <td>reads the application's own type</td><td></td><td>none: {@code ZMTPMessage}</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxFrameLength() maxFrameLength}</th>
     * <td>bytes of a received frame; the default is at most half of {@code memoryBudget}</td>
     * <td>at least 1, at most {@code maxMessageLength}</td><td>64 MiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxMessageLength() maxMessageLength}</th>
     * <td>bytes of a received message; the default is at most half of {@code memoryBudget}</td>
     * <td>at least 1</td><td>64 MiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxMessageFrames() maxMessageFrames}</th>
     * <td>frames of a received message</td><td>at least 1</td><td>1,024</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxHandshakeCommandLength() maxHandshakeCommandLength}</th>
     * <td>bytes of a command during the handshake</td><td>at least 25</td><td>8 KiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxCommandLength() maxCommandLength}</th>
     * <td>bytes of a later command or subscription</td><td>at least 1</td><td>8 KiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxCommandsPerSecond() maxCommandsPerSecond}</th>
     * <td>commands and subscriptions received within a second</td><td>at least 1</td><td>100,000</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxFramesPerRead() maxFramesPerRead}</th>
     * <td>frames handled before other connections are served</td><td>at least 1</td><td>2,048</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#consolidateFlushes() consolidateFlushes}</th>
     * <td>whether flushes of one event-loop iteration are combined</td><td></td><td>true</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxSubscriptions() maxSubscriptions}</th>
     * <td>topics or groups of a peer at a time</td><td>at least 0</td><td>10,000</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxSubscriptionsLength() maxSubscriptionsLength}</th>
     * <td>total bytes of these topics, plus 256 each</td><td>at least 0</td><td>4 MiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxRelayedSubscriptions() maxRelayedSubscriptions}</th>
     * <td>topics of an XSUB at a time</td><td>at least 0</td><td>1,000,000</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxRelayedSubscriptionsLength() maxRelayedSubscriptionsLength}</th>
     * <td>total bytes of these topics, plus 256 each</td><td>at least 0</td><td>256 MiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxMetadataProperties() maxMetadataProperties}</th>
     * <td>properties that a peer announces</td><td>at least 1</td><td>256</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxHeldWritesLength() maxHeldWritesLength}</th>
     * <td>bytes of writes held until the handshake is complete</td><td>at least 0</td><td>16 MiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#memoryBudget() memoryBudget}</th>
     * <td>bounds what many connections keep together</td><td></td><td>{@link ZMTPMemoryBudget#shared()}</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#handshakeTimeout() handshakeTimeout}</th>
     * <td>time for the whole handshake</td><td>at least 1 ms; zero: no limit</td><td>30 s</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#heartbeatInterval() heartbeatInterval}</th>
     * <td>time between PINGs</td><td>at least 1 ms; zero: none</td><td>zero</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#heartbeatTimeout() heartbeatTimeout}</th>
     * <td>time without a sign of life</td>
     * <td>at least 1 ms; zero: never. Needs an interval</td><td>the interval</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#heartbeatTtl() heartbeatTtl}</th>
     * <td>the TTL sent with each PING</td><td>0.1 to 65.5 s; zero: none. Needs an interval</td><td>zero</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#heartbeatZMTP30Peers() heartbeatZMTP30Peers}</th>
     * <td>whether ZMTP 3.0 peers get PINGs</td><td>needs an interval</td><td>false</td></tr>
     * </tbody>
     * </table>
     */
    public static final class Builder extends ZMTPSettings<Builder> {
        private Builder(ConfigValues values) {
            super(values);
        }

        /**
         * Returns a config with these settings.
         *
         * @throws NullPointerException if the socket type is not set
         * @throws IllegalArgumentException if settings contradict each other, which is the case if the protocol is too
         *     old for the socket type, the mechanism, the authenticator or heartbeats; if the mechanism needs an
         *     authenticator or must not have one; if the frame limit is above the message limit; or if a heartbeat
         *     timeout or TTL is set without an interval
         */
        public ZMTPConfig build() {
            return of(this);
        }
    }
}
