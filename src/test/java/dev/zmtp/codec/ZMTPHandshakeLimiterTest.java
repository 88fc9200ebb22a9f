package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A server lets only so many connections be in their handshake, in total and from one address, and says whom it
 * refuses.
 */
class ZMTPHandshakeLimiterTest {

    private final List<String> refused = new ArrayList<>();

    /** All channels of the test. */
    private final List<Connection> connections = new ArrayList<>();

    private ZMTPHandshakeLimiter limiter(int maxTotal, int maxPerAddress) {
        return new ZMTPHandshakeLimiter(maxTotal, maxPerAddress) {
            @Override
            protected void refused(Channel channel, String reason) {
                assertThat(channel.isOpen()).isTrue();
                refused.add(channel.remoteAddress() + " refused: " + reason);
            }
        };
    }

    /** An accepted connection of a server: active before there is a handler. */
    private static final class Connection extends EmbeddedChannel {
        private final @Nullable SocketAddress remote;

        private Connection(@Nullable SocketAddress remote) {
            this.remote = remote;
        }

        @Override
        protected @Nullable SocketAddress remoteAddress0() {
            return remote;
        }
    }

    private Connection connect(ZMTPHandshakeLimiter limiter, String address) {
        try {
            return connect(limiter, new InetSocketAddress(InetAddress.getByName(address), 5000 + connections.size()));
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private Connection connect(ZMTPHandshakeLimiter limiter, @Nullable SocketAddress remote) {
        Connection connection = new Connection(remote);
        connections.add(connection);
        connection.freezeTime();
        connection.pipeline().addLast(limiter).addLast(ZMTPCodec.of(ROUTER));
        return connection;
    }

    private static void shakeHands(Connection connection) {
        byte[] greeting = Hex.bytes(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
        connection.writeInbound(connection.alloc().buffer().writeBytes(greeting));
    }

    @AfterEach
    void closeAll() {
        connections.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    @Test
    void oneHandshakeMoreThanInTotalIsRefusedWhoeverItIs() {
        ZMTPHandshakeLimiter limiter = limiter(2, 2);
        Connection first = connect(limiter, "10.0.0.1");
        Connection second = connect(limiter, "10.0.0.2");
        Connection third = connect(limiter, "10.0.0.3");
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isOpen()).isTrue();
        assertThat(third.isOpen()).isFalse();
        assertThat(limiter.handshakes()).isEqualTo(2);
        assertThat(refused).containsExactly("/10.0.0.3:5002 refused: handshakes: 3 (expected: <= 2)");
    }

    @Test
    void oneHandshakeMoreThanFromOneAddressIsRefusedAndOthersAreNot() {
        ZMTPHandshakeLimiter limiter = limiter(10, 2);
        connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.1");
        Connection third = connect(limiter, "10.0.0.1");
        Connection other = connect(limiter, "10.0.0.2");
        assertThat(third.isOpen()).isFalse();
        assertThat(other.isOpen()).isTrue();
        assertThat(refused).containsExactly("/10.0.0.1:5002 refused: handshakes with 10.0.0.1: 3 (expected: <= 2)");
    }

    @Test
    void aRefusedPeerGetsNoByte() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        connect(limiter, "10.0.0.1");
        Connection second = connect(limiter, "10.0.0.1");
        assertThat(second.<Object>readOutbound()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "2001:db8:1:2::1, 2001:db8:1:2:ffff:ffff:ffff:ffff, false",
        "2001:db8:1:2::1, 2001:db8:1:3::1, true",
        "10.0.0.1, 10.0.0.129, true",
        "::ffff:10.0.0.1, 10.0.0.1, false"
    })
    void anIpv6NetworkCountsAsOneAddress(String first, String second, boolean accepted) {
        ZMTPHandshakeLimiter limiter = limiter(10, 1);
        connect(limiter, first);
        assertThat(connect(limiter, second).isOpen()).isEqualTo(accepted);
    }

    @Test
    void anIpv6NetworkIsNamedAsOne() {
        ZMTPHandshakeLimiter limiter = limiter(10, 1);
        connect(limiter, "2001:db8:1:2::1");
        connect(limiter, "2001:db8:1:2::2");
        assertThat(refused)
                .singleElement()
                .asString()
                .endsWith("refused: handshakes with 2001:db8:1:2::/64: 2 (expected: <= 1)");
    }

    @Test
    void channelsWithoutAnInternetAddressCountInTotalOnly() {
        ZMTPHandshakeLimiter limiter = limiter(3, 1);
        connect(limiter, (SocketAddress) null);
        connect(limiter, InetSocketAddress.createUnresolved("host", 1));
        assertThat(connect(limiter, (SocketAddress) null).isOpen()).isTrue();
        assertThat(connect(limiter, (SocketAddress) null).isOpen()).isFalse();
    }

    @Test
    void aHandshakeThatSucceedsMakesRoomAndTheLimiterLeaves() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        Connection first = connect(limiter, "10.0.0.1");
        shakeHands(first);
        assertThat(limiter.handshakes()).isZero();
        assertThat(first.pipeline().get(ZMTPHandshakeLimiter.class)).isNull();
        assertThat(first.isOpen()).isTrue();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
    }

    @Test
    void aHandshakeThatFailsMakesRoom() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        Connection first = connect(limiter, "10.0.0.1");
        first.writeInbound(first.alloc().buffer().writeBytes(Hex.bytes("\"GET\" 20 2f")));
        assertThat(first.isOpen()).isFalse();
        assertThat(limiter.handshakes()).isZero();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
    }

    @Test
    void aConnectionThatIsClosedMakesRoom() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        connect(limiter, "10.0.0.1").close();
        assertThat(limiter.handshakes()).isZero();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
    }

    @Test
    void aConnectionThatStaysSilentMakesRoomAtItsDeadline() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        Connection first = connect(limiter, "10.0.0.1");
        first.advanceTimeBy(30, TimeUnit.SECONDS);
        first.runScheduledPendingTasks();
        assertThat(limiter.handshakes()).isZero();
    }

    @Test
    void aConnectionThatIsRefusedTakesNoPlaceAndGivesNoneBack() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.1");
        assertThat(limiter.handshakes()).isOne();
        assertThat(refused).hasSize(2);
        connections.get(0).close();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isFalse();
    }

    @Test
    void aCodecThatIsAddedLaterIsAwaitedToo() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        Connection connection = new Connection(new InetSocketAddress("10.0.0.1", 1));
        connections.add(connection);
        connection.pipeline().addLast(limiter, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.pipeline().addLast(ZMTPCodec.of(ROUTER)).remove(this);
                ctx.pipeline().context(ZMTPHandshakeLimiter.class).fireChannelRead(msg);
            }
        });
        assertThat(limiter.handshakes()).isOne();
        shakeHands(connection);
        assertThat(limiter.handshakes()).isZero();
    }

    @Test
    void aLimiterThatIsAddedTwiceCountsOnce() {
        ZMTPHandshakeLimiter limiter = limiter(10, 1);
        Connection first = connect(limiter, "10.0.0.1");
        first.pipeline().addFirst(limiter);
        assertThat(limiter.handshakes()).isOne();
        shakeHands(first);
        assertThat(limiter.handshakes()).isZero();
        first.close();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
        assertThat(refused).isEmpty();
    }

    @Test
    void aChannelThatIsClosedAlreadyTakesNoPlace() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        Connection closed = new Connection(new InetSocketAddress("10.0.0.1", 1));
        closed.close();
        closed.pipeline().addLast(limiter);
        assertThat(limiter.handshakes()).isZero();
    }

    @Test
    void aLimiterThatIsRemovedCountsNoMore() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        Connection first = connect(limiter, "10.0.0.1");
        first.pipeline().remove(limiter);
        assertThat(limiter.handshakes()).isZero();
        shakeHands(first);
        assertThat(first.isOpen()).isTrue();
    }

    @Test
    void whoThrowsWhenToldOfARefusalHasItRefusedAllTheSame() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(1, 1) {
            @Override
            protected void refused(Channel channel, String reason) {
                throw new IllegalStateException("my own");
            }
        };
        connect(limiter, "10.0.0.1");
        Connection second = connect(limiter, "10.0.0.1");
        assertThat(second.isOpen()).isFalse();
        assertThatThrownBy(second::checkException).hasRootCauseMessage("my own");
    }

    @Test
    void aServerRefusesAtItsPortWhomItMayNotCount() throws IOException {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(10, 2);
        try (EventLoops loops = new EventLoops(1)) {
            Channel server = new ServerBootstrap()
                    .group(loops.group())
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(limiter, ZMTPCodec.of(ROUTER));
                        }
                    })
                    .bind(InetAddress.getLoopbackAddress(), 0)
                    .syncUninterruptibly()
                    .channel();
            try (Socket first = socketTo(server);
                    Socket second = socketTo(server);
                    Socket third = socketTo(server)) {
                assertThat(first.getInputStream().readNBytes(10)).hasSize(10);
                assertThat(second.getInputStream().readNBytes(10)).hasSize(10);
                assertThat(third.getInputStream().read()).isEqualTo(-1);
                first.getOutputStream().write(Hex.bytes(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER)));
                // Our greeting, and the READY that says that the handshake is over for us.
                assertThat(first.getInputStream().readNBytes(54 + 43)).hasSize(54 + 43);
                try (Socket fourth = socketTo(server)) {
                    assertThat(fourth.getInputStream().readNBytes(10)).hasSize(10);
                }
            }
        }
    }

    private static Socket socketTo(Channel server) throws IOException {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(10_000);
        return socket;
    }

    @ParameterizedTest
    @CsvSource({"0, 1, maxTotal: 0 (expected: >= 1)", "1, -1, maxPerAddress: -1 (expected: >= 1)"})
    void aBoundIsAtLeastOne(int maxTotal, int maxPerAddress, String message) {
        assertThatThrownBy(() -> new ZMTPHandshakeLimiter(maxTotal, maxPerAddress))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
