package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.EventLoops;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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
        return ZMTPSocketConfig.builder(DEALER)
                .codec(codec -> codec.localIdentity("me"))
                .group(GROUP)
                .sendLimit(new ZMTPQueueLimit(1, 2))
                .receiveLimit(new ZMTPQueueLimit(3, 4))
                .slowPeer(ZMTPSlowPeer.DROP_OLD)
                .slowPeerTimeout(Duration.ofSeconds(5))
                .maxAge(Duration.ofSeconds(6))
                .maxWaitingSends(7)
                .queueWhileDown(false)
                .reconnect(ZMTPReconnect.never())
                .connectTimeout(Duration.ofSeconds(8))
                .linger(Duration.ofSeconds(9))
                .duplicateIdentity(ZMTPSocketConfig.DuplicateIdentity.REJECT)
                .maxOutstandingRequests(10)
                .maxPeers(11)
                .resolver(RESOLVER)
                .tls(tls)
                .pipeline(pipeline -> {})
                .option(ChannelOption.SO_KEEPALIVE, true)
                .transport(new ZMTPTransport() {
                    @Override
                    public String scheme() {
                        return "own";
                    }

                    @Override
                    public Address address(String text, boolean bind) {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public Channel channel() {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public ServerChannel serverChannel() {
                        throw new UnsupportedOperationException();
                    }
                });
    }

    static List<Field> everySetting() throws ReflectiveOperationException {
        List<Field> settings = Arrays.stream(ZMTPSocketConfig.Builder.class.getDeclaredFields())
                .filter(field -> !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic())
                .toList();
        assertThat(settings).hasSizeGreaterThanOrEqualTo(20);
        settings.forEach(field -> field.setAccessible(true));
        return settings;
    }

    @ParameterizedTest
    @MethodSource("everySetting")
    void aSettingIsCopied(Field setting) throws Exception {
        ZMTPSocketConfig.Builder changed = changed();
        Object value = setting.get(changed);
        assertThat(value)
                .as("%s is not changed by this test", setting.getName())
                .isNotEqualTo(setting.get(ZMTPSocketConfig.builder(DEALER)));

        ZMTPSocketConfig.Builder copy = changed.build().toBuilder();

        assertThat(setting.get(copy)).isEqualTo(value);
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

    @Test
    void theDefaultsAreThoseThatAreDocumented() {
        ZMTPSocketConfig config = ZMTPSocketConfig.of(DEALER);

        assertThat(config.type()).isEqualTo(DEALER);
        assertThat(config.codec().heartbeatInterval()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.codec().heartbeatTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.codec().heartbeatZmtp30Peers()).isTrue();
        assertThat(config.group()).isNull();
        assertThat(config.sendLimit()).isEqualTo(new ZMTPQueueLimit(1_000, 16 << 20));
        assertThat(config.receiveLimit()).isEqualTo(new ZMTPQueueLimit(1_000, 16 << 20));
        assertThat(config.slowPeer()).isEqualTo(ZMTPSlowPeer.WAIT);
        assertThat(ZMTPSocketConfig.of(PUB).slowPeer()).isEqualTo(ZMTPSlowPeer.DROP_NEW);
        assertThat(config.slowPeerTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.maxAge()).isEqualTo(Settings.FOREVER);
        assertThat(config.maxWaitingSends()).isEqualTo(64);
        assertThat(config.queueWhileDown()).isTrue();
        assertThat(config.reconnect()).isSameAs(ZMTPReconnect.DEFAULT);
        assertThat(config.connectTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.linger()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.duplicateIdentity()).isEqualTo(ZMTPSocketConfig.DuplicateIdentity.TAKE_OVER_IF_CLOSING);
        assertThat(config.maxOutstandingRequests()).isEqualTo(100_000);
        assertThat(config.maxPeers()).isEqualTo(100_000);
        assertThat(config.resolver()).isSameAs(ForkJoinPool.commonPool());
        assertThat(config).hasToString("ZMTPSocketConfig{" + config.codec() + "}");
    }

    @Test
    void theLatestMessageIsKeptByAQueueOfOne() {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(PUB)
                .sendLimit(new ZMTPQueueLimit(100, 200))
                .slowPeer(ZMTPSlowPeer.KEEP_LATEST)
                .build();

        assertThat(config.sendLimit()).isEqualTo(new ZMTPQueueLimit(1, 200));
        assertThat(config.toBuilder().slowPeer(ZMTPSlowPeer.DROP_NEW).build().sendLimit())
                .isEqualTo(new ZMTPQueueLimit(100, 200));
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
                refused(b -> b.maxAge(Duration.ofMillis(-1)), "maxAge: PT-0.001S (expected: >= 1 ms)"),
                refused(b -> b.maxWaitingSends(-1), "maxWaitingSends: -1 (expected: >= 0)"),
                refused(b -> b.connectTimeout(Duration.ZERO), "connectTimeout: PT0S (expected: >= 1 ms)"),
                refused(b -> b.connectTimeout(Duration.ofDays(25)), "connectTimeout: PT600H (expected: <= 24 days)"),
                refused(
                        b -> b.connectTimeout(Duration.ofSeconds(Long.MAX_VALUE)),
                        "connectTimeout: " + Duration.ofSeconds(Long.MAX_VALUE) + " (expected: <= 24 days)"),
                refused(b -> b.linger(Duration.ofNanos(-1)), "linger: PT-0.000000001S (expected: >= 0)"),
                refused(b -> b.maxOutstandingRequests(0), "maxOutstandingRequests: 0 (expected: >= 1)"),
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
                .maxAge(millisecond)
                .maxWaitingSends(0)
                .connectTimeout(millisecond)
                .linger(Duration.ZERO)
                .maxOutstandingRequests(1)
                .maxPeers(1)
                .build();

        assertThat(config.maxAgeNanos()).isEqualTo(1_000_000);
    }

    @Test
    void theGreatestDurationsAreTaken() {
        Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(DEALER)
                .slowPeerTimeout(forever)
                .maxAge(forever)
                .linger(forever)
                .reconnect(ZMTPReconnect.exponential(Duration.ofMillis(1), forever, forever))
                .build();

        assertThat(config.maxAgeNanos()).isEqualTo(Long.MAX_VALUE);
        Backoff backoff = new Backoff(config.reconnect(), () -> 0);
        backoff.lived(Long.MAX_VALUE - 1);
        assertThat(backoff.bound(ZMTPReconnect.Kind.INCOMPATIBLE)).isEqualTo(Long.MAX_VALUE);
        assertThat(backoff.next("endpoint", ZMTPReconnect.Kind.TRANSIENT, new Exception()))
                .isPositive();
    }

    static List<Arguments> queueLimits() {
        return List.of(
                Arguments.of(0, 1L, "messages: 0 (expected: >= 1)"), Arguments.of(1, 0L, "bytes: 0 (expected: >= 1)"));
    }

    @ParameterizedTest
    @MethodSource("queueLimits")
    void aQueueHoldsAtLeastOneMessage(int messages, long bytes, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ZMTPQueueLimit(messages, bytes))
                .withMessage(message);
    }

    @Test
    void nothingIsNotASetting() {
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).group(null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).sendLimit(null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).reconnect(null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).tls(null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(ROUTER).transport(null));
        assertThatNullPointerException().isThrownBy(() -> ZMTPSocketConfig.builder((ZMTPConfig) null));
    }
}
