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
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How many of the handshakes that fail are reported one by one, in virtual time. */
@Tag("netty-4.2-only")
class FailedHandshakesTest {

    private static final int EACH = 10;
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<ZMTPSocketEvent.HandshakeFailed> reports = new ArrayList<>();

    /** A socket that Netty's own channels reach as well. */
    private static ZMTPSocketConfig.Builder local(ZMTPSocketType type) {
        return ClockedSockets.with(ZMTPSocketConfig.builder(type), new LocalTransport());
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private void record(ZMTPSocket socket) {
        socket.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.HandshakeFailed failed) {
                reports.add(failed);
            }
        });
    }

    private ZMTPSocket bound(String... endpoints) {
        ZMTPSocket pull = loop.open(local(PULL));
        record(pull);
        for (String endpoint : endpoints) {
            pull.bind(endpoint);
        }
        loop.run();
        return pull;
    }

    /** They connect, and leave without a word. Returns the address of the last one. */
    private SocketAddress strangers(int number, String endpoint) {
        SocketAddress last = null;
        for (int i = 0; i < number; i++) {
            Channel stranger = new Bootstrap()
                    .group(loop.eventLoop())
                    .channel(LocalChannel.class)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(new LocalAddress(endpoint.substring("local://".length())))
                    .channel();
            loop.run();
            last = stranger.localAddress();
            stranger.close();
            loop.run();
        }
        assertThat(last).isNotNull();
        return last;
    }

    private List<Long> others() {
        return reports.stream().map(ZMTPSocketEvent.HandshakeFailed::unreported).toList();
    }

    @Test
    void tenOfASecondAreReportedOneByOneAndTheNextOnesTogetherAtItsEnd() {
        bound("local://scanned");
        strangers(EACH, "local://scanned");
        assertThat(others()).hasSize(EACH).containsOnly(0L);

        SocketAddress last = strangers(4, "local://scanned");
        loop.advance(SECOND.minusMillis(1));
        assertThat(reports).hasSize(EACH);
        loop.advance(Duration.ofMillis(1));

        assertThat(others()).hasSize(EACH + 1).endsWith(3L);
        assertThat(reports.get(EACH).address()).isEqualTo(last);
        assertThat(reports).allMatch(failed -> failed.endpoint().equals("local://scanned"));
    }

    @Test
    void theNextSecondBeginsAnew() {
        bound("local://scanned");
        strangers(EACH + 2, "local://scanned");
        loop.advance(SECOND);
        reports.clear();

        strangers(EACH, "local://scanned");
        assertThat(others()).hasSize(EACH).containsOnly(0L);
        strangers(1, "local://scanned");
        loop.advance(SECOND);

        assertThat(others()).hasSize(EACH + 1).containsOnly(0L);
    }

    @Test
    void aSecondWithoutFailuresIsNotReported() {
        bound("local://scanned");
        strangers(EACH + 1, "local://scanned");
        loop.advance(SECOND);
        reports.clear();

        assertThat(loop.advance(SECOND)).as("tasks").isZero();
        assertThat(reports).isEmpty();
    }

    @Test
    void eachEndpointIsCountedByItself() {
        bound("local://one", "local://two");
        strangers(EACH, "local://one");
        reports.clear();

        strangers(3, "local://one");
        strangers(2, "local://two");
        loop.advance(SECOND);

        assertThat(reports)
                .extracting(failed -> failed.endpoint() + " and " + failed.unreported())
                .containsExactly("local://one and 2", "local://two and 1");
    }

    @Test
    void allAreCountedInTheStats() {
        ZMTPSocket pull = bound("local://scanned");

        strangers(EACH + 5, "local://scanned");

        assertThat(pull.stats().handshakeFailures()).isEqualTo(EACH + 5);
    }

    /** They are as many as the connector makes, and no timer is needed to count them. */
    @Test
    void thoseOfAConnectorAreReportedOneByOne() {
        new ServerBootstrap()
                .group(loop.eventLoop())
                .channel(LocalServerChannel.class)
                .childHandler(new Closer())
                .bind(new LocalAddress("closer"));
        loop.run();
        ZMTPSocket push = loop.open(local(PUSH).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
        record(push);
        ZMTPEndpoint connector = push.connect("local://closer");
        loop.advance(Duration.ofMillis(50));
        assertThat(others()).hasSizeGreaterThan(2 * EACH).containsOnly(0L);

        connector.close();
        loop.run();

        assertThat(loop.advance(SECOND)).as("tasks").isZero();
    }

    @Sharable
    private static final class Closer extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.close();
        }
    }
}
