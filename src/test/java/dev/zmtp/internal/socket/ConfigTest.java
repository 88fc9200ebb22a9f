package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.mockito.Mockito.mock;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.transport.Lookup;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketConfig.ReceiveOverflowPolicy;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What can be configured: the defaults, what is refused, and what a copy keeps. */
class ConfigTest {

    private static final EventLoopGroup GROUP = EventLoops.newGroup(1);
    private static final Executor RESOLVER = Runnable::run;

    @AfterAll
    static void ended() {
        new EventLoops(GROUP).close();
    }

    /** Every setting with another value than its default. */
    private static ZMTPSocketConfig.Builder changed() throws SSLException {
        SslContext tls =
                SslContextBuilder.forClient().sslProvider(SslProvider.JDK).build();
        return ZMTPSocketConfig.builder(REQ)
                .codec(codec -> codec.localIdentity("me"))
                .correlateRequests(true)
                .group(GROUP)
                .sendQueueLimit(1, 2)
                .receiveQueueLimit(3, 4)
                .overflowPolicy(OverflowPolicy.DROP_NEW)
                .slowPeerTimeout(Duration.ofSeconds(5))
                .maxMessageAge(Duration.ofSeconds(6))
                .maxWaitingSends(7)
                .queueWhileDown(false)
                .reconnectDelay(Duration.ZERO, Duration.ZERO)
                .connectTimeout(Duration.ofSeconds(8))
                .linger(Duration.ofSeconds(9))
                .routingIdConflictPolicy(ZMTPSocketConfig.RoutingIdConflictPolicy.TAKE_OVER)
                .ipcPermissions(Set.of(PosixFilePermission.OWNER_WRITE))
                .maxOutstandingRequests(10)
                .maxPeers(11)
                .maxSubscriptionsMemory(12)
                .subscriptionFilter((peer, topic) -> false)
                .resolverExecutor(RESOLVER)
                .tls(tls)
                .tls(mock(SslContext.class)) // of a server, as it is not of a client
                .handshakeLimiter(null)
                .capture(mock(ZMTPCapture.class))
                .webSocket(ZMTPWebSocket.DEFAULT.bare(true))
                .pipelineInitializer((endpoint, pipeline) -> {})
                .option(ChannelOption.SO_KEEPALIVE, true)
                .tcpChannels(NioSocketChannel::new, NioServerSocketChannel::new);
    }

    static List<Field> everySetting() throws ReflectiveOperationException {
        List<Field> settings = Arrays.stream(SocketValues.class.getDeclaredFields())
                .filter(field -> !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic())
                .filter(field -> !field.getName().equals("receiveOverflowPolicy")) // of no REQ; tested on its own
                .toList();
        assertThat(settings).hasSizeGreaterThanOrEqualTo(20);
        return settings;
    }

    @ParameterizedTest
    @MethodSource("everySetting")
    void aSettingIsCopied(Field setting) throws Exception {
        ZMTPSocketConfig.Builder changed = changed();
        Object value = setting.get(values(changed));
        assertThat(value)
                .as("%s is not changed by this test", setting.getName())
                .isNotEqualTo(setting.get(values(ZMTPSocketConfig.builder(REQ))));

        ZMTPSocketConfig.Builder copy = changed.build().toBuilder();

        assertThat(setting.get(values(copy))).isEqualTo(value);
    }

    private static Object values(ZMTPSocketConfig.Builder builder) throws ReflectiveOperationException {
        Field values = ZMTPSocketConfig.Builder.class.getSuperclass().getDeclaredField("values");
        values.setAccessible(true);
        return values.get(builder);
    }

    @Test
    void aCopyIsIndependentOfTheOriginal() {
        ZMTPSocketConfig.Builder builder = ZMTPSocketConfig.builder(DEALER).option(ChannelOption.SO_KEEPALIVE, true);
        ZMTPSocketConfig original = builder.build();

        builder.option(ChannelOption.SO_RCVBUF, 1).linger(Duration.ZERO);
        original.toBuilder().option(ChannelOption.SO_SNDBUF, 1);

        assertThat(original.options()).containsOnlyKeys(ChannelOption.SO_KEEPALIVE);
        assertThat(original.linger()).isEqualTo(Duration.ofSeconds(5));
    }

    @ParameterizedTest
    @MethodSource("everySetting")
    void aCopySharesNothingThatChanges(Field setting) throws Exception {
        ZMTPSocketConfig.Builder builder = changed();

        Object copy = setting.get(values(builder.build().toBuilder()));

        boolean isUnmodifiable = copy instanceof Set<?> set && Set.copyOf(set) == set;
        if ((copy instanceof Map || copy instanceof Collection) && !isUnmodifiable) {
            assertThat(copy).isNotSameAs(setting.get(values(builder)));
        }
    }

    @Test
    void theDefaultsAreThoseThatAreDocumented() {
        ZMTPSocketConfig config = ZMTPSocketConfig.of(DEALER);

        assertThat(config.socketType()).isEqualTo(DEALER);
        assertThat(config.codec().heartbeatInterval()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.codec().heartbeatTimeout()).isEqualTo(Duration.ofSeconds(45));
        assertThat(config.codec().heartbeatZMTP30Peers()).isTrue();
        assertThat(config.group()).isNull();
        assertThat(config.sendQueueLimitMessages()).isEqualTo(1_000);
        assertThat(config.sendQueueLimitBytes()).isEqualTo(16 << 20);
        assertThat(config.receiveQueueLimitMessages()).isEqualTo(1_000);
        assertThat(config.receiveQueueLimitBytes()).isEqualTo(16 << 20);
        assertThat(config.overflowPolicy()).isEqualTo(OverflowPolicy.WAIT);
        assertThat(ZMTPSocketConfig.of(PUB).overflowPolicy()).isEqualTo(OverflowPolicy.DROP_NEW);
        assertThat(config.receiveOverflowPolicy()).isEqualTo(ReceiveOverflowPolicy.WAIT);
        assertThat(config.slowPeerTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(config.maxMessageAge()).isEqualTo(Settings.FOREVER);
        assertThat(config.maxWaitingSends()).isEqualTo(64);
        assertThat(config.queueWhileDown()).isTrue();
        assertThat(config.initialReconnectDelay()).isEqualTo(Duration.ofMillis(100));
        assertThat(config.maxReconnectDelay()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.connectTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.linger()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.routingIdConflictPolicy()).isEqualTo(ZMTPSocketConfig.RoutingIdConflictPolicy.REFUSE);
        assertThat(config.maxOutstandingRequests()).isEqualTo(10_000);
        assertThat(config.correlateRequests()).isFalse();
        assertThat(config.maxPeers()).isEqualTo(100_000);
        assertThat(config.resolverExecutor()).isSameAs(Lookup.SHARED);
        assertThat(config).hasToString("ZMTPSocketConfig{" + config.codec() + "}");
    }

    @ParameterizedTest
    @EnumSource(
            value = OverflowPolicy.class,
            names = {"DROP_OLD", "KEEP_LATEST", "DISCONNECT"})
    void aQueueForAllPeersDropsNothingForTheSakeOfOne(OverflowPolicy policy) {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        ZMTPSocketConfig.builder(DEALER).overflowPolicy(policy).build())
                .withMessage("overflowPolicy: " + policy
                        + " (expected: WAIT or DROP_NEW with DEALER, whose peers share a queue)");
    }

    @Test
    void anXsubWaitsForNone() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(XSUB)
                        .overflowPolicy(OverflowPolicy.WAIT)
                        .build())
                .withMessage("overflowPolicy: WAIT (expected: another one with XSUB, which never waits)");
    }

    /** A peer that does not read still sends PINGs, which are signs of life: once in each interval. */
    @Test
    void theHeartbeatTimeoutIsLongerThanTheInterval() {
        ZMTPSocketConfig.Builder builder = ZMTPSocketConfig.builder(DEALER)
                .codec(c -> c.heartbeatInterval(Duration.ofSeconds(5)).heartbeatTimeout(Duration.ofSeconds(5)));
        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .withMessage("heartbeatTimeout: PT5S (expected: more than the interval, PT5S)");
    }

    @ParameterizedTest
    @CsvSource({"PT30S, PT45S", "PT10S, PT15S", "PT60S, PT90S", "PT0.001S, PT0.0015S", "PT0S, PT0S"})
    void theHeartbeatTimeoutFollowsTheInterval(Duration interval, Duration timeout) {
        ZMTPConfig codec = ZMTPSocketConfig.builder(DEALER)
                .codec(c -> c.heartbeatInterval(interval))
                .build()
                .codec();

        assertThat(codec.heartbeatInterval()).isEqualTo(interval);
        assertThat(codec.heartbeatTimeout()).isEqualTo(timeout);
        assertThat(codec.heartbeatZMTP30Peers()).isEqualTo(!interval.isZero());
        assertThat(codec.toString()).contains("heartbeatTimeout=" + timeout);
    }

    @Test
    void theHeartbeatTimeoutFollowsTheLastIntervalUnlessItIsSet() {
        ZMTPSocketConfig.Builder builder =
                ZMTPSocketConfig.builder(DEALER)
                        .codec(c -> c.heartbeatInterval(Duration.ofSeconds(1)))
                        .build()
                        .toBuilder()
                        .codec(c -> c.heartbeatInterval(Duration.ofSeconds(2)));
        assertThat(builder.build().codec().heartbeatTimeout()).isEqualTo(Duration.ofSeconds(3));

        builder.codec(c -> c.heartbeatTimeout(Duration.ofSeconds(7)));
        builder.codec(c -> c.heartbeatInterval(Duration.ofSeconds(4)));
        assertThat(builder.build().codec().heartbeatTimeout()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void anIntervalThatReplacesZeroIsThatOfADefaultSocket() {
        ZMTPConfig codec = ZMTPSocketConfig.builder(DEALER)
                .codec(c -> c.heartbeatInterval(Duration.ZERO))
                .codec(c -> c.heartbeatInterval(Duration.ofSeconds(10)))
                .build()
                .codec();

        assertThat(codec.heartbeatZMTP30Peers()).isTrue();
        assertThat(codec.heartbeatTimeout()).isEqualTo(Duration.ofSeconds(15));
    }

    private static Arguments refused(Consumer<ZMTPSocketConfig.Builder> setting, String message) {
        return Arguments.of(setting, message);
    }

    static List<Arguments> badValues() {
        return List.of(
                refused(b -> b.slowPeerTimeout(Duration.ZERO), "slowPeerTimeout: PT0S (expected: >= 1 ms)"),
                refused(
                        b -> b.slowPeerTimeout(Duration.ofNanos(1)),
                        "slowPeerTimeout: PT0.000000001S (expected: >= 1 ms)"),
                refused(b -> b.maxMessageAge(Duration.ofMillis(-1)), "maxMessageAge: PT-0.001S (expected: >= 1 ms)"),
                refused(b -> b.maxWaitingSends(-1), "maxWaitingSends: -1 (expected: >= 0)"),
                refused(b -> b.connectTimeout(Duration.ZERO), "connectTimeout: PT0S (expected: >= 1 ms)"),
                refused(b -> b.connectTimeout(Duration.ofDays(25)), "connectTimeout: PT600H (expected: <= 24 days)"),
                refused(
                        b -> b.connectTimeout(Duration.ofSeconds(Long.MAX_VALUE)),
                        "connectTimeout: " + Duration.ofSeconds(Long.MAX_VALUE) + " (expected: <= 24 days)"),
                refused(b -> b.linger(Duration.ofNanos(-1)), "linger: PT-0.000000001S (expected: >= 0)"),
                refused(
                        b -> b.reconnectDelay(Duration.ofNanos(1), Duration.ofSeconds(1)),
                        "initial: PT0.000000001S (expected: >= 1 ms)"),
                refused(
                        b -> b.reconnectDelay(Duration.ZERO, Duration.ofSeconds(1)),
                        "initial: PT0S (expected: >= 1 ms)"),
                refused(
                        b -> b.reconnectDelay(Duration.ofSeconds(2), Duration.ofSeconds(1)),
                        "max: PT1S (expected: >= initial, PT2S)"),
                refused(b -> b.maxOutstandingRequests(0), "maxOutstandingRequests: 0 (expected: 1 to 4194303)"),
                refused(
                        b -> b.maxOutstandingRequests(1 << 22),
                        "maxOutstandingRequests: 4194304 (expected: 1 to 4194303)"),
                refused(b -> b.maxPeers(0), "maxPeers: 0 (expected: >= 1)"));
    }

    @ParameterizedTest
    @MethodSource("badValues")
    void aBadValueIsRefusedWithWhatWasExpected(Consumer<ZMTPSocketConfig.Builder> setting, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> setting.accept(ZMTPSocketConfig.builder(DEALER)))
                .withMessage(message);
    }

    @Test
    void theLeastValuesAreTaken() {
        Duration millisecond = Duration.ofMillis(1);
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(DEALER)
                .slowPeerTimeout(millisecond)
                .maxMessageAge(millisecond)
                .maxWaitingSends(0)
                .connectTimeout(millisecond)
                .linger(Duration.ZERO)
                .maxOutstandingRequests(1)
                .maxPeers(1)
                .build();

        assertThat(config.maxMessageAge()).isEqualTo(millisecond);
    }

    @Test
    void theGreatestDurationsAreTaken() {
        Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(DEALER)
                .slowPeerTimeout(forever)
                .maxMessageAge(forever)
                .linger(forever)
                .build();

        assertThat(Settings.nanos(config.maxMessageAge())).isEqualTo(Long.MAX_VALUE);
    }

    static List<Arguments> queueLimits() {
        return List.of(
                Arguments.of(0, 1L, "messages: 0 (expected: >= 1)"), Arguments.of(1, 0L, "bytes: 0 (expected: >= 1)"));
    }

    @ParameterizedTest
    @MethodSource("queueLimits")
    void aQueueHoldsAtLeastOneMessage(int messages, long bytes, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new QueueLimit(messages, bytes))
                .withMessage(message);
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"REQ", "REP"})
    void aTypeThatTakesTurnsKeepsAllMessages(ZMTPSocketType type) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(type)
                        .receiveOverflowPolicy(ReceiveOverflowPolicy.KEEP_LATEST)
                        .build())
                .withMessage("receiveOverflowPolicy: KEEP_LATEST (expected: WAIT with " + type
                        + ", because each request needs its reply)");
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUSH", "PUB", "RADIO", "SCATTER"})
    void aTypeThatDoesNotReceiveKeepsNoReceivedMessage(ZMTPSocketType type) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(type)
                        .receiveOverflowPolicy(ReceiveOverflowPolicy.KEEP_LATEST)
                        .build())
                .withMessage("receiveOverflowPolicy: KEEP_LATEST (expected: WAIT with " + type
                        + ", which does not receive)");
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"REQ", "REP", "PUSH", "PUB", "RADIO", "SCATTER"})
    void eachOtherTypeCanKeepTheLatestMessage(ZMTPSocketType type) {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(type)
                .receiveOverflowPolicy(ReceiveOverflowPolicy.KEEP_LATEST)
                .build();

        assertThat(config.receiveOverflowPolicy()).isEqualTo(ReceiveOverflowPolicy.KEEP_LATEST);
        assertThat(config.toBuilder().build().receiveOverflowPolicy()).isEqualTo(ReceiveOverflowPolicy.KEEP_LATEST);
    }

    @Test
    void onlyAReqChoosesWhetherItCorrelates() {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        ZMTPSocketConfig.builder(DEALER).correlateRequests(true).build())
                .withMessage("correlateRequests: true with DEALER (expected: only with REQ)");
    }

    @Test
    void nothingIsNotASetting() {
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).group(null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).overflowPolicy(null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).reconnectDelay(null, Duration.ZERO));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).tls((SslContext) null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).tcpChannels(null, NioServerSocketChannel::new));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).ipcChannels(NioSocketChannel::new, null, null));
        assertThatNullPointerException().isThrownBy(() -> ZMTPSocketConfig.builder((ZMTPConfig) null));
    }
}
