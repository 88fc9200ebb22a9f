package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.wire.Greeting;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What a codec is told before its connection exists. Immutable: share one among all channels of a bootstrap.
 *
 * <p>Every limit is on by default and judged when a length arrives, before memory is taken for what it announces.
 */
public final class ZMTPConfig {

    private static final int MAX_TTL_DECISECONDS = 655;

    /** What an event loop can count to, in nanoseconds; 292 years. */
    private static final Duration MAX_DURATION = Duration.ofNanos(Long.MAX_VALUE);

    private final ZMTPVersion protocol;
    private final boolean interop;
    private final ZMTPSocketType socketType;
    private final ByteBuffer localIdentity;
    private final ZMTPMetadata properties;
    private final ZMTPMechanism.Factory mechanism;
    private final @Nullable ZMTPAuthenticator authenticator;
    private final String domain;
    private final @Nullable Executor handshakeExecutor;
    private final ZMTPIdentityGenerator identityGenerator;
    private final ZMTPEncoder.@Nullable Factory encoder;
    private final ZMTPDecoder.@Nullable Factory decoder;
    private final int maxFrameLength;
    private final long maxMessageLength;
    private final int maxMessageFrames;
    private final int maxHandshakeCommandLength;
    private final int maxCommandLength;
    private final int maxCommandsPerSecond;
    private final int maxSubscriptions;
    private final long maxSubscriptionsLength;
    private final int maxMetadataProperties;
    private final long maxHeldLength;
    private final Duration handshakeTimeout;
    private final Duration heartbeatInterval;
    private final @Nullable Duration heartbeatTimeout;
    private final Duration heartbeatTtl;

    private ZMTPConfig(Settings<?> from) {
        protocol = from.protocol;
        interop = from.interop;
        socketType = Objects.requireNonNull(from.socketType, "socketType");
        localIdentity = from.localIdentity;
        properties = from.properties;
        mechanism = from.mechanism;
        authenticator = from.authenticator;
        domain = from.domain;
        handshakeExecutor = from.handshakeExecutor;
        identityGenerator = from.identityGenerator;
        encoder = from.encoder;
        decoder = from.decoder;
        maxFrameLength = from.maxFrameLength;
        maxMessageLength = from.maxMessageLength;
        maxMessageFrames = from.maxMessageFrames;
        maxHandshakeCommandLength = from.maxHandshakeCommandLength;
        maxCommandLength = from.maxCommandLength;
        maxCommandsPerSecond = from.maxCommandsPerSecond;
        maxSubscriptions = from.maxSubscriptions;
        maxSubscriptionsLength = from.maxSubscriptionsLength;
        maxMetadataProperties = from.maxMetadataProperties;
        maxHeldLength = from.maxHeldLength;
        handshakeTimeout = from.handshakeTimeout;
        heartbeatInterval = from.heartbeatInterval;
        heartbeatTimeout = from.heartbeatTimeout;
        heartbeatTtl = from.heartbeatTtl;
        if (socketType.isDraft() && !protocol.hasCommands()) {
            throw new IllegalArgumentException(
                    "protocol: " + protocol + " (expected: ZMTP30 or ZMTP31 for a " + socketType + ")");
        }
        if (authenticator != null && !protocol.hasCommands()) {
            throw new IllegalArgumentException(
                    "protocol: " + protocol + " (expected: ZMTP30 or ZMTP31 with an authenticator)");
        }
        mechanism.check(protocol, authenticator != null);
    }

    /** Returns a builder with the defaults; a socket type must be given to it. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a builder with all settings of this config. */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.copy(this);
        return builder;
    }

    /** The highest version spoken. Default: ZMTP 3.1. */
    public ZMTPVersion protocol() {
        return protocol;
    }

    /** Whether a peer may speak an older version than {@link #protocol()}. Default: true. */
    public boolean interop() {
        return interop;
    }

    /** What kind of socket this side is. */
    public ZMTPSocketType socketType() {
        return socketType;
    }

    /** The identity announced to the peer, read-only; empty, the default, to stay anonymous. */
    public ByteBuffer localIdentity() {
        return localIdentity.duplicate();
    }

    /** The application's own properties, announced to a 3.x peer. Default: none. */
    public ZMTPMetadata properties() {
        return properties;
    }

    /** The security mechanism. Default: NULL. */
    public ZMTPMechanism.Factory mechanism() {
        return mechanism;
    }

    /**
     * Who decides about peers; null, the default, if all may come in. With one, only 3.x peers may, as no older one can be
     * told that it may not.
     */
    public @Nullable ZMTPAuthenticator authenticator() {
        return authenticator;
    }

    /** What the authenticator is told of the group of services that this one belongs to. Default: empty. */
    public String domain() {
        return domain;
    }

    /**
     * Where the computations of a CURVE handshake run; some tenths of a millisecond for each. Default: threads of the library's own, as many
     * as there are processors, which are daemons, start when they are needed and end after a minute without work; at most
     * 10,000 computations wait.
     */
    public Executor handshakeExecutor() {
        return handshakeExecutor == null ? HandshakeExecutor.shared() : handshakeExecutor;
    }

    /** What names anonymous peers. Default: {@link ZMTPIdentityGenerator#sequential()}. */
    public ZMTPIdentityGenerator identityGenerator() {
        return identityGenerator;
    }

    /** What writes messages; null, the default, for {@code ZMTPMessage}. */
    public ZMTPEncoder.@Nullable Factory encoder() {
        return encoder;
    }

    /** What reads messages; null, the default, for {@code ZMTPMessage}. */
    public ZMTPDecoder.@Nullable Factory decoder() {
        return decoder;
    }

    /** The most octets of one received frame. Default: 64 MiB. */
    public int maxFrameLength() {
        return maxFrameLength;
    }

    /** The most octets of all frames of one received message, with 64 for each frame behind the first. Default: 64 MiB. */
    public long maxMessageLength() {
        return maxMessageLength;
    }

    /** The most frames of one received message. Default: 1,024. */
    public int maxMessageFrames() {
        return maxMessageFrames;
    }

    /** The most octets of one command received during the handshake. Default: 64 KiB. */
    public int maxHandshakeCommandLength() {
        return maxHandshakeCommandLength;
    }

    /**
     * The most octets of one command received after the handshake. Default: 8 KiB. A subscription that comes as a message and
     * is longer is a message, which an XPUB channel fires and a PUB channel drops.
     */
    public int maxCommandLength() {
        return maxCommandLength;
    }

    /**
     * The most commands that may be received within a second; a subscription that comes as a message is one of them. Up to
     * twice as many may pass before it is noticed, never more. What piled up while nothing was read counts when it is read.
     * Default: 100,000.
     */
    public int maxCommandsPerSecond() {
        return maxCommandsPerSecond;
    }

    /** The most topics, or groups, that a peer may have asked for at one time. Default: 10,000. */
    public int maxSubscriptions() {
        return maxSubscriptions;
    }

    /** The most octets of all topics that a peer may have asked for at one time, with 64 for each. Default: 4 MiB. */
    public long maxSubscriptionsLength() {
        return maxSubscriptionsLength;
    }

    /** The most properties that a peer may announce. Default: 256. */
    public int maxMetadataProperties() {
        return maxMetadataProperties;
    }

    /**
     * The most octets of writes held until the handshake is complete, with 64 for each frame. What is no
     * {@code ZMTPMessage} counts as the channel's {@code MessageSizeEstimator} says, which gives 8 octets to what it does not
     * know, and 64: who has an {@link #encoder()} for large objects sets an estimator that knows them. Default: 16 MiB.
     */
    public long maxHeldLength() {
        return maxHeldLength;
    }

    /** The time from connection to the end of the handshake, not extended by progress. Default: 30 s; zero: no limit. */
    public Duration handshakeTimeout() {
        return handshakeTimeout;
    }

    /** The time between PINGs to a 3.1 peer. Default: zero, none are sent. */
    public Duration heartbeatInterval() {
        return heartbeatInterval;
    }

    /** The silence after a PING that ends the connection. Default: the interval; zero, given explicitly: never. */
    public Duration heartbeatTimeout() {
        return heartbeatTimeout == null ? heartbeatInterval : heartbeatTimeout;
    }

    /** The silence after which the peer shall give us up, sent with each PING. Default: zero, no demand. */
    public Duration heartbeatTtl() {
        return heartbeatTtl;
    }

    @Override
    public String toString() {
        return "ZMTPConfig{protocol=" + protocol + ", interop=" + interop + ", socketType=" + socketType
                + ", localIdentity=" + localIdentity.remaining() + " octets, properties=" + properties
                + ", maxFrameLength=" + maxFrameLength + ", maxMessageLength=" + maxMessageLength
                + ", maxMessageFrames=" + maxMessageFrames + ", maxHandshakeCommandLength="
                + maxHandshakeCommandLength + ", maxCommandLength=" + maxCommandLength + ", maxCommandsPerSecond="
                + maxCommandsPerSecond + ", maxSubscriptions=" + maxSubscriptions + ", maxSubscriptionsLength="
                + maxSubscriptionsLength + ", maxMetadataProperties=" + maxMetadataProperties + ", maxHeldLength="
                + maxHeldLength + ", handshakeTimeout="
                + handshakeTimeout + ", heartbeatInterval=" + heartbeatInterval + ", heartbeatTimeout="
                + heartbeatTimeout() + ", heartbeatTtl=" + heartbeatTtl + "}";
    }

    /** Collects the settings of a {@link ZMTPConfig}. Not thread safe. */
    public static final class Builder extends Settings<Builder> {
        private Builder() {}

        /**
         * Returns a config of what was set.
         *
         * @throws NullPointerException if no socket type was
         * @throws IllegalArgumentException if the protocol is too old for the socket type or the mechanism, or the mechanism
         *     and the authenticator do not go together
         */
        public ZMTPConfig build() {
            return config();
        }
    }

    /**
     * The settings that {@link ZMTPConfig.Builder} and {@link ZMTPCodec.Builder} share. A value that is out of bounds is
     * refused at once with an {@link IllegalArgumentException}. What each setting means and its default stand at the
     * accessor of the same name in {@link ZMTPConfig}.
     *
     * @param <B> the builder itself
     */
    public abstract static sealed class Settings<B extends Settings<B>> permits Builder, ZMTPCodec.Builder {
        private ZMTPVersion protocol = ZMTPVersion.ZMTP31;
        private boolean interop = true;
        private @Nullable ZMTPSocketType socketType;
        private ByteBuffer localIdentity = ByteBuffer.allocate(0);
        private ZMTPMetadata properties = ZMTPMetadata.EMPTY;
        private ZMTPMechanism.Factory mechanism = ZMTPNull.mechanism();
        private @Nullable ZMTPAuthenticator authenticator;
        private String domain = "";
        private @Nullable Executor handshakeExecutor;
        private ZMTPIdentityGenerator identityGenerator = ZMTPIdentityGenerator.sequential();
        private ZMTPEncoder.@Nullable Factory encoder;
        private ZMTPDecoder.@Nullable Factory decoder;
        private int maxFrameLength = 64 << 20;
        private long maxMessageLength = 64 << 20;
        private int maxMessageFrames = 1024;
        private int maxHandshakeCommandLength = 64 << 10;
        private int maxCommandLength = 8 << 10;
        private int maxCommandsPerSecond = 100_000;
        private int maxSubscriptions = 10_000;
        private long maxSubscriptionsLength = 4 << 20;
        private int maxMetadataProperties = 256;
        private long maxHeldLength = 16 << 20;
        private Duration handshakeTimeout = Duration.ofSeconds(30);
        private Duration heartbeatInterval = Duration.ZERO;
        private @Nullable Duration heartbeatTimeout;
        private Duration heartbeatTtl = Duration.ZERO;

        Settings() {}

        final ZMTPConfig config() {
            return new ZMTPConfig(this);
        }

        final void copy(ZMTPConfig config) {
            protocol = config.protocol;
            interop = config.interop;
            socketType = config.socketType;
            localIdentity = config.localIdentity;
            properties = config.properties;
            mechanism = config.mechanism;
            authenticator = config.authenticator;
            domain = config.domain;
            handshakeExecutor = config.handshakeExecutor;
            identityGenerator = config.identityGenerator;
            encoder = config.encoder;
            decoder = config.decoder;
            maxFrameLength = config.maxFrameLength;
            maxMessageLength = config.maxMessageLength;
            maxMessageFrames = config.maxMessageFrames;
            maxHandshakeCommandLength = config.maxHandshakeCommandLength;
            maxCommandLength = config.maxCommandLength;
            maxCommandsPerSecond = config.maxCommandsPerSecond;
            maxSubscriptions = config.maxSubscriptions;
            maxSubscriptionsLength = config.maxSubscriptionsLength;
            maxMetadataProperties = config.maxMetadataProperties;
            maxHeldLength = config.maxHeldLength;
            handshakeTimeout = config.handshakeTimeout;
            heartbeatInterval = config.heartbeatInterval;
            heartbeatTimeout = config.heartbeatTimeout;
            heartbeatTtl = config.heartbeatTtl;
        }

        @SuppressWarnings("unchecked") // B is the builder itself, as the sealed subclasses show.
        private B self() {
            return (B) this;
        }

        /** Sets the highest version to speak. */
        public B protocol(ZMTPVersion protocol) {
            this.protocol = Objects.requireNonNull(protocol, "protocol");
            return self();
        }

        /** Sets whether a peer may speak an older version. */
        public B interop(boolean interop) {
            this.interop = interop;
            return self();
        }

        /** Sets the socket type. Required. */
        public B socketType(ZMTPSocketType socketType) {
            this.socketType = Objects.requireNonNull(socketType, "socketType");
            return self();
        }

        /** Sets the identity to announce: at most 255 octets of UTF-8. */
        public B localIdentity(CharSequence localIdentity) {
            return localIdentity(localIdentity.toString().getBytes(StandardCharsets.UTF_8));
        }

        /** Sets the identity to announce: at most 255 octets, the first of which is not zero. */
        public B localIdentity(byte[] localIdentity) {
            return localIdentity(ByteBuffer.wrap(localIdentity));
        }

        /** Sets the identity to announce: the octets from position to limit, which are copied, at most 255 of them. */
        public B localIdentity(ByteBuffer localIdentity) {
            byte[] octets = new byte[localIdentity.remaining()];
            localIdentity.duplicate().get(octets);
            if (octets.length > Greeting.MAX_IDENTITY_LENGTH) {
                throw new IllegalArgumentException("localIdentity length: " + octets.length + " (expected: <= "
                        + Greeting.MAX_IDENTITY_LENGTH + ")");
            }
            if (octets.length > 0 && octets[0] == 0) {
                throw new IllegalArgumentException("localIdentity: first octet 00 (expected: 01 to ff)");
            }
            this.localIdentity = ByteBuffer.wrap(octets).asReadOnlyBuffer();
            return self();
        }

        /**
         * Sets a property to announce to a 3.x peer, in place of one of the same name.
         *
         * @param name {@code X-} and letters, digits or {@code - _ . +}, at most 255; or {@code Resource}
         * @param value any text, sent as UTF-8
         */
        public B property(String name, String value) {
            return property(name, ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
        }

        /** Sets a property to announce to a 3.x peer; the value's octets from position to limit are copied. */
        public B property(String name, ByteBuffer value) {
            boolean resource = name.equalsIgnoreCase(ZMTPMetadata.RESOURCE);
            if (!resource && !name.matches("(?i)X-[a-z0-9._+-]{1,253}")) {
                throw new IllegalArgumentException(
                        "property name: " + name + " (expected: X- and 1 to 253 letters, digits or -_.+)");
            }
            properties = properties.without(name).with(name, value);
            return self();
        }

        /** Sets the security mechanism. */
        public B mechanism(ZMTPMechanism.Factory mechanism) {
            this.mechanism = Objects.requireNonNull(mechanism, "mechanism");
            return self();
        }

        /** Sets who decides about peers. */
        public B authenticator(ZMTPAuthenticator authenticator) {
            this.authenticator = Objects.requireNonNull(authenticator, "authenticator");
            return self();
        }

        /** Sets what the authenticator is told of the group of services that this one belongs to. */
        public B domain(String domain) {
            this.domain = Objects.requireNonNull(domain, "domain");
            return self();
        }

        /** Sets where the computations of a CURVE handshake run. It must not be the event loop. */
        public B handshakeExecutor(Executor handshakeExecutor) {
            this.handshakeExecutor = Objects.requireNonNull(handshakeExecutor, "handshakeExecutor");
            return self();
        }

        /** Sets what names anonymous peers. */
        public B identityGenerator(ZMTPIdentityGenerator identityGenerator) {
            this.identityGenerator = Objects.requireNonNull(identityGenerator, "identityGenerator");
            return self();
        }

        /** Sets what writes the application's own type. It then gets every written object but subscriptions and
         * memberships. */
        public B encoder(ZMTPEncoder.Factory encoder) {
            this.encoder = Objects.requireNonNull(encoder, "encoder");
            return self();
        }

        /**
         * As {@link #encoder(ZMTPEncoder.Factory)}, by the constructor without arguments. It is called by reflection: a GraalVM
         * native image needs metadata that name it, and with a factory it needs none.
         */
        public B encoder(Class<? extends ZMTPEncoder> encoder) {
            Constructor<? extends ZMTPEncoder> constructor = constructor(encoder);
            return encoder(session -> instance(constructor));
        }

        /** Sets what reads the application's own type. */
        public B decoder(ZMTPDecoder.Factory decoder) {
            this.decoder = Objects.requireNonNull(decoder, "decoder");
            return self();
        }

        /**
         * As {@link #decoder(ZMTPDecoder.Factory)}, by the constructor without arguments. It is called by reflection: a GraalVM
         * native image needs metadata that name it, and with a factory it needs none.
         */
        public B decoder(Class<? extends ZMTPDecoder> decoder) {
            Constructor<? extends ZMTPDecoder> constructor = constructor(decoder);
            return decoder(session -> instance(constructor));
        }

        private static <T> Constructor<T> constructor(Class<T> type) {
            try {
                Constructor<T> constructor = type.getDeclaredConstructor();
                constructor.setAccessible(true);
                return constructor;
            } catch (NoSuchMethodException e) {
                throw new IllegalArgumentException(
                        type.getName() + ": no constructor without arguments (expected: one)", e);
            }
        }

        private static <T> T instance(Constructor<T> constructor) {
            try {
                return constructor.newInstance();
            } catch (InvocationTargetException e) {
                throw new IllegalStateException(constructor + " failed", e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(constructor + " cannot be called", e);
            }
        }

        /** Sets the most octets of one frame: at least 1. */
        public B maxFrameLength(int maxFrameLength) {
            this.maxFrameLength = (int) atLeast(1, "maxFrameLength", maxFrameLength);
            return self();
        }

        /** Sets the most octets of one message: at least 1. */
        public B maxMessageLength(long maxMessageLength) {
            this.maxMessageLength = atLeast(1, "maxMessageLength", maxMessageLength);
            return self();
        }

        /** Sets the most frames of one message: at least 1. */
        public B maxMessageFrames(int maxMessageFrames) {
            this.maxMessageFrames = (int) atLeast(1, "maxMessageFrames", maxMessageFrames);
            return self();
        }

        /** Sets the most octets of a handshake command: at least 1. */
        public B maxHandshakeCommandLength(int maxHandshakeCommandLength) {
            this.maxHandshakeCommandLength = (int) atLeast(1, "maxHandshakeCommandLength", maxHandshakeCommandLength);
            return self();
        }

        /** Sets the most octets of a command or a subscription: at least 1. */
        public B maxCommandLength(int maxCommandLength) {
            this.maxCommandLength = (int) atLeast(1, "maxCommandLength", maxCommandLength);
            return self();
        }

        /** Sets the most commands within a second: at least 1. */
        public B maxCommandsPerSecond(int maxCommandsPerSecond) {
            this.maxCommandsPerSecond = (int) atLeast(1, "maxCommandsPerSecond", maxCommandsPerSecond);
            return self();
        }

        /** Sets the most topics or groups of a peer at one time: at least 0. */
        public B maxSubscriptions(int maxSubscriptions) {
            this.maxSubscriptions = (int) atLeast(0, "maxSubscriptions", maxSubscriptions);
            return self();
        }

        /** Sets the most octets of all topics of a peer at one time: at least 0. */
        public B maxSubscriptionsLength(long maxSubscriptionsLength) {
            this.maxSubscriptionsLength = atLeast(0, "maxSubscriptionsLength", maxSubscriptionsLength);
            return self();
        }

        /** Sets the most properties of a peer: at least 1, the Socket-Type. */
        public B maxMetadataProperties(int maxMetadataProperties) {
            this.maxMetadataProperties = (int) atLeast(1, "maxMetadataProperties", maxMetadataProperties);
            return self();
        }

        /** Sets the most octets of writes that are held until the handshake is complete: at least 0. */
        public B maxHeldLength(long maxHeldLength) {
            this.maxHeldLength = atLeast(0, "maxHeldLength", maxHeldLength);
            return self();
        }

        /** Sets the time for the whole handshake; zero for no limit. */
        public B handshakeTimeout(Duration handshakeTimeout) {
            this.handshakeTimeout = countable("handshakeTimeout", handshakeTimeout);
            return self();
        }

        /** Sets the time between PINGs; zero to send none. */
        public B heartbeatInterval(Duration heartbeatInterval) {
            this.heartbeatInterval = countable("heartbeatInterval", heartbeatInterval);
            return self();
        }

        /** Sets the silence after a PING that ends the connection; zero for never. */
        public B heartbeatTimeout(Duration heartbeatTimeout) {
            this.heartbeatTimeout = countable("heartbeatTimeout", heartbeatTimeout);
            return self();
        }

        /**
         * Sets the silence after which the peer shall give us up: zero, or 0.1 to 65.5 s in steps of a tenth of a second.
         * The wire could say more, but libzmq understands no more.
         */
        public B heartbeatTtl(Duration heartbeatTtl) {
            long deciseconds = countable("heartbeatTtl", heartbeatTtl).toMillis() / 100;
            if (deciseconds > MAX_TTL_DECISECONDS || (deciseconds == 0 && !heartbeatTtl.isZero())) {
                throw new IllegalArgumentException("heartbeatTtl: " + heartbeatTtl + " (expected: 0 or 0.1 to 65.5 s)");
            }
            this.heartbeatTtl = heartbeatTtl;
            return self();
        }

        private static long atLeast(long least, String name, long value) {
            if (value < least) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: >= " + least + ")");
            }
            return value;
        }

        private static Duration countable(String name, Duration value) {
            Objects.requireNonNull(value, name);
            if (value.isNegative() || value.compareTo(MAX_DURATION) > 0) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: 0 to " + MAX_DURATION + ")");
            }
            return value;
        }
    }
}
