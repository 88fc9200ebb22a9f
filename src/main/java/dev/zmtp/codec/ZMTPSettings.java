package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPMechanism;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Settings that {@link ZMTPConfig.Builder} and {@link ZMTPCodec.Builder} share.
 *
 * <p>The accessor of the same name in {@link ZMTPConfig} documents each setting, its bounds and its default, and
 * {@link ZMTPConfig.Builder} has a table of all settings. A value that is out of bounds is refused at once, with an
 * {@link IllegalArgumentException}. Settings that contradict each other are refused by {@code build()}, so the order of
 * the calls does not matter.
 *
 * @param <B> the builder itself
 */
public abstract class ZMTPSettings<B extends ZMTPSettings<B>> {

    /** Maximum TTL that libzmq understands. The field on the wire can hold larger values. */
    private static final int MAX_TTL_DECISECONDS = 655;

    /** Maximum time that an event loop can count, in nanoseconds (292 years). */
    static final Duration MAX_DURATION = Duration.ofNanos(Long.MAX_VALUE);

    /** Minimum duration. A smaller value is almost certainly in the wrong unit. */
    private static final Duration MIN_DURATION = Duration.ofMillis(1);

    /** Length of the shortest READY, which consists of its name and a Socket-Type of three letters. */
    private static final int MIN_READY_LENGTH = 25;

    final ConfigValues values;

    /**
     * Called by the two builders only. The class is not sealed, because it would have to permit
     * {@link ZMTPCodec.Builder}. Everything that uses a config would then depend on the handler, and through it on
     * every room.
     */
    ZMTPSettings(ConfigValues values) {
        this.values = values;
    }

    @SuppressWarnings("unchecked") // B is the builder itself: both subclasses are final
    private B self() {
        return (B) this;
    }

    /** Sets {@link ZMTPConfig#protocol()}. */
    public B protocol(ZMTPVersion protocol) {
        values.protocol = Objects.requireNonNull(protocol, "protocol");
        return self();
    }

    /** Sets {@link ZMTPConfig#interop()}. */
    public B interop(boolean interop) {
        values.interop = interop;
        return self();
    }

    /** Sets {@link ZMTPConfig#socketType()}, which is required. */
    public B socketType(ZMTPSocketType socketType) {
        values.socketType = Objects.requireNonNull(socketType, "socketType");
        return self();
    }

    /** Sets {@link ZMTPConfig#localIdentity()}, encoded as UTF-8. */
    public B localIdentity(CharSequence localIdentity) {
        return localIdentity(localIdentity.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Sets {@link ZMTPConfig#localIdentity()}. */
    public B localIdentity(byte[] localIdentity) {
        return localIdentity(ByteBuffer.wrap(localIdentity));
    }

    /** Sets {@link ZMTPConfig#localIdentity()} to a copy of the bytes from position to limit. */
    public B localIdentity(ByteBuffer localIdentity) {
        byte[] bytes = new byte[localIdentity.remaining()];
        localIdentity.duplicate().get(bytes);
        if (bytes.length > Greeting.MAX_IDENTITY_LENGTH) {
            throw new IllegalArgumentException(
                    "localIdentity length: " + bytes.length + " (expected: <= " + Greeting.MAX_IDENTITY_LENGTH + ")");
        }
        if (bytes.length > 0 && bytes[0] == 0) {
            throw new IllegalArgumentException("localIdentity: first byte 00 (expected: 01 to ff)");
        }
        values.localIdentity = ByteBuffer.wrap(bytes).asReadOnlyBuffer();
        return self();
    }

    /**
     * Sets a property to announce to a 3.x peer, replacing any property of the same name.
     *
     * @param name {@code X-} and letters, digits or {@code - _ . +}, at most 255 characters in all; or {@code Resource}
     * @param value any text, sent as UTF-8
     */
    public B property(String name, String value) {
        return property(name, ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
    }

    /** Sets a property to announce to a 3.x peer. The value's bytes from position to limit are copied. */
    public B property(String name, ByteBuffer value) {
        boolean resource = name.equalsIgnoreCase(ZMTPMetadata.RESOURCE);
        if (!resource && !name.matches("(?i)X-[a-z0-9._+-]{1,253}")) {
            throw new IllegalArgumentException(
                    "property name: " + name + " (expected: X- and 1 to 253 letters, digits or -_.+)");
        }
        values.properties = values.properties.without(name).with(name, value);
        return self();
    }

    /** Sets {@link ZMTPConfig#mechanism()}. */
    public B mechanism(ZMTPMechanism.Factory mechanism) {
        values.mechanism = Objects.requireNonNull(mechanism, "mechanism");
        return self();
    }

    /** Sets {@link ZMTPConfig#authenticator()}. */
    public B authenticator(ZMTPAuthenticator authenticator) {
        values.authenticator = Objects.requireNonNull(authenticator, "authenticator");
        return self();
    }

    /** Sets {@link ZMTPConfig#domain()}. */
    public B domain(String domain) {
        values.domain = Objects.requireNonNull(domain, "domain");
        return self();
    }

    /** Sets {@link ZMTPConfig#handshakeExecutor()}. */
    public B handshakeExecutor(Executor handshakeExecutor) {
        values.handshakeExecutor = Objects.requireNonNull(handshakeExecutor, "handshakeExecutor");
        return self();
    }

    /** Sets {@link ZMTPConfig#identityGenerator()}. */
    public B identityGenerator(ZMTPIdentityGenerator identityGenerator) {
        values.identityGenerator = Objects.requireNonNull(identityGenerator, "identityGenerator");
        return self();
    }

    /**
     * Sets the factory of encoders for the application's own type, or null for {@code ZMTPMessage}. An encoder receives
     * every written object except subscriptions, memberships and Netty's own empty buffer,
     * {@code Unpooled.EMPTY_BUFFER}, which is a barrier ({@link ZMTPCodec}).
     */
    public B encoder(ZMTPEncoder.@Nullable Factory encoder) {
        values.encoder = encoder;
        return self();
    }

    /**
     * Like {@link #encoder(ZMTPEncoder.Factory)}, with a class that has a constructor without arguments, or null. The
     * constructor is called by reflection, so a GraalVM native image needs metadata for it. A factory needs no
     * metadata.
     */
    public B encoder(@Nullable Class<? extends ZMTPEncoder> encoder) {
        return encoder(encoder == null ? null : Constructors.encoder(encoder));
    }

    /** Sets the factory of decoders for the application's own type, or null for {@code ZMTPMessage}. */
    public B decoder(ZMTPDecoder.@Nullable Factory decoder) {
        values.decoder = decoder;
        return self();
    }

    /**
     * Like {@link #decoder(ZMTPDecoder.Factory)}, with a class that has a constructor without arguments, or null. The
     * constructor is called by reflection, so a GraalVM native image needs metadata for it. A factory needs no
     * metadata.
     */
    public B decoder(@Nullable Class<? extends ZMTPDecoder> decoder) {
        return decoder(decoder == null ? null : Constructors.decoder(decoder));
    }

    /** Sets {@link ZMTPConfig#maxFrameLength()}. */
    public B maxFrameLength(int maxFrameLength) {
        values.maxFrameLength = (int) atLeast(1, "maxFrameLength", maxFrameLength);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxMessageLength()}. */
    public B maxMessageLength(long maxMessageLength) {
        values.maxMessageLength = atLeast(1, "maxMessageLength", maxMessageLength);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxMessageFrames()}. */
    public B maxMessageFrames(int maxMessageFrames) {
        values.maxMessageFrames = (int) atLeast(1, "maxMessageFrames", maxMessageFrames);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxHandshakeCommandLength()}. */
    public B maxHandshakeCommandLength(int maxHandshakeCommandLength) {
        values.maxHandshakeCommandLength =
                (int) atLeast(MIN_READY_LENGTH, "maxHandshakeCommandLength", maxHandshakeCommandLength);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxCommandLength()}. */
    public B maxCommandLength(int maxCommandLength) {
        values.maxCommandLength = (int) atLeast(1, "maxCommandLength", maxCommandLength);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxCommandsPerSecond()}. */
    public B maxCommandsPerSecond(int maxCommandsPerSecond) {
        values.maxCommandsPerSecond = (int) atLeast(1, "maxCommandsPerSecond", maxCommandsPerSecond);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxFramesPerRead()}. */
    public B maxFramesPerRead(int maxFramesPerRead) {
        values.maxFramesPerRead = (int) atLeast(1, "maxFramesPerRead", maxFramesPerRead);
        return self();
    }

    /** Sets {@link ZMTPConfig#consolidateFlushes()}. */
    public B consolidateFlushes(boolean consolidateFlushes) {
        values.consolidateFlushes = consolidateFlushes;
        return self();
    }

    /** Sets {@link ZMTPConfig#maxSubscriptions()}. */
    public B maxSubscriptions(int maxSubscriptions) {
        values.maxSubscriptions = (int) atLeast(0, "maxSubscriptions", maxSubscriptions);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxSubscriptionsLength()}. */
    public B maxSubscriptionsLength(long maxSubscriptionsLength) {
        values.maxSubscriptionsLength = atLeast(0, "maxSubscriptionsLength", maxSubscriptionsLength);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxRelayedSubscriptions()}. */
    public B maxRelayedSubscriptions(int maxRelayedSubscriptions) {
        values.maxRelayedSubscriptions = (int) atLeast(0, "maxRelayedSubscriptions", maxRelayedSubscriptions);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxRelayedSubscriptionsLength()}. */
    public B maxRelayedSubscriptionsLength(long maxRelayedSubscriptionsLength) {
        values.maxRelayedSubscriptionsLength =
                atLeast(0, "maxRelayedSubscriptionsLength", maxRelayedSubscriptionsLength);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxMetadataProperties()}. */
    public B maxMetadataProperties(int maxMetadataProperties) {
        values.maxMetadataProperties = (int) atLeast(1, "maxMetadataProperties", maxMetadataProperties);
        return self();
    }

    /** Sets {@link ZMTPConfig#maxHeldWritesLength()}. */
    public B maxHeldWritesLength(long maxHeldWritesLength) {
        values.maxHeldWritesLength = atLeast(0, "maxHeldWritesLength", maxHeldWritesLength);
        return self();
    }

    /** Sets {@link ZMTPConfig#memoryBudget()}. */
    public B memoryBudget(ZMTPMemoryBudget memoryBudget) {
        values.memoryBudget = Objects.requireNonNull(memoryBudget, "memoryBudget");
        return self();
    }

    /** Sets {@link ZMTPConfig#handshakeTimeout()}. */
    public B handshakeTimeout(Duration handshakeTimeout) {
        values.handshakeTimeout = checkDuration("handshakeTimeout", handshakeTimeout);
        return self();
    }

    /** Sets {@link ZMTPConfig#heartbeatInterval()}, from which the timeout is derived unless it is set. */
    public B heartbeatInterval(Duration heartbeatInterval) {
        values.heartbeatInterval = checkDuration("heartbeatInterval", heartbeatInterval);
        return self();
    }

    /** Sets {@link ZMTPConfig#heartbeatTimeout()}. */
    public B heartbeatTimeout(Duration heartbeatTimeout) {
        values.heartbeatTimeout = checkDuration("heartbeatTimeout", heartbeatTimeout);
        return self();
    }

    /** Sets {@link ZMTPConfig#heartbeatTtl()}. */
    public B heartbeatTtl(Duration heartbeatTtl) {
        long deciseconds = checkDuration("heartbeatTtl", heartbeatTtl).toMillis() / 100;
        if (deciseconds > MAX_TTL_DECISECONDS || (deciseconds == 0 && !heartbeatTtl.isZero())) {
            throw new IllegalArgumentException("heartbeatTtl: " + heartbeatTtl + " (expected: 0 or 0.1 to 65.5 s)");
        }
        values.heartbeatTtl = heartbeatTtl;
        return self();
    }

    /** Sets {@link ZMTPConfig#heartbeatZMTP30Peers()}. */
    public B heartbeatZMTP30Peers(boolean heartbeatZMTP30Peers) {
        values.heartbeatZMTP30Peers = heartbeatZMTP30Peers;
        return self();
    }

    /** Sets the clock for all time measurements of a connection, for tests. */
    B nanoTime(LongSupplier nanoTime) {
        values.nanoTime = nanoTime;
        return self();
    }

    private static long atLeast(long least, String name, long value) {
        if (value < least) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= " + least + ")");
        }
        return value;
    }

    private static Duration checkDuration(String name, Duration value) {
        Objects.requireNonNull(value, name);
        if (value.isNegative() || value.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: 0 to " + MAX_DURATION + ")");
        }
        if (!value.isZero() && value.compareTo(MIN_DURATION) < 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: 0 or at least " + MIN_DURATION + ")");
        }
        return value;
    }
}
