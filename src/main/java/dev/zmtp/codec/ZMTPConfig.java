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
 * The configuration of a {@link ZMTPCodec}. Immutable: share one among all channels of a bootstrap. {@link Builder}
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
     * Returns a builder with the defaults of a {@code ZMTPSocket} of this type. They differ in the heartbeats:
     * {@link #heartbeatInterval()} is 30 s, {@link #heartbeatTimeout()} half as long again as the interval, whatever
     * that is, and {@link #heartbeatZmtp30Peers()} is true if there is an interval. What is set stays.
     */
    public static Builder socketBuilder(ZMTPSocketType socketType) {
        ConfigValues values = new ConfigValues();
        values.heartbeatInterval = Duration.ofSeconds(30);
        values.ofSocket = true;
        return new Builder(values).socketType(socketType);
    }

    /** Returns a builder with all settings of this config. */
    public Builder toBuilder() {
        return new Builder(values.copy());
    }

    /** The config of this type with all defaults, the same for all connections. */
    static ZMTPConfig of(ZMTPSocketType socketType) {
        return Objects.requireNonNull(DEFAULTS.get(Objects.requireNonNull(socketType, "socketType")));
    }

    static ZMTPConfig of(ZMTPSettings<?> settings) {
        return new ZMTPConfig(settings.values.copy());
    }

    /** The highest version spoken (RFC 37, "Version Negotiation"). Default: ZMTP 3.1. */
    public ZMTPVersion protocol() {
        return values.protocol;
    }

    /** Whether a peer may speak an older version than {@link #protocol()}. Default: true. */
    public boolean interop() {
        return values.interop;
    }

    /** The type of this side's socket. Required. */
    public ZMTPSocketType socketType() {
        return values.socketType();
    }

    /**
     * The identity announced to the peer, read-only: at most 255 bytes, the first not zero. Default: empty, to stay
     * anonymous.
     *
     * <p>RFC 37, "The Identity Property". In ZMTP 3.x only REQ, DEALER and ROUTER sockets announce one. Those of other
     * types announce it to 1.0 and 2.0 peers only: set a {@link #properties() property} for all others.
     */
    public ByteBuffer localIdentity() {
        return values.localIdentity.duplicate();
    }

    /** The application's own properties, announced to a 3.x peer (RFC 37, "Connection Metadata"). Default: none. */
    public ZMTPMetadata properties() {
        return values.properties;
    }

    /** The security mechanism. Default: NULL. */
    public ZMTPMechanism.Factory mechanism() {
        return values.mechanism;
    }

    /**
     * The authenticator, which accepts or refuses peers; null for none. Default: none, every peer is accepted. If set,
     * ZMTP 1.0 and 2.0 peers are refused: those versions have no way to report a refusal.
     */
    public @Nullable ZMTPAuthenticator authenticator() {
        return values.authenticator;
    }

    /**
     * The name of the group of services that this one belongs to, passed to the authenticator (RFC 27, "The ZAP
     * Request"). Default: empty.
     */
    public String domain() {
        return values.domain;
    }

    /**
     * The executor that runs the computations of a CURVE handshake, and for sockets those of TLS. It must not run them
     * on the event loop. Default: threads of the library, half as many as there are processors. They are daemons, start
     * when they are needed and end after a minute without work; at most 10,000 computations wait.
     */
    public Executor handshakeExecutor() {
        Executor executor = values.handshakeExecutor;
        return executor == null ? HandshakeExecutor.shared() : executor;
    }

    /** The generator of identities for anonymous peers. Default: {@link ZMTPIdentityGenerator#sequential()}. */
    public ZMTPIdentityGenerator identityGenerator() {
        return values.identityGenerator;
    }

    /** The factory of encoders; null to write {@code ZMTPMessage}. Default: none. */
    public ZMTPEncoder.@Nullable Factory encoder() {
        return values.encoder;
    }

    /** The factory of decoders; null to read {@code ZMTPMessage}. Default: none. */
    public ZMTPDecoder.@Nullable Factory decoder() {
        return values.decoder;
    }

    /**
     * Maximum number of bytes in one received frame: at least 1, at most {@link #maxMessageLength()}. Default: 64 MiB
     * or half of the {@link #memoryBudget()}, whichever is less, or {@code maxMessageLength} if that is set to less.
     */
    public int maxFrameLength() {
        return values.maxFrameLength();
    }

    /**
     * Maximum number of bytes in all frames of one received message: at least 1, and each frame after the first counts
     * 64 bytes more. Default: 64 MiB or half of the {@link #memoryBudget()}, whichever is less, or
     * {@link #maxFrameLength()} if that is set to more. The budget is a limit, too: a message that cannot fit is
     * refused at its header, and {@code build()} warns of a setting that promises more. With a {@link #decoder()},
     * which takes bytes as they arrive, it sets none.
     */
    public long maxMessageLength() {
        return values.maxMessageLength();
    }

    /** Maximum number of frames in one received message: at least 1. Default: 1,024. */
    public int maxMessageFrames() {
        return values.maxMessageFrames;
    }

    /**
     * Maximum number of bytes in one command received during the handshake: at least 25, the length of the shortest
     * READY. Default: 8 KiB. Any peer may send this much before it is authenticated, and its properties are kept for
     * the life of the connection.
     */
    public int maxHandshakeCommandLength() {
        return values.maxHandshakeCommandLength;
    }

    /**
     * Maximum number of bytes in one command or subscription received after the handshake: at least 1. Default: 8 KiB.
     * A longer subscription that arrives as a message, not as a command, is treated as a message: an XPUB channel fires
     * it, a PUB channel drops it.
     */
    public int maxCommandLength() {
        return values.maxCommandLength;
    }

    /**
     * Maximum number of commands received within a second, including subscriptions that arrive as messages: at least 1.
     * Default: 100,000. Up to twice as many may pass before the limit is noticed, never more. Commands that piled up
     * while nothing was read count when they are read.
     */
    public int maxCommandsPerSecond() {
        return values.maxCommandsPerSecond;
    }

    /**
     * Maximum number of frames of one connection, commands included, that are handled before its event loop serves
     * other connections: at least 1. Default: 2,048. A turn also ends about a millisecond after the first 64 frames, as
     * handlers may be slow. The rest follows, in order, when the others have had their turn.
     */
    public int maxFramesPerTurn() {
        return values.maxFramesPerTurn;
    }

    /**
     * Whether the flushes of one turn of the event loop leave together. Then the first flush goes to the transport at
     * once, and those after it wait until a batch of 64 KiB is full, until what was read is decoded, or until the event
     * loop has run the tasks that are queued and none of them has written more. It waits for up to 16 rounds while
     * tasks keep writing, and for no round that starts more than half a millisecond after the previous flush. While
     * what was read is handled, no task runs: then a flush leaves at once if the previous one is half a millisecond
     * ago, and one that waits leaves before the next message after that time, or before the eighth if those before it
     * took less. A flush that waits leaves before the channel is closed or the codec is removed; not before
     * {@code shutdownOutput()}, which passes no handler. Default: true.
     */
    public boolean consolidateFlushes() {
        return values.consolidateFlushes;
    }

    /**
     * Maximum number of topics, or groups, that a peer is subscribed to at one time: at least 0. Default: 10,000. An
     * XSUB has a limit of its own, {@link #maxRelayedSubscriptions()}.
     */
    public int maxSubscriptions() {
        return values.maxSubscriptions;
    }

    /**
     * Maximum number of bytes in all topics that a peer is subscribed to at one time: at least 0, and each topic counts
     * 256 bytes more. Default: 4 MiB.
     */
    public long maxSubscriptionsLength() {
        return values.maxSubscriptionsLength;
    }

    /**
     * Maximum number of topics that a peer of type XSUB is subscribed to at one time: at least 0. Default: 1,000,000.
     * Proxies subscribe as an XSUB, for all of their own subscribers. {@link #maxCommandsPerSecond()} does not count
     * those of its topics that are new.
     */
    public int maxRelayedSubscriptions() {
        return values.maxRelayedSubscriptions;
    }

    /**
     * Maximum number of bytes in all topics that a peer of type XSUB is subscribed to at one time: at least 0, and each
     * topic counts 256 bytes more. Default: 256 MiB. They count in the {@link #memoryBudget()}, which is a limit too.
     */
    public long maxRelayedSubscriptionsLength() {
        return values.maxRelayedSubscriptionsLength;
    }

    /** Maximum number of properties that a peer announces: at least 1, the Socket-Type. Default: 256. */
    public int maxMetadataProperties() {
        return values.maxMetadataProperties;
    }

    /**
     * Maximum number of bytes in writes held until the handshake is complete: at least 0, and each frame counts 64
     * bytes more. Default: 16 MiB.
     *
     * <p>Objects other than {@code ZMTPMessage} are sized by the channel's {@code MessageSizeEstimator}, plus 64 bytes.
     * Netty's default reports 8 bytes for unknown types: set your own if your {@link #encoder()} takes large objects.
     */
    public long maxHeldLength() {
        return values.maxHeldLength;
    }

    /**
     * The budget that bounds what this connection and others keep together. Default:
     * {@link ZMTPMemoryBudget#shared()}.
     */
    public ZMTPMemoryBudget memoryBudget() {
        return values.memoryBudget;
    }

    /**
     * The time from connection to the end of the handshake, not extended by progress: at least 1 ms, or zero for no
     * limit. Default: 30 s.
     */
    public Duration handshakeTimeout() {
        return values.handshakeTimeout;
    }

    /**
     * The time between PINGs (RFC 37, "Connection Heartbeating") to a peer of ZMTP 3.1, and of 3.0 with
     * {@link #heartbeatZmtp30Peers()}: at least 1 ms, or zero to send none. Default: zero. No PING is sent while the
     * one before is not answered yet, unless there is a {@link #heartbeatTtl()}, nor, without one, while we do not read
     * from a peer that never sends PINGs.
     */
    public Duration heartbeatInterval() {
        return values.heartbeatInterval;
    }

    /**
     * The time in which nothing arrives, counted from a PING, that ends the connection with {@code HEARTBEAT_TIMEOUT}
     * if there is proof that the peer is gone: at least 1 ms, or zero for never. Needs an interval. Default: the
     * interval, or with {@link #socketBuilder} half as long again. A peer that is gone is noticed within the interval
     * and this together.
     *
     * <p>A peer that is slow is silent, too, as the PING arrives after everything that was written before it. So there
     * are two proofs. Since the last PING that the peer has answered, no more was written before this one than 128
     * bytes for each second of the timeout, or 256; or the peer's kernel has acknowledged nothing for so long, though
     * ours has sent bytes again, which the TCP channels of epoll and io_uring know. Over NIO, a host that is lost while
     * much is on its way to it is noticed when TCP gives up.
     */
    public Duration heartbeatTimeout() {
        return values.heartbeatTimeout();
    }

    /**
     * The TTL sent with each PING: the peer should close the connection if it hears nothing from us for this long (RFC
     * 37, "Connection Heartbeating"). From 0.1 to 65.5 s, rounded down to a tenth of a second, or zero for no TTL.
     * Needs an interval. Default: zero.
     */
    public Duration heartbeatTtl() {
        return values.heartbeatTtl;
    }

    /**
     * Whether PINGs are also sent to peers of ZMTP 3.0. That version has no PING, but JeroMQ, NetMQ and libzmq 4.2 to
     * 4.3.2, which speak it, answer one. libzmq 4.0 and 4.1 ignore it; other peers may close the connection. An
     * answer is expected of a 3.0 peer only after its first PING or PONG, so that one that ignores PINGs is not taken
     * for a dead one. Needs an interval. Default: false, or with
     * {@link #socketBuilder} whether there is an interval.
     */
    public boolean heartbeatZmtp30Peers() {
        return values.heartbeatZmtp30Peers();
    }

    /** The clock of all that a connection measures, in nanoseconds. */
    LongSupplier nanoTime() {
        return values.nanoTime;
    }

    /**
     * Shows the socket type and each setting that was changed. Of the identity and of properties it shows the lengths
     * only, of the application's own objects the class.
     */
    @Override
    public String toString() {
        return "ZMTPConfig" + values;
    }

    /**
     * Collects the settings of a {@link ZMTPConfig}. Not thread safe.
     *
     * <p>A value that is out of bounds is refused at once. Each name leads to the full description of the setting.
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
     * <td>bytes of a command or subscription after it</td><td>at least 1</td><td>8 KiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxCommandsPerSecond() maxCommandsPerSecond}</th>
     * <td>commands and subscriptions received within a second</td><td>at least 1</td><td>100,000</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxFramesPerTurn() maxFramesPerTurn}</th>
     * <td>frames handled before other connections are served</td><td>at least 1</td><td>2,048</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#consolidateFlushes() consolidateFlushes}</th>
     * <td>whether the flushes of one turn leave together</td><td></td><td>true</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxSubscriptions() maxSubscriptions}</th>
     * <td>topics or groups of a peer at one time</td><td>at least 0</td><td>10,000</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxSubscriptionsLength() maxSubscriptionsLength}</th>
     * <td>bytes of all of them, 256 more for each</td><td>at least 0</td><td>4 MiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxRelayedSubscriptions() maxRelayedSubscriptions}</th>
     * <td>topics of an XSUB at one time</td><td>at least 0</td><td>1,000,000</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxRelayedSubscriptionsLength() maxRelayedSubscriptionsLength}</th>
     * <td>bytes of all of them, 256 more for each</td><td>at least 0</td><td>256 MiB</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxMetadataProperties() maxMetadataProperties}</th>
     * <td>properties that a peer may announce</td><td>at least 1</td><td>256</td></tr>
     * <tr><th scope="row">{@link ZMTPConfig#maxHeldLength() maxHeldLength}</th>
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
     * <tr><th scope="row">{@link ZMTPConfig#heartbeatZmtp30Peers() heartbeatZmtp30Peers}</th>
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
         * @throws IllegalArgumentException if settings contradict each other: the protocol is too old for the socket
         *     type, the mechanism, the authenticator or heartbeats; the mechanism needs an authenticator or must not
         *     have one; the frame limit is above the message limit; or a heartbeat timeout or TTL is set without an
         *     interval
         */
        public ZMTPConfig build() {
            return of(this);
        }
    }
}
