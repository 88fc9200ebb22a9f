package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.admission.ConnectionRegistry;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.testing.AddressedChannel;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server has only so many connections: in total, from one address, and of one user. */
class ZMTPConnectionLimiterTest {

    private static final byte[] HANDSHAKE = Hex.bytes(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));

    private final List<String> refused = new ArrayList<>();
    private final List<AddressedChannel> connections = new ArrayList<>();

    /** What the limiters know of the time. */
    private long now;

    private ZMTPConnectionLimiter limiter(int maxTotal, int maxPerAddress, int maxPerUser) {
        return new ZMTPConnectionLimiter(maxTotal, maxPerAddress, maxPerUser, () -> now) {
            @Override
            protected void connectionRefused(Channel channel, String reason) {
                assertThat(channel.isOpen()).isTrue();
                refused.add(reason);
            }
        };
    }

    private AddressedChannel connect(ZMTPConnectionLimiter limiter, String address) {
        return connect(limiter, address, ZMTPCodec.of(ROUTER));
    }

    private AddressedChannel connect(ZMTPConnectionLimiter limiter, String address, ZMTPCodec codec) {
        AddressedChannel connection = new AddressedChannel(address, 5000 + connections.size(), limiter, codec);
        connections.add(connection);
        return connection;
    }

    private static void shakeHands(AddressedChannel connection) {
        connection.writeInbound(connection.alloc().buffer().writeBytes(HANDSHAKE));
    }

    private AddressedChannel established(ZMTPConnectionLimiter limiter, String address) {
        AddressedChannel connection = connect(limiter, address);
        shakeHands(connection);
        return connection;
    }

    private static ZMTPCodec ofUser(String userId) {
        ZMTPAuthenticator authenticator = request -> CompletableFuture.completedStage(ZMTPAuthDecision.accept(userId));
        return ZMTPCodec.builder()
                .socketType(ROUTER)
                .authenticator(authenticator)
                .build();
    }

    private AddressedChannel establishedUser(ZMTPConnectionLimiter limiter, String userId) {
        AddressedChannel connection = connect(limiter, "10.0.0.1", ofUser(userId));
        shakeHands(connection);
        return connection;
    }

    @AfterEach
    void closeAll() {
        connections.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    @Test
    void aConnectionCountsUntilItIsClosed() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 10);
        AddressedChannel connection = established(limiter, "10.0.0.1");
        assertThat(connection.pipeline().get(ZMTPConnectionLimiter.class)).isNull();
        assertThat(limiter.connectionCount()).isOne();
        connection.close();
        assertThat(limiter.connectionCount()).isZero();
    }

    @Test
    void aNewConnectionIsRefusedIfAllOthersAreEstablished() {
        ZMTPConnectionLimiter limiter = limiter(2, 2, 2);
        AddressedChannel first = established(limiter, "10.0.0.1");
        AddressedChannel second = established(limiter, "10.0.0.2");
        AddressedChannel third = connect(limiter, "10.0.0.3");
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isOpen()).isTrue();
        assertThat(third.isOpen()).isFalse();
        assertThat(refused).containsExactly("connections: 3 (expected: <= 2)");
        assertThat(limiter.connectionCount()).isEqualTo(2);
    }

    @Test
    void aNewConnectionIsRefusedIfAllOthersOfItsAddressAreEstablished() {
        ZMTPConnectionLimiter limiter = limiter(10, 1, 10);
        established(limiter, "2001:db8::1");
        AddressedChannel idle = connect(limiter, "10.0.0.1");
        assertThat(connect(limiter, "2001:db8::2").isOpen()).isFalse();
        assertThat(idle.isOpen()).isTrue();
        assertThat(refused).containsExactly("connections with 2001:db8::/64: 2 (expected: <= 1)");
    }

    @Test
    void aRefusedPeerGetsNoByte() {
        ZMTPConnectionLimiter limiter = limiter(1, 1, 1);
        established(limiter, "10.0.0.1");
        assertThat(connect(limiter, "10.0.0.1").<Object>readOutbound()).isNull();
    }

    @Test
    void aHandshakeMakesRoomForANewConnection() {
        ZMTPConnectionLimiter limiter = limiter(3, 3, 3);
        AddressedChannel established = established(limiter, "10.0.0.1");
        AddressedChannel idle = connect(limiter, "10.0.0.2");
        AddressedChannel idleToo = connect(limiter, "10.0.0.3");
        now += ConnectionRegistry.PATIENCE;
        AddressedChannel newcomer = connect(limiter, "10.0.0.4");
        assertThat(idle.isOpen()).isFalse();
        assertThat(established.isOpen()).isTrue();
        assertThat(idleToo.isOpen()).isTrue();
        assertThat(newcomer.isOpen()).isTrue();
    }

    /** The limiter looks for the codec after the read. */
    @Test
    void aHandshakeThatTheReadWithItsCodecHasEndedMakesNoRoom() {
        ZMTPConnectionLimiter limiter = limiter(1, 1, 1);
        ChannelInboundHandlerAdapter connecting = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof ZMTPHandshakeSuccess) {
                    now += ConnectionRegistry.PATIENCE;
                    connect(limiter, "10.0.0.2");
                }
            }
        };
        ChannelInboundHandlerAdapter detector = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.pipeline().addLast(ZMTPCodec.of(ROUTER), connecting);
                ctx.fireChannelRead(msg);
            }
        };
        AddressedChannel first = new AddressedChannel("10.0.0.1", 5000, limiter, detector);
        connections.add(first);
        shakeHands(first);
        assertThat(connections).hasSize(2).allMatch(Channel::isOpen);
        assertThat(refused).isEmpty();
        assertThat(limiter.connectionCount()).isEqualTo(2);
    }

    @Test
    void aNewcomerForWhomAnotherHadToGoIsCountedDownWhenItIsClosed() {
        ZMTPConnectionLimiter limiter = limiter(2, 2, 2);
        AddressedChannel one = connect(limiter, "10.0.0.1");
        AddressedChannel two = connect(limiter, "10.0.0.2");
        now += ConnectionRegistry.PATIENCE;
        AddressedChannel newcomer = connect(limiter, "10.0.0.3");
        assertThat(one.isOpen()).isFalse();
        two.close();
        newcomer.close();
        assertThat(limiter.connectionCount()).isZero();
    }

    @Test
    void aConnectionThatAListenerOfItsHandshakeClosesDoesNotCount() {
        ZMTPConnectionLimiter limiter = limiter(2, 2, 2);
        ZMTPCodec codec = ZMTPCodec.of(ROUTER);
        AddressedChannel connection = connect(limiter, "10.0.0.1", codec);
        codec.session().handshakeFuture().addListener(done -> connection.close());
        shakeHands(connection);
        assertThat(connection.isOpen()).isFalse();
        assertThat(limiter.connectionCount()).isZero();
    }

    @Test
    void theAddressWithMostHandshakesMakesRoomAndNotTheOneWithMostConnections() {
        ZMTPConnectionLimiter limiter = limiter(6, 6, 6);
        established(limiter, "10.0.0.1");
        established(limiter, "10.0.0.1");
        established(limiter, "10.0.0.1");
        AddressedChannel honest = connect(limiter, "10.0.0.1");
        AddressedChannel flooding = connect(limiter, "10.0.0.2");
        connect(limiter, "10.0.0.2");
        connect(limiter, "10.0.0.3");
        assertThat(flooding.isOpen()).isFalse();
        assertThat(honest.isOpen()).isTrue();
    }

    @Test
    void aConnectionThatIsClosedMakesRoom() {
        ZMTPConnectionLimiter limiter = limiter(1, 1, 1);
        established(limiter, "10.0.0.1").close();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
        assertThat(refused).isEmpty();
    }

    /** The next read tells that the peer's address is this one. */
    private static void comeThroughAProxy(AddressedChannel connection, String address) {
        connection
                .pipeline()
                .addAfter(
                        connection
                                .pipeline()
                                .context(ZMTPConnectionLimiter.class)
                                .name(),
                        null,
                        new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                ctx.channel().attr(ZMTPCodec.PEER_ADDRESS).set(AddressedChannel.address(address, 1));
                                ctx.fireChannelRead(msg);
                            }
                        });
    }

    @Test
    void aConnectionCountsForTheAddressThatIsKnownAtTheEndOfItsHandshake() {
        ZMTPConnectionLimiter limiter = limiter(10, 1, 10);
        AddressedChannel connection = connect(limiter, "10.0.0.1");
        comeThroughAProxy(connection, "192.0.2.1");
        shakeHands(connection); // the header of a proxy and the handshake in one read
        assertThat(established(limiter, "10.0.0.1").isOpen()).isTrue();
        assertThat(connect(limiter, "192.0.2.1").isOpen()).isFalse();
    }

    @Test
    void aHandshakeCountsForTheAddressThatItsFirstReadHasBrought() {
        ZMTPConnectionLimiter limiter = limiter(10, 1, 10);
        AddressedChannel idle = connect(limiter, "10.0.0.1");
        comeThroughAProxy(idle, "192.0.2.1");
        idle.writeInbound(idle.alloc().buffer().writeByte(HANDSHAKE[0]));
        connect(limiter, "10.0.0.1");
        assertThat(idle.isOpen()).isTrue();
        now += ConnectionRegistry.PATIENCE;
        connect(limiter, "192.0.2.1");
        assertThat(idle.isOpen()).isFalse();
        assertThat(refused).containsExactly("connections with 192.0.2.1: 2 (expected: <= 1)");
    }

    @Test
    void aRefusalIsLogged() {
        try (CapturedLog log = new CapturedLog(ZMTPConnectionLimiter.class.getName())) {
            ZMTPConnectionLimiter limiter = new ZMTPConnectionLimiter(1, 1, 1);
            established(limiter, "10.0.0.1");
            connect(limiter, "10.0.0.2");
            assertThat(log.lines).hasSize(1);
            assertThat(log.lines.get(0)).endsWith("/10.0.0.2:5001] refused: connections: 2 (expected: <= 1)");
        }
    }

    // Another handler may remove the limiter

    @Test
    void aConnectionWhoseLimiterIsRemovedCountsOnAndIsNotDropped() {
        ZMTPConnectionLimiter limiter = limiter(1, 1, 1);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        first.pipeline().remove(limiter);
        assertThat(limiter.connectionCount()).isOne();
        assertThat(connect(limiter, "10.0.0.2").isOpen()).isFalse();
        assertThat(first.isOpen()).isTrue();
        first.close();
        assertThat(limiter.connectionCount()).isZero();
    }

    // Users

    @Test
    void aUserHasOnlySoManyConnections() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 2);
        AddressedChannel first = establishedUser(limiter, "alice");
        AddressedChannel second = establishedUser(limiter, "alice");
        AddressedChannel third = establishedUser(limiter, "alice");
        AddressedChannel other = establishedUser(limiter, "bob");
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isOpen()).isTrue();
        assertThat(third.isOpen()).isFalse();
        assertThat(other.isOpen()).isTrue();
        assertThat(refused).containsExactly("connections of user \"alice\": 3 (expected: <= 2)");
        assertThat(limiter.connectionCount()).isEqualTo(3);
    }

    @Test
    void aRefusedConnectionOfAUserMakesNoRoomForTheNextOne() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 1);
        AddressedChannel first = establishedUser(limiter, "alice");
        assertThat(establishedUser(limiter, "alice").isOpen()).isFalse();
        assertThat(establishedUser(limiter, "alice").isOpen()).isFalse();
        assertThat(first.isOpen()).isTrue();
    }

    @Test
    void aConnectionOfAUserThatIsClosedMakesRoom() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 1);
        establishedUser(limiter, "alice").close();
        assertThat(establishedUser(limiter, "alice").isOpen()).isTrue();
        assertThat(establishedUser(limiter, "alice").isOpen()).isFalse();
    }

    @Test
    void eachConnectionOfAUserThatIsClosedMakesRoomForOne() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 3);
        AddressedChannel first = establishedUser(limiter, "alice");
        AddressedChannel second = establishedUser(limiter, "alice");
        establishedUser(limiter, "alice");
        first.close();
        second.close();
        assertThat(establishedUser(limiter, "alice").isOpen()).isTrue();
        assertThat(establishedUser(limiter, "alice").isOpen()).isTrue();
        assertThat(establishedUser(limiter, "alice").isOpen()).isFalse();
    }

    @Test
    void peersWithoutAUserIdCountForNoUser() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 1);
        established(limiter, "10.0.0.1");
        establishedUser(limiter, "");
        assertThat(established(limiter, "10.0.0.1").isOpen()).isTrue();
        assertThat(refused).isEmpty();
    }

    @Test
    void theHandlersOfAUserWithTooManySeeItsSuccessAndItsEnd() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 1);
        establishedUser(limiter, "alice");
        AddressedChannel second = connect(limiter, "10.0.0.1", ofUser("alice"));
        Recorder<String> recorder = Recorder.ofDescriptions();
        second.pipeline().addLast(recorder);
        shakeHands(second);
        assertThat(recorder.all).extracting(Fired::describe).containsExactly("success ZMTP31");
        assertThat(second.isOpen()).isFalse();
    }

    @Test
    void aUserCountsOnceHoweverManyReadsItsHandshakeTakes() {
        ZMTPConnectionLimiter limiter = limiter(10, 10, 1);
        AddressedChannel connection = connect(limiter, "10.0.0.1", ofUser("alice"));
        for (byte one : HANDSHAKE) {
            connection.writeInbound(connection.alloc().buffer(1).writeByte(one));
        }
        assertThat(refused).isEmpty();
        assertThat(connection.isOpen()).isTrue();
    }

    @Test
    void anExceptionOfRefusedIsReportedAndTheConnectionIsClosed() {
        ZMTPConnectionLimiter limiter = new ZMTPConnectionLimiter(1, 1, 1) {
            @Override
            protected void connectionRefused(Channel channel, String reason) {
                throw new IllegalStateException("my own");
            }
        };
        established(limiter, "10.0.0.1");
        AddressedChannel second = connect(limiter, "10.0.0.1");
        assertThat(second.isOpen()).isFalse();
        assertThatThrownBy(second::checkException).hasMessage("my own");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1, 1, maxTotal: 0 (expected: >= 1)",
        "1, -1, 1, maxPerAddress: -1 (expected: >= 1)",
        "1, 1, 0, maxPerUser: 0 (expected: >= 1)"
    })
    void aBoundIsAtLeastOne(int maxTotal, int maxPerAddress, int maxPerUser, String message) {
        assertThatThrownBy(() -> new ZMTPConnectionLimiter(maxTotal, maxPerAddress, maxPerUser))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
