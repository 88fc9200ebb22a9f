package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalServerChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a connector tries again, in virtual time. */
@Tag("netty-4.2-only")
class ReconnectTimesTest {

    private static final Duration FIRST = Duration.ofMillis(100);
    private static final Duration MOST = Duration.ofMillis(1_600);
    private static final Duration STABLE = Duration.ofSeconds(10);

    private static final ZMTPReconnect POLICY = ZMTPReconnect.exponential(FIRST, MOST, STABLE);

    private static final String ENDPOINT = "local://reconnect-times";

    private final VirtualTime time = new VirtualTime();

    /** The attempts: when they began. */
    private final List<Duration> attempts = new ArrayList<>();

    private final List<ZMTPSocketEvent.RetryScheduled> retries = new ArrayList<>();

    @AfterEach
    void close() {
        time.close();
    }

    private ZMTPSocket push(ZMTPReconnect policy) {
        ZMTPSocket push = time.open(ZMTPSocketConfig.builder(PUSH).reconnect(policy));
        push.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Connecting) {
                attempts.add(time.now());
            } else if (event instanceof ZMTPSocketEvent.RetryScheduled retry) {
                retries.add(retry);
            }
        });
        push.connect(ENDPOINT);
        time.run();
        return push;
    }

    private ZMTPSocket bound(ZMTPSocketType type) {
        ZMTPSocket socket = time.open(ZMTPSocketConfig.builder(type));
        socket.bind(ENDPOINT);
        time.run();
        return socket;
    }

    /** Accepts connections and closes them before the handshake. */
    private Channel bindToCloser() {
        Channel server = new ServerBootstrap()
                .group(time.loop())
                .channel(LocalServerChannel.class)
                .childHandler(new Closer())
                .bind(new LocalAddress(ENDPOINT.substring("local://".length())))
                .channel();
        time.run();
        return server;
    }

    @Sharable
    private static final class Closer extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.close();
        }
    }

    private void close(ZMTPSocket socket) {
        socket.closeAsync(Duration.ZERO);
        time.pass(Duration.ofMillis(30));
    }

    /** Checks each wait against its bound, and that the next attempt came when it was over. */
    private void assertWaits(Duration... bounds) {
        assertThat(retries).hasSizeGreaterThanOrEqualTo(bounds.length);
        for (int i = 0; i < bounds.length; i++) {
            assertThat(retries.get(i).delay()).as("wait %s", i + 1).isBetween(Duration.ofNanos(1), bounds[i]);
        }
    }

    /** T43. */
    @Test
    void anAbsentPeerIsTriedAgainAfterEachWait() {
        push(POLICY);
        time.pass(Duration.ofSeconds(20));

        assertWaits(FIRST, FIRST.multipliedBy(2), FIRST.multipliedBy(4), FIRST.multipliedBy(8), MOST, MOST);
        assertThat(attempts).hasSizeGreaterThan(10);
        for (int i = 1; i < attempts.size(); i++) {
            Duration waited = attempts.get(i).minus(attempts.get(i - 1));
            assertThat(waited.minus(retries.get(i - 1).delay()))
                    .as("lateness of attempt %s", i + 1)
                    .isBetween(Duration.ZERO, Duration.ofMillis(1));
            assertThat(retries.get(i - 1).attempt()).isEqualTo(i);
        }
    }

    /** T43: a listener takes the whole bound, which shows the growth. */
    @Test
    void theWaitsGrowAndEndAtTheMaximum() {
        push(POLICY.withListener((failure, wait) -> {
            Duration whole = Duration.ofMillis(Math.min(100L << (failure.attempt() - 1), MOST.toMillis()));
            assertThat(wait).isLessThanOrEqualTo(whole);
            return whole;
        }));
        time.pass(Duration.ofSeconds(5));

        assertThat(attempts.stream().map(Duration::toMillis))
                .containsExactly(0L, 100L, 300L, 700L, 1500L, 3100L, 4700L);
    }

    /** T43. */
    @Test
    void aPeerThatWasThereForTenSecondsBeginsTheRowAnew() {
        push(POLICY);
        time.pass(Duration.ofSeconds(10));
        ZMTPSocket pull = bound(PULL);
        time.pass(MOST);
        retries.clear();

        time.pass(STABLE);
        close(pull);

        assertThat(retries).isNotEmpty();
        assertThat(retries.get(0).attempt()).isEqualTo(1);
        assertWaits(FIRST);
    }

    /** T43. */
    @Test
    void aPeerThatWasThereForAMomentDoesNotBeginTheRowAnew() {
        push(POLICY);
        time.pass(Duration.ofSeconds(10));
        int failures = retries.size();
        ZMTPSocket pull = bound(PULL);
        time.pass(MOST);
        int before = retries.size();

        time.pass(Duration.ofSeconds(5));
        close(pull);

        assertThat(before).as("those until it was there").isEqualTo(failures);
        assertThat(retries.get(failures).attempt()).isEqualTo(failures + 1);
    }

    /** T43: with libzmq, the waits begin anew with each TCP connection. */
    @Test
    void aHandshakeThatFailsDoesNotBeginTheRowAnew() {
        Channel closer = bindToCloser();
        push(ZMTPReconnect.exponential(FIRST, MOST, Duration.ofMillis(1)));
        time.pass(Duration.ofSeconds(10));
        closer.close();
        time.run();

        assertThat(retries.stream().limit(5).map(ZMTPSocketEvent.RetryScheduled::attempt))
                .containsExactly(1, 2, 3, 4, 5);
    }

    /** T44: what cannot fit is not asked each 100 ms, but may be mended. */
    @Test
    void aPeerOfAnotherTypeIsAskedAtMostAfterTheMaximumAndServedWhenItIsMended() {
        ZMTPSocket wrong = bound(PUSH);
        ZMTPSocket push = push(POLICY.withListener((failure, wait) -> {
            assertThat(failure.kind()).isEqualTo(ZMTPReconnect.Kind.INCOMPATIBLE);
            return MOST;
        }));
        time.pass(Duration.ofSeconds(4));
        assertThat(attempts.stream().map(Duration::toMillis)).containsExactly(0L, 1600L, 3200L);

        push.sendOrDrop(TestSockets.message("for the mended one"));
        close(wrong);
        ZMTPSocket pull = bound(PULL);
        time.pass(MOST);

        assertThat(TestSockets.frames(pull.receiveAsync().join())).containsExactly("for the mended one");
    }

    @Test
    void retryNowDoesNotWait() {
        ZMTPSocket push = push(POLICY.withListener((failure, wait) -> Duration.ofHours(1)));
        bound(PULL);

        ZMTPEndpoint connector = push.connect(ENDPOINT);
        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.WAITING);
        connector.retryNow();
        time.run();

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.UP);
    }

    /** T46. */
    @Test
    void aThousandConnectorsDoNotComeBackTogether() {
        ZMTPSocket pull = bound(PULL);
        ZMTPSocket push = time.open(ZMTPSocketConfig.builder(PUSH)
                .reconnect(ZMTPReconnect.exponential(Duration.ofSeconds(1), Duration.ofSeconds(30), STABLE)));
        for (int i = 0; i < 1_000; i++) {
            ZMTPSocket one =
                    time.open(ZMTPSocketConfig.builder(push.core().config().codec())
                            .reconnect(push.core().config().reconnect()));
            one.onEvent(Runnable::run, event -> {
                if (event instanceof ZMTPSocketEvent.Connecting attempt && attempt.attempt() == 2) {
                    attempts.add(time.now());
                }
            });
            one.connect(ENDPOINT);
        }
        time.run();
        assertThat(pull.peers()).hasSize(1_000);
        attempts.clear();

        Duration ended = time.now();
        close(pull);
        bound(PULL);
        time.pass(Duration.ofSeconds(1));

        assertThat(attempts).hasSize(1_000);
        for (int tenth = 0; tenth < 10; tenth++) {
            Duration from = ended.plusMillis(100L * tenth);
            Duration to = from.plusMillis(100);
            assertThat(attempts)
                    .as("attempts from %s to %s", from, to)
                    .filteredOn(attempt -> attempt.compareTo(from) > 0 && attempt.compareTo(to) <= 0)
                    .hasSizeBetween(50, 150);
        }
    }
}
