package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.security.ZMTPNull;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Values of all settings, with their defaults. A builder changes its own instance. A config has a copy that is never
 * changed.
 *
 * <p>A copy is a clone, so that it includes every setting. All values are immutable, because a mutable collection would
 * have to be copied.
 */
final class ConfigValues implements Cloneable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPConfig.class);

    private static final long DEFAULT_MAX_LENGTH = 64 << 20;
    private static final ByteBuffer ANONYMOUS = ByteBuffer.allocate(0).asReadOnlyBuffer();
    private static final ConfigValues DEFAULTS = new ConfigValues();

    ZMTPVersion protocol = ZMTPVersion.ZMTP31;
    boolean interop = true;

    @Nullable
    ZMTPSocketType socketType;

    ByteBuffer localIdentity = ANONYMOUS;
    ZMTPMetadata properties = ZMTPMetadata.EMPTY;
    ZMTPMechanism.Factory mechanism = ZMTPNull.mechanism();

    @Nullable
    ZMTPAuthenticator authenticator;

    String domain = "";

    @Nullable
    Executor handshakeExecutor;

    ZMTPIdentityGenerator identityGenerator = ZMTPIdentityGenerator.sequential();
    ZMTPEncoder.@Nullable Factory encoder;
    ZMTPDecoder.@Nullable Factory decoder;
    /** Maximum length of a frame, in bytes; 0 if not set. */
    int maxFrameLength;
    /** Maximum length of a message, in bytes; 0 if not set. */
    long maxMessageLength;

    int maxMessageFrames = 1024;
    int maxHandshakeCommandLength = 8 << 10;
    int maxCommandLength = 8 << 10;
    int maxCommandsPerSecond = 100_000;
    int maxFramesPerRead = 2048;
    boolean consolidateFlushes = true;
    int maxSubscriptions = 10_000;
    long maxSubscriptionsLength = 4 << 20;
    int maxRelayedSubscriptions = 1_000_000;
    long maxRelayedSubscriptionsLength = 256 << 20;
    int maxMetadataProperties = 256;
    long maxHeldWritesLength = 16 << 20;
    ZMTPMemoryBudget memoryBudget = ZMTPMemoryBudget.shared();
    Duration handshakeTimeout = Duration.ofSeconds(30);
    Duration heartbeatInterval = Duration.ZERO;

    @Nullable
    Duration heartbeatTimeout;

    Duration heartbeatTtl = Duration.ZERO;

    @Nullable
    Boolean heartbeatZMTP30Peers;

    /** Whether heartbeats that are not set have the defaults of a socket. */
    boolean ofSocket;

    /** Clock for all time measurements of a connection, in nanoseconds. */
    LongSupplier nanoTime = System::nanoTime;

    /** Returns a copy that shares no mutable state. */
    ConfigValues copy() {
        try {
            return (ConfigValues) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    int maxFrameLength() {
        return maxFrameLength > 0 ? maxFrameLength : (int) Math.min(defaultMaxLength(), maxMessageLength());
    }

    long maxMessageLength() {
        return maxMessageLength > 0 ? maxMessageLength : Math.max(defaultMaxLength(), maxFrameLength);
    }

    /** Returns the maximum length that two connections can keep at the same time. */
    private long defaultMaxLength() {
        return Math.max(1, Math.min(DEFAULT_MAX_LENGTH, memoryBudget.limit() / 2));
    }

    /**
     * Returns whether a message is kept until it is complete. A decoder receives its bytes as they arrive, and a type
     * that only sends keeps nothing.
     */
    boolean keepsMessages() {
        return decoder == null && !socketType().isSendOnly();
    }

    ZMTPSocketType socketType() {
        return Objects.requireNonNull(socketType, "socketType: not set (expected: a ZMTPSocketType)");
    }

    /** Checks that the settings are compatible. */
    void check() {
        boolean draft = socketType().isDraft();
        if (!protocol.hasCommands()) {
            expect(!draft, "protocol", protocol, "ZMTP30 or ZMTP31 for a " + socketType);
            expect(authenticator == null, "protocol", protocol, "ZMTP30 or ZMTP31 with an authenticator");
        }
        mechanism.check(protocol, authenticator != null);
        expect(
                maxFrameLength() <= maxMessageLength(),
                "maxFrameLength",
                maxFrameLength,
                "<= maxMessageLength, which is " + maxMessageLength);
        if (heartbeatInterval.isZero()) {
            String expected = "none without a heartbeatInterval";
            expect(heartbeatTimeout().isZero(), "heartbeatTimeout", heartbeatTimeout, expected);
            expect(heartbeatTtl.isZero(), "heartbeatTtl", heartbeatTtl, expected);
            expect(!heartbeatZMTP30Peers(), "heartbeatZMTP30Peers", true, "false without a heartbeatInterval");
        } else {
            boolean pings = protocol == ZMTPVersion.ZMTP31 || (protocol.hasCommands() && heartbeatZMTP30Peers());
            expect(pings, "heartbeatInterval", heartbeatInterval, "none with " + protocol + ", which has no PING");
        }
    }

    /** Logs warnings for settings that promise more than other settings allow. */
    void warn() {
        long budget = memoryBudget.limit();
        if (keepsMessages() && maxMessageLength() > budget) {
            logger.warn(
                    "maxMessageLength: {} (expected: <= {}, the memoryBudget: a longer message ends its connection)",
                    maxMessageLength(),
                    budget);
        }
    }

    private static void expect(boolean kept, String name, @Nullable Object value, String expected) {
        if (!kept) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: " + expected + ")");
        }
    }

    Duration heartbeatTimeout() {
        if (heartbeatTimeout != null) {
            return heartbeatTimeout;
        }
        Duration longer = ofSocket ? heartbeatInterval.plusNanos(heartbeatInterval.toNanos() / 2) : heartbeatInterval;
        return longer.compareTo(ZMTPSettings.MAX_DURATION) <= 0 ? longer : heartbeatInterval;
    }

    boolean heartbeatZMTP30Peers() {
        return heartbeatZMTP30Peers != null ? heartbeatZMTP30Peers : ofSocket && !heartbeatInterval.isZero();
    }

    /** Returns the socket type and each setting that differs from its default. */
    @Override
    public String toString() {
        Map<String, @Nullable Object> defaults = DEFAULTS.byName();
        StringJoiner out = new StringJoiner(", ", "{", "}");
        byName().forEach((name, value) -> {
            if (!Objects.equals(value, defaults.get(name))) {
                out.add(name + "=" + value);
            }
        });
        return out.toString();
    }

    /** Returns the settings by name, for printing. */
    private Map<String, @Nullable Object> byName() {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put("socketType", socketType);
        values.put("protocol", protocol);
        values.put("interop", interop);
        values.put("localIdentity", localIdentity.remaining() + " bytes");
        values.put("properties", properties);
        values.put("mechanism", nameOf(mechanism));
        values.put("authenticator", nameOf(authenticator));
        values.put("domain", domain);
        values.put("handshakeExecutor", nameOf(handshakeExecutor));
        values.put("identityGenerator", nameOf(identityGenerator));
        values.put("encoder", nameOf(encoder));
        values.put("decoder", nameOf(decoder));
        values.put("maxFrameLength", maxFrameLength);
        values.put("maxMessageLength", maxMessageLength);
        values.put("maxMessageFrames", maxMessageFrames);
        values.put("maxHandshakeCommandLength", maxHandshakeCommandLength);
        values.put("maxCommandLength", maxCommandLength);
        values.put("maxCommandsPerSecond", maxCommandsPerSecond);
        values.put("maxFramesPerRead", maxFramesPerRead);
        values.put("consolidateFlushes", consolidateFlushes);
        values.put("maxSubscriptions", maxSubscriptions);
        values.put("maxSubscriptionsLength", maxSubscriptionsLength);
        values.put("maxRelayedSubscriptions", maxRelayedSubscriptions);
        values.put("maxRelayedSubscriptionsLength", maxRelayedSubscriptionsLength);
        values.put("maxMetadataProperties", maxMetadataProperties);
        values.put("maxHeldWritesLength", maxHeldWritesLength);
        values.put("memoryBudget", memoryBudget.limit());
        values.put("handshakeTimeout", handshakeTimeout);
        values.put("heartbeatInterval", heartbeatInterval);
        values.put("heartbeatTimeout", ofSocket ? heartbeatTimeout() : heartbeatTimeout);
        values.put("heartbeatTtl", heartbeatTtl);
        values.put("heartbeatZMTP30Peers", heartbeatZMTP30Peers());
        return values;
    }

    /**
     * Returns a name for an object that can be the user's. It is the object's class, because the object's own text
     * could contain a password.
     */
    private static @Nullable String nameOf(@Nullable Object object) {
        if (object == null) {
            return null;
        }
        String type = object.getClass().getName();
        if (type.startsWith("dev.zmtp.")) {
            String text = object.toString();
            if (!text.startsWith(type)) { // as Object.toString() does
                return text;
            }
        }
        int lambda = type.indexOf("$$Lambda");
        String named = lambda < 0 ? type : type.substring(0, lambda);
        String simple = named.substring(named.lastIndexOf('.') + 1);
        return lambda < 0 ? simple : "lambda of " + simple;
    }
}
