package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.LocalTransport;
import dev.zmtp.testing.TestSockets;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
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

    private static final String ENDPOINT = "local://reconnect-times";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    /** The attempts: when they began. */
    private final List<Duration> attempts = new ArrayList<>();

    private final List<ZMTPSocketEvent.Retrying> retries = new ArrayList<>();

    /** A socket that Netty's own channels reach as well. */
    private static ZMTPSocketConfig.Builder local(ZMTPSocketType type) {
        return ClockedSockets.with(ZMTPSocketConfig.builder(type), new LocalTransport());
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket push() {
        return push(FIRST, MOST);
    }

    private ZMTPSocket push(Duration first, Duration most) {
        ZMTPSocket push = loop.open(local(PUSH).reconnectDelay(first, most));
        push.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Connecting) {
                attempts.add(loop.time());
            } else if (event instanceof ZMTPSocketEvent.Retrying retry) {
                retries.add(retry);
            }
        });
        push.connect(ENDPOINT);
        loop.run();
        return push;
    }

    private ZMTPSocket bound(ZMTPSocketType type) {
        ZMTPSocket socket = loop.open(local(type));
        socket.bind(ENDPOINT);
        loop.run();
        return socket;
    }

    /** Accepts connections and closes them before the handshake. */
    private Channel bindToCloser() {
        return bindTo(new Closer());
    }

    private Channel bindTo(ChannelHandler ofEach) {
        Channel server = new ServerBootstrap()
                .group(loop.eventLoop())
                .channel(LocalServerChannel.class)
                .childHandler(ofEach)
                .bind(new LocalAddress(ENDPOINT.substring("local://".length())))
                .channel();
        loop.run();
        return server;
    }

    @Sharable
    private static final class Closer extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.close();
        }
    }

    /** A balancer whose service is away. */
    @Sharable
    private static final class Balancer extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ByteBufUtil.writeAscii(ctx.alloc(), "HTTP/1.1 503 Service Unavailable\r\n\r\n"))
                    .addListener(ChannelFutureListener.CLOSE);
        }
    }

    private void close(ZMTPSocket socket) {
        socket.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(30));
    }

    /** Checks each wait against its bound, and that the next attempt came when it was over. */
    private void assertWaits(Duration... bounds) {
        assertThat(retries).hasSizeGreaterThanOrEqualTo(bounds.length);
        for (int i = 0; i < bounds.length; i++) {
            assertThat(retries.get(i).delay()).as("wait %s", i + 1).isBetween(bounds[i].dividedBy(2), bounds[i]);
        }
    }

    /** T43. */
    @Tag("T43")
    @Test
    void anAbsentPeerIsTriedAgainAfterEachWait() {
        push();
        loop.advance(Duration.ofSeconds(20));

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

    /** T43. */
    @Tag("T43")
    @Test
    void aPeerThatWasThereForTenSecondsBeginsTheRowAnew() {
        push();
        loop.advance(Duration.ofSeconds(10));
        ZMTPSocket pull = bound(PULL);
        loop.advance(MOST);
        retries.clear();

        loop.advance(STABLE);
        close(pull);

        assertThat(retries).isNotEmpty();
        assertThat(retries.get(0).attempt()).isEqualTo(1);
        assertWaits(FIRST);
    }

    /** T43. */
    @Tag("T43")
    @Test
    void aPeerThatWasThereForAMomentDoesNotBeginTheRowAnew() {
        push();
        loop.advance(Duration.ofSeconds(10));
        int failures = retries.size();
        ZMTPSocket pull = bound(PULL);
        loop.advance(MOST);
        int before = retries.size();

        loop.advance(Duration.ofSeconds(5));
        close(pull);

        assertThat(before).as("those until it was there").isEqualTo(failures);
        assertThat(retries.get(failures).attempt()).isEqualTo(failures + 1);
    }

    /** T43: with libzmq, the waits begin anew with each TCP connection. */
    @Tag("T43")
    @Test
    void aHandshakeThatFailsDoesNotBeginTheRowAnew() {
        Channel closer = bindToCloser();
        push();
        loop.advance(Duration.ofSeconds(10));
        closer.close();
        loop.run();

        assertThat(retries.stream().limit(5).map(ZMTPSocketEvent.Retrying::attempt))
                .containsExactly(1, 2, 3, 4, 5);
    }

    /** What answers is not the service, which may be back soon. */
    @Test
    void aBalancerThatAnswersInsteadIsAskedAsOftenAsOneThatRefuses() {
        Channel balancer = bindTo(new Balancer());
        ZMTPSocket push = push();
        loop.advance(Duration.ofSeconds(20));

        assertThat(retries)
                .extracting(ZMTPSocketEvent.Retrying::kind)
                .containsOnly(ZMTPSocketEvent.FailureKind.NOT_ZMTP);
        assertThat(retries).allSatisfy(retry -> assertThat(retry.delay()).isLessThanOrEqualTo(MOST));
        balancer.close();
        loop.run();
        push.sendOrDrop(TestSockets.message("for the one that is back"));
        ZMTPSocket pull = bound(PULL);
        loop.advance(MOST);

        assertThat(TestSockets.frames(pull.receiveAsync().join())).containsExactly("for the one that is back");
    }

    /** T44: what cannot fit is not asked each 100 ms, but may be mended. */
    @Tag("T44")
    @Test
    void aPeerOfAnotherTypeIsAskedTwiceAMinuteAndServedWhenItIsMended() {
        ZMTPSocket wrong = bound(PUSH);
        ZMTPSocket push = push();
        loop.advance(Duration.ofMinutes(2));
        assertThat(retries)
                .extracting(ZMTPSocketEvent.Retrying::kind)
                .containsOnly(ZMTPSocketEvent.FailureKind.INCOMPATIBLE);
        assertThat(attempts).hasSizeBetween(5, 9);

        push.sendOrDrop(TestSockets.message("for the mended one"));
        close(wrong);
        ZMTPSocket pull = bound(PULL);
        loop.advance(Duration.ofSeconds(30));

        assertThat(TestSockets.frames(pull.receiveAsync().join())).containsExactly("for the mended one");
    }

    @Test
    void retryNowDoesNotWait() {
        ZMTPSocket push = push(Duration.ofHours(2), Duration.ofHours(2));
        bound(PULL);

        ZMTPEndpoint connector = push.connect(ENDPOINT);
        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.RETRYING);
        connector.retryNow();
        loop.run();

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.UP);
    }

    /** T46. */
    @Tag("T46")
    @Test
    void aThousandConnectorsDoNotComeBackTogether() {
        ZMTPSocket pull = bound(PULL);
        for (int i = 0; i < 1_000; i++) {
            ZMTPSocket one = loop.open(local(PUSH).reconnectDelay(Duration.ofSeconds(1), Duration.ofSeconds(30)));
            one.onEvent(Runnable::run, event -> {
                if (event instanceof ZMTPSocketEvent.Connecting attempt && attempt.attempt() == 2) {
                    attempts.add(loop.time());
                }
            });
            one.connect(ENDPOINT);
        }
        loop.run();
        assertThat(pull.peers()).hasSize(1_000);
        attempts.clear();

        Duration ended = loop.time();
        close(pull);
        bound(PULL);
        loop.advance(Duration.ofSeconds(1));

        assertThat(attempts).hasSize(1_000);
        for (int tenth = 5; tenth < 10; tenth++) { // of the second half of the wait
            Duration from = ended.plusMillis(100L * tenth);
            Duration to = from.plusMillis(100);
            assertThat(attempts)
                    .as("attempts from %s to %s", from, to)
                    .filteredOn(attempt -> attempt.compareTo(from) > 0 && attempt.compareTo(to) <= 0)
                    .hasSizeBetween(130, 270);
        }
    }
}
