package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.Fired.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What can be configured: the defaults, what is refused, what a copy keeps, and what is printed. */
class ZMTPConfigTest {

    private static ZMTPConfig.Builder dealer() {
        return ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER);
    }

    /** Every setting with another value than its default, but for those that exclude each other. */
    private static ZMTPConfig.Builder changed() {
        return dealer().interop(false)
                .localIdentity("me")
                .property("X-App", "1")
                .mechanism(context -> ZMTPNull.mechanism().create(context))
                .authenticator(ZMTPAuthenticator.acceptAll())
                .domain("services")
                .handshakeExecutor(Runnable::run)
                .identityGenerator(session -> ByteBuffer.allocate(1))
                .encoder(NoEncoder.class)
                .decoder(NoDecoder.class)
                .maxFrameLength(1)
                .maxMessageLength(2)
                .maxMessageFrames(3)
                .maxHandshakeCommandLength(40)
                .maxCommandLength(5)
                .maxCommandsPerSecond(51)
                .maxFramesPerRead(54)
                .consolidateFlushes(false)
                .maxSubscriptions(52)
                .maxSubscriptionsLength(53)
                .maxRelayedSubscriptions(56)
                .maxRelayedSubscriptionsLength(57)
                .maxMetadataProperties(6)
                .maxHeldWritesLength(7)
                .memoryBudget(ZMTPMemoryBudget.of(55))
                .handshakeTimeout(Duration.ofSeconds(8));
    }

    private static ZMTPConfig withHeartbeats() {
        return changed()
                .heartbeatInterval(Duration.ofSeconds(9))
                .heartbeatTimeout(Duration.ofSeconds(10))
                .heartbeatTtl(Duration.ofSeconds(11))
                .heartbeatZMTP30Peers(true)
                .build();
    }

    private static ZMTPConfig olderProtocol() {
        return changed().protocol(ZMTPVersion.ZMTP30).build();
    }

    private static List<Method> accessors() {
        List<Method> accessors = Arrays.stream(ZMTPConfig.class.getMethods())
                .filter(method -> method.getDeclaringClass() == ZMTPConfig.class
                        && !Modifier.isStatic(method.getModifiers())
                        && method.getParameterCount() == 0
                        && !List.of("toString", "toBuilder").contains(method.getName()))
                .toList();
        assertThat(accessors).hasSizeGreaterThanOrEqualTo(20);
        return accessors;
    }

    static List<Method> everyAccessor() {
        return accessors();
    }

    @ParameterizedTest
    @MethodSource("everyAccessor")
    void aSettingIsCopiedAndPrinted(Method accessor) throws ReflectiveOperationException {
        ZMTPConfig changed = accessor.getName().equals("protocol") ? olderProtocol() : withHeartbeats();
        Object value = accessor.invoke(changed);
        Object plain = accessor.invoke(
                ZMTPConfig.builder().socketType(ZMTPSocketType.PUB).build());
        assertThat(value)
                .as("%s is not changed by this test", accessor.getName())
                .isNotEqualTo(plain);
        assertThat(accessor.invoke(changed.toBuilder().build())).isEqualTo(value);
        assertThat(changed.toString()).contains(accessor.getName() + "=");
    }

    @Test
    void aCopyIsIndependentOfTheOriginal() {
        ZMTPConfig original = withHeartbeats();
        ZMTPConfig copy =
                original.toBuilder().interop(true).property("X-More", "2").build();
        assertThat(copy.interop()).isTrue();
        assertThat(original.interop()).isFalse();
        assertThat(copy.properties().names()).containsExactly("X-App", "X-More");
        assertThat(original.properties().names()).containsExactly("X-App");
    }

    @Test
    void aCopyKeepsTheTimeoutTiedToTheInterval() {
        ZMTPConfig tied = dealer().heartbeatInterval(Duration.ofSeconds(1)).build();
        ZMTPConfig copy =
                tied.toBuilder().heartbeatInterval(Duration.ofSeconds(2)).build();
        assertThat(tied.heartbeatTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(copy.heartbeatTimeout()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void theDefaultsAreThoseThatAreDocumented() {
        ZMTPConfig config = dealer().build();
        assertThat(config.protocol()).isEqualTo(ZMTPVersion.ZMTP31);
        assertThat(config.interop()).isTrue();
        assertThat(config.localIdentity().hasRemaining()).isFalse();
        assertThat(config.properties()).isEqualTo(ZMTPMetadata.EMPTY);
        assertThat(config.authenticator()).isNull();
        assertThat(config.domain()).isEmpty();
        assertThat(config.encoder()).isNull();
        assertThat(config.decoder()).isNull();
        assertThat(config.maxFrameLength()).isEqualTo(64 << 20);
        assertThat(config.maxMessageLength()).isEqualTo(64 << 20);
        assertThat(config.maxMessageFrames()).isEqualTo(1024);
        assertThat(config.maxHandshakeCommandLength()).isEqualTo(8 << 10);
        assertThat(config.maxCommandLength()).isEqualTo(8 << 10);
        assertThat(config.maxCommandsPerSecond()).isEqualTo(100_000);
        assertThat(config.maxFramesPerRead()).isEqualTo(2048);
        assertThat(config.consolidateFlushes()).isTrue();
        assertThat(config.maxSubscriptions()).isEqualTo(10_000);
        assertThat(config.maxSubscriptionsLength()).isEqualTo(4 << 20);
        assertThat(config.maxMetadataProperties()).isEqualTo(256);
        assertThat(config.maxHeldWritesLength()).isEqualTo(16 << 20);
        assertThat(config.handshakeTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.heartbeatInterval()).isZero();
        assertThat(config.heartbeatTimeout()).isZero();
        assertThat(config.heartbeatTtl()).isZero();
        assertThat(config.heartbeatZMTP30Peers()).isFalse();
    }

    private static Arguments bad(Consumer<ZMTPConfig.Builder> setting, String message) {
        return Arguments.of(message, setting);
    }

    static List<Arguments> badValues() {
        String tooLong = "[+]?PT-?[0-9HMS.]+ [(]expected: 0 to PT2562047H47M16.854775807S[)]";
        return List.of(
                bad(b -> b.localIdentity("i".repeat(256)), "localIdentity length: 256 [(]expected: <= 255[)]"),
                bad(b -> b.localIdentity("é".repeat(128)), "localIdentity length: 256 [(]expected: <= 255[)]"),
                bad(b -> b.localIdentity(new byte[1]), "localIdentity: first byte 00 [(]expected: 01 to ff[)]"),
                bad(b -> b.localIdentity(ByteBuffer.allocate(2)), "localIdentity: first byte 00 [(]expected: .*"),
                bad(b -> b.property("App", "1"), "property name: App [(]expected: X- and 1 to 253 .*"),
                bad(b -> b.property("X-", "1"), "property name: X- [(]expected: X- and 1 to 253 .*"),
                bad(b -> b.property("X-a b", "1"), "property name: X-a b [(]expected: .*"),
                bad(b -> b.property("Socket-Type", "PUB"), "property name: Socket-Type [(]expected: .*"),
                bad(b -> b.property("Identity", "me"), "property name: Identity [(]expected: .*"),
                bad(b -> b.property("X-" + "n".repeat(254), "1"), "property name: X-n+ [(]expected: .*"),
                bad(b -> b.maxFrameLength(0), "maxFrameLength: 0 [(]expected: >= 1[)]"),
                bad(b -> b.maxFrameLength(Integer.MIN_VALUE), "maxFrameLength: -2147483648 [(]expected: >= 1[)]"),
                bad(b -> b.maxMessageLength(0), "maxMessageLength: 0 [(]expected: >= 1[)]"),
                bad(b -> b.maxMessageFrames(0), "maxMessageFrames: 0 [(]expected: >= 1[)]"),
                bad(b -> b.maxHandshakeCommandLength(0), "maxHandshakeCommandLength: 0 [(]expected: >= 25[)]"),
                bad(b -> b.maxHandshakeCommandLength(24), "maxHandshakeCommandLength: 24 [(]expected: >= 25[)]"),
                bad(b -> b.maxCommandLength(-1), "maxCommandLength: -1 [(]expected: >= 1[)]"),
                bad(b -> b.maxCommandsPerSecond(0), "maxCommandsPerSecond: 0 [(]expected: >= 1[)]"),
                bad(b -> b.maxFramesPerRead(0), "maxFramesPerRead: 0 [(]expected: >= 1[)]"),
                bad(b -> b.maxSubscriptions(-1), "maxSubscriptions: -1 [(]expected: >= 0[)]"),
                bad(b -> b.maxSubscriptionsLength(-1), "maxSubscriptionsLength: -1 [(]expected: >= 0[)]"),
                bad(b -> b.maxRelayedSubscriptions(-1), "maxRelayedSubscriptions: -1 [(]expected: >= 0[)]"),
                bad(b -> b.maxRelayedSubscriptionsLength(-1), "maxRelayedSubscriptionsLength: -1 [(]expected: >= 0[)]"),
                bad(b -> b.maxMetadataProperties(0), "maxMetadataProperties: 0 [(]expected: >= 1[)]"),
                bad(b -> b.maxHeldWritesLength(-1), "maxHeldWritesLength: -1 [(]expected: >= 0[)]"),
                bad(b -> b.handshakeTimeout(Duration.ofSeconds(-1)), "handshakeTimeout: " + tooLong),
                bad(b -> b.handshakeTimeout(ChronoUnit.FOREVER.getDuration()), "handshakeTimeout: " + tooLong),
                bad(b -> b.heartbeatInterval(Duration.ofNanos(-1)), "heartbeatInterval: " + tooLong),
                bad(b -> b.heartbeatInterval(Duration.ofDays(200_000)), "heartbeatInterval: " + tooLong),
                bad(
                        b -> b.heartbeatInterval(Duration.ofNanos(1)),
                        "heartbeatInterval: PT0.000000001S [(]expected: 0 or at least PT0.001S[)]"),
                bad(b -> b.heartbeatTimeout(Duration.ofNanos(999_999)), "heartbeatTimeout: .* at least PT0.001S[)]"),
                bad(b -> b.handshakeTimeout(Duration.ofNanos(999_999)), "handshakeTimeout: .* at least PT0.001S[)]"),
                bad(b -> b.heartbeatTimeout(Duration.ofSeconds(-1)), "heartbeatTimeout: " + tooLong),
                bad(b -> b.heartbeatTtl(Duration.ofSeconds(-1)), "heartbeatTtl: " + tooLong),
                bad(b -> b.heartbeatTtl(Duration.ofMillis(99)), "heartbeatTtl: PT0.099S [(]expected: 0 or 0.1 to .*"),
                bad(b -> b.heartbeatTtl(Duration.ofMillis(65_600)), "heartbeatTtl: PT1M5.6S [(]expected: 0 or .*"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badValues")
    void aBadValueIsRefusedAtOnceWithWhatWasExpected(String message, Consumer<ZMTPConfig.Builder> setting) {
        ZMTPConfig.Builder builder = dealer();
        assertThatThrownBy(() -> setting.accept(builder))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching(message);
    }

    static List<UnaryOperator<ZMTPConfig.Builder>> valuesAtTheirBounds() {
        return List.of(
                b -> b.localIdentity("i".repeat(255)),
                b -> b.localIdentity(""),
                b -> b.property("X-" + "n".repeat(253), ""),
                b -> b.property("x-a", "1"),
                b -> b.property("Resource", "a"),
                b -> b.maxFrameLength(1),
                b -> b.maxFrameLength(Integer.MAX_VALUE),
                b -> b.maxMessageLength(Long.MAX_VALUE),
                b -> b.maxHandshakeCommandLength(25),
                b -> b.maxCommandsPerSecond(1),
                b -> b.maxSubscriptions(0),
                b -> b.maxSubscriptionsLength(0),
                b -> b.maxHeldWritesLength(0),
                b -> b.handshakeTimeout(Duration.ZERO),
                b -> b.handshakeTimeout(Duration.ofMillis(1)),
                b -> b.heartbeatInterval(Duration.ofMillis(1)).heartbeatTimeout(Duration.ofMillis(1)),
                b -> b.handshakeTimeout(Duration.ofNanos(Long.MAX_VALUE)),
                b -> b.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofMillis(100)),
                b -> b.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofMillis(65_599)));
    }

    @ParameterizedTest
    @MethodSource("valuesAtTheirBounds")
    void aValueAtItsBoundIsAccepted(UnaryOperator<ZMTPConfig.Builder> setting) {
        assertThatCode(() -> setting.apply(dealer()).build()).doesNotThrowAnyException();
    }

    @Test
    void aSocketTypeMustBeGiven() {
        assertThatThrownBy(() -> ZMTPConfig.builder().build())
                .isInstanceOf(NullPointerException.class)
                .hasMessage("socketType: not set (expected: a ZMTPSocketType)");
        assertThatThrownBy(() -> ZMTPCodec.builder().build())
                .isInstanceOf(NullPointerException.class)
                .hasMessage("socketType: not set (expected: a ZMTPSocketType)");
    }

    @Test
    @SuppressWarnings("NullAway") // a caller without such checks
    void aMissingDurationIsNamed() {
        assertThatThrownBy(() -> dealer().handshakeTimeout(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("handshakeTimeout");
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPVersion.class,
            names = {"ZMTP10", "ZMTP20"})
    void aDraftTypeNeedsAProtocolThatCanNameIt(ZMTPVersion protocol) {
        assertThatThrownBy(() -> ZMTPConfig.builder()
                        .socketType(ZMTPSocketType.CLIENT)
                        .protocol(protocol)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("protocol: " + protocol + " (expected: ZMTP30 or ZMTP31 for a CLIENT)");
    }

    // Settings that do not go together

    static List<Arguments> contradictions() {
        Duration second = Duration.ofSeconds(1);
        return List.of(
                bad(
                        b -> b.maxFrameLength(100).maxMessageLength(99),
                        "maxFrameLength: 100 (expected: <= maxMessageLength, which is 99)"),
                bad(
                        b -> b.maxMessageLength(99).maxFrameLength(100),
                        "maxFrameLength: 100 (expected: <= maxMessageLength, which is 99)"),
                bad(
                        b -> b.heartbeatTimeout(second),
                        "heartbeatTimeout: PT1S (expected: none without a heartbeatInterval)"),
                bad(b -> b.heartbeatTtl(second), "heartbeatTtl: PT1S (expected: none without a heartbeatInterval)"),
                bad(
                        b -> b.heartbeatTtl(second).heartbeatInterval(Duration.ZERO),
                        "heartbeatTtl: PT1S (expected: none without a heartbeatInterval)"),
                bad(
                        b -> b.heartbeatZMTP30Peers(true),
                        "heartbeatZMTP30Peers: true (expected: false without a heartbeatInterval)"),
                bad(
                        b -> b.heartbeatInterval(second)
                                .heartbeatZMTP30Peers(true)
                                .protocol(ZMTPVersion.ZMTP20),
                        "heartbeatInterval: PT1S (expected: none with ZMTP20, which has no PING)"),
                bad(
                        b -> b.heartbeatInterval(second).protocol(ZMTPVersion.ZMTP30),
                        "heartbeatInterval: PT1S (expected: none with ZMTP30, which has no PING)"),
                bad(
                        b -> b.authenticator(ZMTPAuthenticator.acceptAll()).protocol(ZMTPVersion.ZMTP20),
                        "protocol: ZMTP20 (expected: ZMTP30 or ZMTP31 with an authenticator)"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("contradictions")
    void aContradictionIsRefusedWhenTheConfigIsBuilt(String message, Consumer<ZMTPConfig.Builder> settings) {
        ZMTPConfig.Builder builder = dealer();
        settings.accept(builder);
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
        ZMTPCodec.Builder codec = ZMTPCodec.builder().socketType(ZMTPSocketType.DEALER);
        codec.heartbeatTtl(Duration.ofSeconds(1));
        assertThatThrownBy(codec::build).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theOrderOfSettingsDoesNotMatter() {
        assertThatCode(() -> dealer().heartbeatTtl(Duration.ofSeconds(1))
                        .heartbeatTimeout(Duration.ofSeconds(1))
                        .heartbeatInterval(Duration.ofSeconds(1))
                        .build())
                .doesNotThrowAnyException();
        assertThatCode(() -> dealer().maxFrameLength(1 << 30)
                        .maxMessageLength(1 << 30)
                        .build())
                .doesNotThrowAnyException();
    }

    @Test
    void noTimeoutMayBeSetWithoutHeartbeats() {
        ZMTPConfig config = dealer().heartbeatTimeout(Duration.ZERO).build();
        assertThat(config.heartbeatTimeout()).isZero();
    }

    @Test
    void aLowerMessageLimitLowersTheDefaultOfFrames() {
        ZMTPConfig config = dealer().maxMessageLength(100).build();
        assertThat(config.maxFrameLength()).isEqualTo(100);
        assertThat(config.toBuilder().maxMessageLength(200).build().maxFrameLength())
                .isEqualTo(200);
        assertThat(dealer().maxMessageLength(Long.MAX_VALUE).build().maxFrameLength())
                .isEqualTo(64 << 20);
    }

    @Test
    void aHigherFrameLimitRaisesTheDefaultOfMessages() {
        assertThat(dealer().maxFrameLength(128 << 20).build().maxMessageLength())
                .isEqualTo(128 << 20);
        assertThat(dealer().maxFrameLength(1).build().maxMessageLength()).isEqualTo(64 << 20);
    }

    @Test
    void anIdentityIsCopiedAndReadOnly() {
        byte[] bytes = {1, 2, 3};
        ByteBuffer given = ByteBuffer.wrap(bytes, 1, 2);
        ZMTPConfig config = dealer().localIdentity(given).build();
        bytes[1] = 9;
        assertThat(given.remaining()).isEqualTo(2);
        assertThat(config.localIdentity().isReadOnly()).isTrue();
        config.localIdentity().get();
        assertThat(config.localIdentity()).isEqualTo(ByteBuffer.wrap(new byte[] {2, 3}));
    }

    @Test
    void aClassWithoutASimpleConstructorIsRefused() {
        assertThatThrownBy(() -> dealer().encoder(NeedyEncoder.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(NeedyEncoder.class.getName())
                .hasMessageContaining("no constructor without arguments (expected: one)");
    }

    @Test
    void aNullEncoderOrDecoderIsTheDefault() {
        ZMTPConfig plain = dealer().build();
        ZMTPEncoder.Factory encoderFactory = plain.encoder();
        ZMTPDecoder.Factory decoderFactory = plain.decoder();
        Class<? extends ZMTPEncoder> encoderClass = null;
        Class<? extends ZMTPDecoder> decoderClass = null;
        assertThat(withHeartbeats().toBuilder().encoder(encoderFactory).build().encoder())
                .isNull();
        assertThat(withHeartbeats().toBuilder().decoder(decoderFactory).build().decoder())
                .isNull();
        assertThat(withHeartbeats().toBuilder().encoder(encoderClass).build().encoder())
                .isNull();
        assertThat(withHeartbeats().toBuilder().decoder(decoderClass).build().decoder())
                .isNull();
    }

    // What is printed

    @Test
    void onlyTheSocketTypeAndChangedSettingsArePrinted() {
        assertThat(dealer().build()).hasToString("ZMTPConfig{socketType=DEALER}");
        assertThat(dealer().maxFrameLength(300)
                        .heartbeatInterval(Duration.ofSeconds(5))
                        .build())
                .hasToString("ZMTPConfig{socketType=DEALER, maxFrameLength=300, heartbeatInterval=PT5S}");
        assertThat(dealer().maxFrameLength(300).maxMessageLength(64 << 20).build())
                .hasToString("ZMTPConfig{socketType=DEALER, maxFrameLength=300, maxMessageLength=67108864}");
    }

    @Test
    void everySettingIsPrintedOnOneLine() {
        assertThat(withHeartbeats())
                .hasToString("ZMTPConfig{socketType=DEALER, interop=false, localIdentity=2 bytes, "
                        + "properties=ZMTPMetadata{X-App[1]}, mechanism=lambda of ZMTPConfigTest, "
                        + "authenticator=lambda of ZMTPAuthenticator, domain=services, "
                        + "handshakeExecutor=lambda of ZMTPConfigTest, identityGenerator=lambda of ZMTPConfigTest, "
                        + "encoder=NoEncoder, decoder=NoDecoder, maxFrameLength=1, maxMessageLength=2, "
                        + "maxMessageFrames=3, maxHandshakeCommandLength=40, maxCommandLength=5, "
                        + "maxCommandsPerSecond=51, maxFramesPerRead=54, consolidateFlushes=false, maxSubscriptions=52, maxSubscriptionsLength=53, "
                        + "maxRelayedSubscriptions=56, maxRelayedSubscriptionsLength=57, "
                        + "maxMetadataProperties=6, maxHeldWritesLength=7, memoryBudget=55, handshakeTimeout=PT8S, heartbeatInterval=PT9S, "
                        + "heartbeatTimeout=PT10S, heartbeatTtl=PT11S, heartbeatZMTP30Peers=true}");
    }

    @Test
    void noSecretIsPrinted() {
        ZMTPAuthenticator passwords = ZMTPPasswordAuthenticator.of(Map.of("alice", "secret"));
        // A class of the application's, such as a record that holds a token.
        ZMTPMechanism.Factory custom = (ZMTPMechanism.Factory) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ZMTPMechanism.Factory.class},
                (proxy, method, arguments) -> method.getName().equals("toString") ? "secret" : null);
        for (ZMTPConfig.Builder builder : List.of(
                dealer().localIdentity("secret").property("X-Token", "secret"),
                dealer().mechanism(ZMTPPlain.client("alice", "secret")),
                dealer().mechanism(ZMTPPlain.server()).authenticator(passwords),
                dealer().mechanism(custom))) {
            assertThat(builder.build().toString()).doesNotContain("secret", "alice");
        }
    }

    static class NoEncoder implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {}

        @Override
        public void encode(Object message, ZMTPWriter writer) {}

        @Override
        public void close() {}
    }

    static final class NeedyEncoder extends NoEncoder {
        NeedyEncoder(String need) {
            assertThat(need).isNotNull();
        }
    }

    static final class NoDecoder implements ZMTPDecoder {
        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {}

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {}

        @Override
        public void close() {}
    }

    @Test
    void aPropertySetAgainReplacesTheOldOne() {
        ZMTPConfig config = ZMTPConfig.builder().socketType(DEALER).property("X-a", "1").build().toBuilder()
                .property("x-A", "2")
                .build();
        assertThat(config.properties().size()).isOne();
        assertThat(config.properties().valueUTF8("X-a")).isEqualTo("2");
    }
}
