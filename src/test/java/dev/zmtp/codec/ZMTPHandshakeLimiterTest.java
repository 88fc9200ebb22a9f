package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.admission.ConnectionRegistry;
import dev.zmtp.internal.runtime.Computations;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.testing.AddressedChannel;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.SlowToClose;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A server lets only so many connections be in their handshake, in total and from one address. It drops the one whose
 * peer has kept it waiting longest, or refuses the new one, and reports which.
 */
class ZMTPHandshakeLimiterTest {

    private final List<String> refused = new ArrayList<>();

    /** All channels of the test. */
    private final List<AddressedChannel> connections = new ArrayList<>();

    /** What the limiters know of the time. */
    private long now;

    /** Time passes in which honest peers would have answered. */
    private void waitTooLong() {
        now += ConnectionRegistry.PATIENCE;
    }

    private ZMTPHandshakeLimiter limiter(int maxTotal, int maxPerAddress) {
        return new ZMTPHandshakeLimiter(maxTotal, maxPerAddress, () -> now) {
            @Override
            protected void connectionRefused(Channel channel, String reason) {
                assertThat(channel.isOpen()).isTrue();
                refused.add(channel.remoteAddress() + " refused: " + reason);
            }
        };
    }

    private AddressedChannel connect(ZMTPHandshakeLimiter limiter, String address) {
        return connect(limiter, address, ZMTPCodec.of(ROUTER));
    }

    private AddressedChannel connect(ZMTPHandshakeLimiter limiter, String address, ZMTPCodec codec) {
        return connect(limiter, AddressedChannel.address(address, 5000 + connections.size()), codec);
    }

    private AddressedChannel connect(ZMTPHandshakeLimiter limiter, @Nullable SocketAddress peer) {
        return connect(limiter, peer, ZMTPCodec.of(ROUTER));
    }

    private AddressedChannel connect(ZMTPHandshakeLimiter limiter, @Nullable SocketAddress peer, ZMTPCodec codec) {
        AddressedChannel connection = new AddressedChannel(peer, limiter, codec);
        connections.add(connection);
        return connection;
    }

    private static void shakeHands(AddressedChannel connection) {
        byte[] greeting = Hex.bytes(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
        connection.writeInbound(connection.alloc().buffer().writeBytes(greeting));
    }

    @AfterEach
    void closeAll() {
        connections.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    @Test
    void theHandshakeWithTheLongestWaitMakesRoomForOneTooManyInTotal() {
        ZMTPHandshakeLimiter limiter = limiter(2, 2);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        AddressedChannel second = connect(limiter, "10.0.0.2");
        waitTooLong();
        AddressedChannel third = connect(limiter, "10.0.0.3");
        assertThat(first.isOpen()).isFalse();
        assertThat(second.isOpen()).isTrue();
        assertThat(third.isOpen()).isTrue();
        assertThat(limiter.handshakeCount()).isEqualTo(2);
        assertThat(refused).containsExactly("/10.0.0.1:5000 refused: handshakes: 3 (expected: <= 2)");
    }

    @Test
    void theHandshakeOfAnAddressWithTheLongestWaitMakesRoomForOneTooManyOfIt() {
        ZMTPHandshakeLimiter limiter = limiter(10, 2);
        AddressedChannel other = connect(limiter, "10.0.0.2");
        AddressedChannel first = connect(limiter, "10.0.0.1");
        AddressedChannel second = connect(limiter, "10.0.0.1");
        waitTooLong();
        AddressedChannel third = connect(limiter, "10.0.0.1");
        assertThat(first.isOpen()).isFalse();
        assertThat(second.isOpen()).isTrue();
        assertThat(third.isOpen()).isTrue();
        assertThat(other.isOpen()).isTrue();
        assertThat(refused).containsExactly("/10.0.0.1:5001 refused: handshakes with 10.0.0.1: 3 (expected: <= 2)");
    }

    @Test
    void aNewConnectionIsRefusedIfNoPeerOfItsAddressHasKeptThisSideWaiting() {
        ZMTPHandshakeLimiter limiter = limiter(10, 2);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        AddressedChannel second = connect(limiter, "10.0.0.1");
        now += ConnectionRegistry.PATIENCE - 1;
        AddressedChannel third = connect(limiter, "10.0.0.1");
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isOpen()).isTrue();
        assertThat(third.isOpen()).isFalse();
        assertThat(limiter.handshakeCount()).isEqualTo(2);
    }

    @Test
    void aNewConnectionIsRefusedIfNoAddressHasMoreAndNoPeerHasKeptThisSideWaiting() {
        ZMTPHandshakeLimiter limiter = limiter(3, 2);
        connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.2");
        assertThat(connect(limiter, "10.0.0.2").isOpen()).isFalse();
        assertThat(connect(limiter, "10.0.0.3").isOpen()).isTrue();
        assertThat(connect(limiter, "10.0.0.4").isOpen()).isFalse();
        assertThat(refused)
                .containsExactly(
                        "/10.0.0.2:5003 refused: handshakes: 4 (expected: <= 3)",
                        "/10.0.0.1:5000 refused: handshakes: 4 (expected: <= 3)",
                        "/10.0.0.4:5005 refused: handshakes: 4 (expected: <= 3)");
    }

    @Test
    void theWaitBeginsAnewWithEachAnswer() {
        ZMTPHandshakeLimiter limiter = limiter(10, 2);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        AddressedChannel second = connect(limiter, "10.0.0.1");
        waitTooLong();
        first.writeInbound(first.alloc().buffer().writeBytes(Hex.bytes(ScriptedPeer.SIGNATURE)));
        connect(limiter, "10.0.0.1");
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isOpen()).isFalse();
    }

    @Test
    void theAddressWithMostHandshakesMakesRoomForOneTooManyInTotal() {
        ZMTPHandshakeLimiter limiter = limiter(4, 4);
        AddressedChannel oldest = connect(limiter, "10.0.0.1");
        AddressedChannel flooding = connect(limiter, "10.0.0.2");
        connect(limiter, "10.0.0.2");
        connect(limiter, "10.0.0.3");
        AddressedChannel newcomer = connect(limiter, "10.0.0.4");
        assertThat(flooding.isOpen()).isFalse();
        assertThat(oldest.isOpen()).isTrue();
        assertThat(newcomer.isOpen()).isTrue();
    }

    @Test
    void aHandshakeThatIsDroppedIsReportedAsClosed() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        Recorder<String> recorder = Recorder.ofDescriptions();
        first.pipeline().addLast(recorder);
        waitTooLong();
        connect(limiter, "10.0.0.1");
        assertThat(recorder.events).extracting(Fired::describe).containsExactly("refused: CLOSED");
        assertThat(recorder.failures).isEmpty();
    }

    @Test
    void aDroppedConnectionIsClosedWithoutWaitingForTheLastWordsOfOtherHandlers() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel first = new AddressedChannel("10.0.0.1", 1, limiter, new SlowToClose(), ZMTPCodec.of(ROUTER));
        connections.add(first);
        waitTooLong();
        connect(limiter, "10.0.0.1");
        assertThat(first.isOpen()).isFalse();
    }

    private static ZMTPCodec withAuthenticator(ZMTPAuthenticator authenticator) {
        return ZMTPCodec.builder()
                .socketType(ROUTER)
                .authenticator(authenticator)
                .build();
    }

    @Test
    void aHandshakeWhosePeerWaitsForADecisionIsPassedOver() {
        ZMTPHandshakeLimiter limiter = limiter(2, 2);
        CompletableFuture<ZMTPAuthDecision> decision = new CompletableFuture<>();
        AddressedChannel deciding = connect(limiter, "10.0.0.1", withAuthenticator(request -> decision));
        shakeHands(deciding);
        AddressedChannel idle = connect(limiter, "10.0.0.1");
        waitTooLong();
        connect(limiter, "10.0.0.1");
        assertThat(idle.isOpen()).isFalse();
        assertThat(deciding.isOpen()).isTrue();

        decision.complete(ZMTPAuthDecision.accept(""));
        deciding.runPendingTasks();
        assertThat(limiter.handshakeCount()).isOne();
        assertThat(deciding.isOpen()).isTrue();
    }

    @Test
    void aHandshakeWhosePeerWaitsForAComputationIsPassedOverAsLongAsItDoes() {
        ZMTPHandshakeLimiter limiter = limiter(2, 2);
        Queue<Runnable> computations = new ArrayDeque<>();
        ZMTPCurveKeyPair serverKeys = ZMTPCurveKeyPair.generate();
        ZMTPCodec server = ZMTPCodec.builder()
                .socketType(ROUTER)
                .mechanism(ZMTPCurve.server(serverKeys))
                .authenticator(ZMTPAuthenticator.acceptAll())
                .handshakeExecutor(computations::add)
                .build();
        AddressedChannel computing = connect(limiter, "10.0.0.1", server);
        EmbeddedChannel client = new EmbeddedChannel(ZMTPCodec.builder()
                .socketType(DEALER)
                .mechanism(ZMTPCurve.client(serverKeys.publicKey(), ZMTPCurveKeyPair.generate()))
                .handshakeExecutor(Runnable::run)
                .build());
        exchange(client, computing); // up to our computation of the WELCOME
        AddressedChannel idle = connect(limiter, "10.0.0.1");
        waitTooLong();
        AddressedChannel third = connect(limiter, "10.0.0.1");
        assertThat(computations).hasSize(1);
        assertThat(idle.isOpen()).isFalse();
        assertThat(computing.isOpen()).isTrue();

        computations.remove().run();
        computing.runPendingTasks(); // sends the WELCOME, and waits for the peer
        waitTooLong();
        connect(limiter, "10.0.0.1");
        assertThat(third.isOpen()).isFalse();
        assertThat(computing.isOpen()).isTrue(); // its peer has had less time to answer
        connect(limiter, "10.0.0.1");
        assertThat(computing.isOpen()).isFalse();
        client.finishAndReleaseAll();
    }

    /** As an SslHandler's, which computes before there is anything for the codec. */
    @Test
    void aHandshakeForWhichAnotherHandlerComputesIsPassedOverAsLongAsItDoes() {
        Queue<Runnable> computations = new ArrayDeque<>();
        ZMTPHandshakeLimiter limiter = limiter(2, 2);
        AddressedChannel computing = connect(limiter, "10.0.0.1");
        Computations.counted(computing, computations::add).execute(() -> {});
        AddressedChannel idle = connect(limiter, "10.0.0.1");
        waitTooLong();

        connect(limiter, "10.0.0.1");

        assertThat(computing.isOpen()).isTrue();
        assertThat(idle.isOpen()).isFalse();

        computations.remove().run();
        waitTooLong();
        connect(limiter, "10.0.0.1");
        assertThat(computing.isOpen()).isFalse();
    }

    /** It waits for this side until it has the reply. */
    @Test
    void aPeerThatTheAuthenticatorHasJustAcceptedKeepsItsPlace() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        CompletableFuture<ZMTPAuthDecision> decision = new CompletableFuture<>();
        AddressedChannel accepted = connect(limiter, "10.0.0.1", withAuthenticator(request -> decision));
        shakeHands(accepted);
        waitTooLong();
        decision.complete(ZMTPAuthDecision.accept("user")); // and its event loop has not begun with it

        AddressedChannel newcomer = connect(limiter, "10.0.0.1");
        accepted.runPendingTasks();

        assertThat(newcomer.isOpen()).isFalse();
        assertThat(accepted.isOpen()).isTrue();
        assertThat(limiter.handshakeCount()).isZero();
    }

    private static void exchange(EmbeddedChannel one, EmbeddedChannel other) {
        for (int i = 0; i < 10; i++) { // a greeting is sent in three parts
            deliver(one, other);
            deliver(other, one);
        }
    }

    private static void deliver(EmbeddedChannel from, EmbeddedChannel to) {
        from.runPendingTasks();
        for (Object out = from.readOutbound(); out != null; out = from.readOutbound()) {
            to.writeInbound(out);
        }
    }

    @Test
    void ifAllPeersWaitForThisSideTheNewConnectionIsRefused() {
        ZMTPHandshakeLimiter limiter = limiter(2, 2);
        ZMTPAuthenticator slow = request -> new CompletableFuture<>();
        AddressedChannel first = connect(limiter, "10.0.0.1", withAuthenticator(slow));
        shakeHands(first);
        AddressedChannel second = connect(limiter, "10.0.0.2", withAuthenticator(slow));
        shakeHands(second);
        waitTooLong();
        AddressedChannel newcomer = connect(limiter, "10.0.0.1");
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isOpen()).isTrue();
        assertThat(newcomer.isOpen()).isFalse();
    }

    @Test
    void manyPeersThatWaitForThisSideHideNoneThatKeepsItWaiting() {
        ZMTPHandshakeLimiter limiter = limiter(100, 20);
        ZMTPAuthenticator slow = request -> new CompletableFuture<>();
        for (int i = 0; i < 19; i++) {
            shakeHands(connect(limiter, "10.0.0.1", withAuthenticator(slow)));
        }
        AddressedChannel idle = connect(limiter, "10.0.0.1");
        waitTooLong();
        for (int i = 0; i < 3; i++) {
            connect(limiter, "10.0.0.1");
        }
        assertThat(idle.isOpen()).isFalse();
        assertThat(connections.subList(0, 19)).allMatch(Channel::isOpen);
    }

    @Test
    void ifAllPeersOfTheAddressWithMostHandshakesWaitForThisSideOneOfAnotherAddressMakesRoom() {
        ZMTPHandshakeLimiter limiter = limiter(3, 2);
        ZMTPAuthenticator slow = request -> new CompletableFuture<>();
        AddressedChannel first = connect(limiter, "10.0.0.1", withAuthenticator(slow));
        shakeHands(first);
        AddressedChannel second = connect(limiter, "10.0.0.1", withAuthenticator(slow));
        shakeHands(second);
        AddressedChannel idle = connect(limiter, "10.0.0.2");
        waitTooLong();
        AddressedChannel newcomer = connect(limiter, "10.0.0.3");
        assertThat(idle.isOpen()).isFalse();
        assertThat(first.isOpen()).isTrue();
        assertThat(second.isOpen()).isTrue();
        assertThat(newcomer.isOpen()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "2001:db8:1:2::1, 2001:db8:1:2:ffff:ffff:ffff:ffff, false",
        "2001:db8:1:2::1, 2001:db8:1:3::1, true",
        "10.0.0.1, 10.0.0.129, true",
        "::ffff:10.0.0.1, 10.0.0.1, false"
    })
    void anIpv6NetworkCountsAsOneAddress(String first, String second, boolean areTwo) {
        ZMTPHandshakeLimiter limiter = limiter(10, 1);
        AddressedChannel connection = connect(limiter, first);
        waitTooLong();
        connect(limiter, second);
        assertThat(connection.isOpen()).isEqualTo(areTwo);
    }

    @Test
    void anIpv6NetworkIsNamedAsOne() {
        ZMTPHandshakeLimiter limiter = limiter(10, 1);
        connect(limiter, "2001:db8:1:2::1");
        waitTooLong();
        connect(limiter, "2001:db8:1:2::2");
        assertThat(refused)
                .singleElement()
                .asString()
                .endsWith("refused: handshakes with 2001:db8:1:2::/64: 2 (expected: <= 1)");
    }

    @Test
    void channelsWithoutAnInternetAddressCountInTotalOnly() {
        ZMTPHandshakeLimiter limiter = limiter(3, 1);
        AddressedChannel first = connect(limiter, (SocketAddress) null);
        connect(limiter, InetSocketAddress.createUnresolved("host", 1));
        connect(limiter, (SocketAddress) null);
        assertThat(first.isOpen()).isTrue();
        waitTooLong();
        connect(limiter, (SocketAddress) null);
        assertThat(first.isOpen()).isFalse();
    }

    @Test
    void aHandshakeThatSucceedsMakesRoomAndTheLimiterLeaves() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        shakeHands(first);
        assertThat(limiter.handshakeCount()).isZero();
        assertThat(first.pipeline().get(ZMTPHandshakeLimiter.class)).isNull();
        assertThat(first.isOpen()).isTrue();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
    }

    @Test
    void aHandshakeThatFailsMakesRoom() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        first.writeInbound(first.alloc().buffer().writeBytes(Hex.bytes("\"GET\" 20 2f")));
        assertThat(first.isOpen()).isFalse();
        assertThat(limiter.handshakeCount()).isZero();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
    }

    @Test
    void aConnectionThatIsClosedMakesRoom() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        connect(limiter, "10.0.0.1").close();
        assertThat(limiter.handshakeCount()).isZero();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
    }

    @Test
    void aConnectionThatStaysSilentMakesRoomAtItsDeadline() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        first.advanceTimeBy(30, TimeUnit.SECONDS);
        first.runScheduledPendingTasks();
        assertThat(limiter.handshakeCount()).isZero();
    }

    @Test
    void aConnectionThatIsDroppedGivesItsPlaceBackOnce() {
        ZMTPHandshakeLimiter limiter = limiter(2, 2);
        connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.1");
        waitTooLong();
        connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.1");
        assertThat(limiter.handshakeCount()).isEqualTo(2);
        assertThat(refused).hasSize(2);
        connections.get(3).close();
        assertThat(limiter.handshakeCount()).isOne();
    }

    @Test
    void aClosedConnectionMakesRoomEvenIfItsHandlersAreNotRemoved() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel connection = connect(limiter, "10.0.0.1");
        List<Integer> handshakes = new ArrayList<>();
        connection.closeFuture().addListener(closed -> {
            assertThat(connection.pipeline().get(ZMTPHandshakeLimiter.class)).isNotNull();
            handshakes.add(limiter.handshakeCount());
        });
        connection.close();
        assertThat(handshakes).containsExactly(0);
    }

    @Test
    void aCodecThatIsAddedLaterIsAwaitedToo() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel connection = new AddressedChannel("10.0.0.1", 1);
        connections.add(connection);
        connection.pipeline().addLast(limiter, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.pipeline().addLast(ZMTPCodec.of(ROUTER)).remove(this);
                ctx.pipeline().context(ZMTPHandshakeLimiter.class).fireChannelRead(msg);
            }
        });
        assertThat(limiter.handshakeCount()).isOne();
        shakeHands(connection);
        assertThat(limiter.handshakeCount()).isZero();
    }

    @Test
    void aLimiterThatIsAddedTwiceCountsOnce() {
        ZMTPHandshakeLimiter limiter = limiter(10, 1);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        first.pipeline().addFirst(limiter);
        assertThat(limiter.handshakeCount()).isOne();
        shakeHands(first);
        assertThat(limiter.handshakeCount()).isZero();
        first.close();
        assertThat(connect(limiter, "10.0.0.1").isOpen()).isTrue();
        assertThat(refused).isEmpty();
    }

    @Test
    void aChannelThatIsClosedAlreadyTakesNoPlace() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel closed = new AddressedChannel("10.0.0.1", 1);
        closed.close();
        closed.pipeline().addLast(limiter);
        assertThat(limiter.handshakeCount()).isZero();
    }

    @Test
    void aLimiterThatIsRemovedCountsNoMore() {
        ZMTPHandshakeLimiter limiter = limiter(1, 1);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        first.pipeline().remove(limiter);
        assertThat(limiter.handshakeCount()).isZero();
        shakeHands(first);
        assertThat(first.isOpen()).isTrue();
    }

    @Test
    void aLimiterThatIsAddedTwiceAndRemovedOnceCountsOn() {
        ZMTPHandshakeLimiter limiter = limiter(10, 10);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        first.pipeline().addLast("again", limiter).remove("again");
        assertThat(limiter.handshakeCount()).isOne();
    }

    @Test
    void anExceptionOfRefusedFailsTheDroppedConnectionOnly() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(1, 1, () -> now) {
            @Override
            protected void connectionRefused(Channel channel, String reason) {
                throw new IllegalStateException("my own");
            }
        };
        AddressedChannel first = connect(limiter, "10.0.0.1");
        Recorder<String> recorder = Recorder.ofDescriptions();
        first.pipeline().addBefore(first.pipeline().context(ZMTPCodec.class).name(), null, recorder);
        waitTooLong();
        AddressedChannel second = connect(limiter, "10.0.0.1");
        assertThat(first.isOpen()).isFalse();
        assertThat(recorder.failures).singleElement().asString().contains("my own");
        assertThat(second.isOpen()).isTrue();
        second.checkException();
    }

    // The peer's address becomes known later

    @Test
    void aConnectionCountsForTheAddressThatAHandlerHasSet() {
        ZMTPHandshakeLimiter limiter = limiter(10, 2);
        AddressedChannel first = connect(limiter, "10.0.0.1");
        connect(limiter, "10.0.0.1");
        setPeerAddress(first, "192.0.2.1");
        AddressedChannel third = connect(limiter, "10.0.0.1");
        assertThat(refused).isEmpty();
        assertThat(third.isOpen()).isTrue();

        AddressedChannel fourth = connect(limiter, "10.0.0.9");
        setPeerAddress(fourth, "192.0.2.1");
        AddressedChannel fifth = connect(limiter, "10.0.0.9");
        waitTooLong();
        setPeerAddress(fifth, "192.0.2.1");
        assertThat(first.isOpen()).isFalse();
        assertThat(fifth.isOpen()).isTrue();
        assertThat(refused).containsExactly("/10.0.0.1:5000 refused: handshakes with 192.0.2.1: 3 (expected: <= 2)");
    }

    @Test
    void theAddressOfTheConnectionMayBeLeftOutUntilThatOfThePeerIsKnown() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(4, 1, () -> now) {
            @Override
            protected @Nullable SocketAddress peerAddress(Channel channel) {
                return channel.attr(ZMTPCodec.PEER_ADDRESS).get();
            }
        };
        AddressedChannel first = connect(limiter, "10.0.0.1");
        AddressedChannel second = connect(limiter, "10.0.0.1");
        setPeerAddress(first, "192.0.2.1");
        assertThat(limiter.handshakeCount()).isEqualTo(2);
        waitTooLong();
        setPeerAddress(second, "192.0.2.1");
        assertThat(first.isOpen()).isFalse();
        assertThat(second.isOpen()).isTrue();
    }

    private static void setPeerAddress(AddressedChannel connection, String address) {
        connection
                .pipeline()
                .addAfter(
                        connection
                                .pipeline()
                                .context(ZMTPHandshakeLimiter.class)
                                .name(),
                        null,
                        new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object header) {
                                ctx.channel().attr(ZMTPCodec.PEER_ADDRESS).set(AddressedChannel.address(address, 1));
                                ctx.pipeline().remove(this);
                            }
                        });
        connection.writeInbound("header");
    }

    @Test
    void byDefaultThereIsRoomFor1024HandshakesOfAnAddressAnd4096InTotal() {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter() {
            @Override
            protected void connectionRefused(Channel channel, String reason) {
                refused.add(reason);
            }
        };
        for (int i = 0; i < 4096; i++) {
            connect(limiter, "10.0.0." + i / 1024);
        }
        assertThat(refused).isEmpty();
        connect(limiter, "10.0.0.3");
        assertThat(refused).containsExactly("handshakes with 10.0.0.3: 1025 (expected: <= 1024)");
        connect(limiter, "10.0.0.16");
        assertThat(refused).hasSize(2).last().isEqualTo("handshakes: 4097 (expected: <= 4096)");
    }

    @ParameterizedTest
    @CsvSource({"0, 1, maxTotal: 0 (expected: >= 1)", "1, -1, maxPerAddress: -1 (expected: >= 1)"})
    void aBoundIsAtLeastOne(int maxTotal, int maxPerAddress, String message) {
        assertThatThrownBy(() -> new ZMTPHandshakeLimiter(maxTotal, maxPerAddress))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
