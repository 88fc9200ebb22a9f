package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.RoutingIdConflictPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer comes that has the name of another one, which may be about to leave; in virtual time. */
@Tag("netty-4.2-only")
class NewcomerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<String> received = new ArrayList<>();
    private final List<ZMTPSocketEvent> events = new ArrayList<>();
    private ZMTPSocket router;

    @AfterEach
    void close() {
        loop.close();
    }

    private void bind(String endpoint) {
        bind(endpoint, ZMTPSocketConfig.builder(ROUTER));
    }

    private void bind(String endpoint, ZMTPSocketConfig.Builder config) {
        router = loop.open(config);
        router.onMessage((from, message) ->
                received.add(from.routingIdUTF8() + " " + String.join(" ", TestSockets.frames(message))));
        router.onEvent(Runnable::run, events::add);
        router.bind(endpoint);
        loop.run();
    }

    /** A peer of the name A. */
    private ZMTPSocket connect(String endpoint) {
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER)
                .codec(codec -> codec.localIdentity("A"))
                .reconnectDelay(Duration.ofHours(1), Duration.ofHours(1)));
        dealer.connect(endpoint);
        loop.run();
        return dealer;
    }

    private void send(ZMTPSocket dealer, String... texts) {
        for (String text : texts) {
            dealer.sendAsync(TestSockets.message(text));
        }
        loop.run();
    }

    private List<? extends ZMTPSocketEvent> events(Class<? extends ZMTPSocketEvent> type) {
        return events.stream().filter(type::isInstance).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"test://newcomer", "inproc://newcomer"})
    void thatIsTheNextInLineTakesThePlaceOfTheOneBeforeIt(String endpoint) {
        bind(endpoint);
        ZMTPSocket first = connect(endpoint);
        ZMTPSocket second = connect(endpoint);
        send(second, "2");
        ZMTPSocket third = connect(endpoint);
        send(third, "3");

        first.closeAsync(Duration.ZERO);
        loop.run();
        assertThat(received).containsExactly("A 2");
        second.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(received).containsExactly("A 2", "A 3");
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).isEmpty();
    }

    @Test
    void hasTheLimitThatWasSetWhileItWaited() {
        WriteGate gate = new WriteGate();
        bind("test://newcomer", ZMTPSocketConfig.builder(ROUTER).pipelineInitializer(gate));
        ZMTPSocket first = connect("test://newcomer");
        connect("test://newcomer");
        router.resizeSendQueue(2, 1 << 20);
        loop.run();
        first.closeAsync(Duration.ZERO);
        loop.run();
        ZMTPPeer peer = router.peers().iterator().next();
        gate.close();
        List<Boolean> taken = new ArrayList<>();

        loop.eventLoop().execute(() -> {
            taken.add(peer.trySend(WriteGate.big("transport")));
            taken.add(peer.trySend(TestSockets.message("1")));
            taken.add(peer.trySend(TestSockets.message("2")));
            ZMTPMessage more = TestSockets.message("3");
            taken.add(peer.trySend(more));
            more.release();
        });
        loop.run();

        assertThat(taken).containsExactly(true, true, true, false);
        gate.open();
    }

    /** T49. */
    @Tag("T49")
    @ParameterizedTest
    @ValueSource(strings = {"test://newcomer", "inproc://newcomer"})
    void takesThePlaceOfOneThatLeavesAndLosesNothing(String endpoint) {
        bind(endpoint);
        ZMTPSocket first = connect(endpoint);
        send(first, "1");
        ZMTPSocket second = connect(endpoint);
        send(second, "2", "3");
        assertThat(received).containsExactly("A 1");

        first.closeAsync(Duration.ZERO);
        loop.run();
        send(second, "4");

        assertThat(received).containsExactly("A 1", "A 2", "A 3", "A 4");
        router.sendAsync(TestSockets.message("A", "to the second"));
        loop.run();
        assertThat(TestSockets.frames(second.receiveAsync().join())).containsExactly("to the second");
    }

    @ParameterizedTest
    @ValueSource(strings = {"test://newcomer", "inproc://newcomer"})
    void takesThePlaceOfOneThatLeavesEvenIfThereIsNoOther(String endpoint) {
        bind(endpoint, ZMTPSocketConfig.builder(ROUTER).maxPeers(1));
        ZMTPSocket first = connect(endpoint);
        ZMTPSocket second = connect(endpoint);

        first.closeAsync(Duration.ZERO);
        loop.run();
        send(second, "of the second");

        assertThat(received).containsExactly("A of the second");
    }

    @ParameterizedTest
    @ValueSource(strings = {"test://newcomer", "inproc://newcomer"})
    void withoutANameIsRefusedIfThereIsNoPlace(String endpoint) {
        bind(
                endpoint,
                ZMTPSocketConfig.builder(ROUTER)
                        .maxPeers(2)
                        .routingIdConflictPolicy(RoutingIdConflictPolicy.TAKE_OVER));
        connect(endpoint);
        loop.open(ZMTPSocketConfig.builder(DEALER)).connect(endpoint);
        loop.run();
        assertThat(router.peers()).hasSize(2);

        loop.open(ZMTPSocketConfig.builder(DEALER)).connect(endpoint);
        loop.run();

        assertThat(router.peers()).hasSize(2);
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class))
                .singleElement(type(ZMTPSocketEvent.HandshakeFailed.class))
                .satisfies(failed -> assertThat(failed.cause())
                        .hasMessage("ILLEGAL_STATE: peers: 2 (expected: fewer, see maxPeers)"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"test://newcomer", "inproc://newcomer"})
    void takesOverThePlaceOfAnotherEvenIfThereIsNoOther(String endpoint) {
        bind(
                endpoint,
                ZMTPSocketConfig.builder(ROUTER)
                        .maxPeers(1)
                        .routingIdConflictPolicy(RoutingIdConflictPolicy.TAKE_OVER));
        connect(endpoint);
        ZMTPSocket second = connect(endpoint);
        send(second, "of the second");

        assertThat(received).containsExactly("A of the second");
        assertThat(router.peers()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"test://newcomer", "inproc://newcomer"})
    void isNotTheReasonForWhichTheOtherOneLeft(String endpoint) {
        bind(endpoint);
        ZMTPSocket first = connect(endpoint);
        connect(endpoint);

        first.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(events(ZMTPSocketEvent.PeerDown.class))
                .singleElement(type(ZMTPSocketEvent.PeerDown.class))
                .satisfies(down -> assertThat(down.cause()).isInstanceOf(ClosedChannelException.class));
    }

    /** T48. */
    @Tag("T48")
    @ParameterizedTest
    @ValueSource(strings = {"test://newcomer", "inproc://newcomer"})
    void isRefusedIfTheOtherOneStays(String endpoint) {
        bind(endpoint);
        ZMTPSocket first = connect(endpoint);
        ZMTPSocket second = connect(endpoint);
        send(second, "lost");

        loop.advance(PATIENCE.minusMillis(1));
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).isEmpty();
        loop.advance(Duration.ofMillis(1));

        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class))
                .singleElement(type(ZMTPSocketEvent.HandshakeFailed.class))
                .satisfies(failed -> assertThat(failed.cause())
                        .hasMessage("ILLEGAL_STATE: identity: \"A\" is taken by another peer"));
        assertThat(second.peers()).noneMatch(TestSockets::isUp);
        send(first, "of the first");
        assertThat(received).containsExactly("A of the first");
    }

    /** The end of its connection comes after the messages that are read slowly. */
    @Test
    void waitsLongerIfTheOtherOneStillSends() {
        bind("test://newcomer");
        ZMTPSocket first = connect("test://newcomer");
        ZMTPSocket second = connect("test://newcomer");
        send(second, "of the second");

        for (int i = 0; i < 5; i++) {
            send(first, "of the first");
            loop.advance(PATIENCE);
        }
        first.closeAsync(Duration.ZERO);
        loop.advance(PATIENCE);

        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).isEmpty();
        assertThat(received).hasSize(6).endsWith("A of the second");
    }

    /** The application does not keep up with what it has received. */
    @Test
    void waitsLongerIfTheEndOfTheOtherOneCannotBeSeen() {
        bind("test://newcomer");
        ZMTPSocket first = connect("test://newcomer");
        ZMTPPeer its = TestSockets.peer(router);
        its.pauseReading();
        loop.run();
        ZMTPSocket second = connect("test://newcomer");
        send(second, "of the second");

        first.closeAsync(Duration.ZERO);
        loop.advance(PATIENCE.multipliedBy(5));
        its.resumeReading();
        loop.advance(PATIENCE);

        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).isEmpty();
        assertThat(received).containsExactly("A of the second");
    }

    /** Earlier ones might be gone, as they are not read either. */
    @Test
    void waitsLongerAsTheLastOnly() {
        bind("test://newcomer");
        ZMTPSocket first = connect("test://newcomer");
        ZMTPPeer its = TestSockets.peer(router);
        its.pauseReading();
        send(connect("test://newcomer"), "of the second");
        send(connect("test://newcomer"), "of the third");

        loop.advance(PATIENCE.multipliedBy(5));
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).hasSize(1);
        first.closeAsync(Duration.ZERO);
        its.resumeReading();
        loop.advance(PATIENCE);

        assertThat(received).containsExactly("A of the third");
    }

    /** And lingers, as its peer does not read. */
    @Test
    void needNotWaitForAPeerWhoseEndpointIsClosing() {
        bind("test://newcomer", ZMTPSocketConfig.builder(ROUTER).linger(Duration.ofDays(1)));
        ZMTPSocket slow = loop.open(ZMTPSocketConfig.builder(DEALER)
                .codec(codec -> codec.localIdentity("A"))
                .receiveQueueLimit(1, 1 << 20));
        slow.bind("test://slow");
        ZMTPEndpoint toSlow = router.connect("test://slow");
        loop.run();
        for (int i = 0; i < 20; i++) {
            router.sendAsync(TestSockets.message("A", "x".repeat(100_000)));
        }
        loop.run();
        ZMTPSocket second = connect("test://newcomer");
        send(second, "of the second");

        toSlow.close();
        loop.advance(PATIENCE);

        assertThat(received).containsExactly("A of the second");
        router.closeAsync(Duration.ZERO);
    }

    @Test
    void isRefusedIfTheOtherOneStaysAndIsNotRead() {
        bind("test://newcomer");
        connect("test://newcomer");
        TestSockets.peer(router).pauseReading();
        connect("test://newcomer");

        loop.advance(PATIENCE.multipliedBy(29));
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).isEmpty();
        loop.advance(PATIENCE);

        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).hasSize(1);
    }

    @Test
    void mayLeaveWhileItWaits() {
        bind("test://newcomer");
        connect("test://newcomer");
        ZMTPSocket second = connect("test://newcomer");
        send(second, "lost");

        second.closeAsync(Duration.ZERO);
        loop.advance(PATIENCE);

        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).hasSize(1);
        assertThat(router.peers()).hasSize(1);
        assertThat(received).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"inproc://newcomer", "test://newcomer"})
    void thatLeavesWhileItWaitsIsReadWhenItsTurnComes(String endpoint) {
        bind(endpoint);
        ZMTPSocket first = connect(endpoint);
        ZMTPSocket second = connect(endpoint);
        send(second, "1", "2", "3");
        second.closeAsync(PATIENCE);
        loop.run();

        first.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(received).containsExactly("A 1", "A 2", "A 3");
        assertThat(router.peers()).isEmpty();
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).isEmpty();
    }

    @Test
    void waitsNoLongerThanTheSocketLives() {
        bind("test://newcomer");
        connect("test://newcomer");
        ZMTPSocket second = connect("test://newcomer");
        send(second, "lost");

        router.closeAsync(Duration.ZERO);
        loop.advance(PATIENCE);

        assertThat(second.peers()).noneMatch(TestSockets::isUp);
        assertThat(router.peers()).isEmpty();
    }

    /** T48. */
    @Tag("T48")
    @Test
    void theSeventeenthThatWaitsForANameIsRefusedAtOnce() {
        bind("test://line");
        ZMTPSocket first = connect("test://line");
        for (int i = 0; i < 16; i++) {
            connect("test://line");
        }
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).isEmpty();

        connect("test://line");
        assertThat(events(ZMTPSocketEvent.HandshakeFailed.class)).hasSize(1);

        first.closeAsync(Duration.ZERO);
        loop.run();
        assertThat(events(ZMTPSocketEvent.PeerUp.class)).hasSize(2); // the one that has waited for longest
        assertThat(router.stats().handshakeFailures()).as("the others wait on").isEqualTo(1);
        loop.advance(PATIENCE);
        assertThat(router.stats().handshakeFailures()).isEqualTo(16);
    }

    @Test
    void ofAClosedEndpointDoesNotComeUp() {
        router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        router.onEvent(Runnable::run, events::add);
        List<ZMTPEndpoint> connected = new ArrayList<>();
        for (String endpoint : List.of("inproc://first", "inproc://second")) {
            loop.open(ZMTPSocketConfig.builder(DEALER).codec(codec -> codec.localIdentity("A")))
                    .bind(endpoint);
            connected.add(router.connect(endpoint));
            loop.run();
        }
        assertThat(events(ZMTPSocketEvent.PeerUp.class)).hasSize(1);

        loop.eventLoop().execute(() -> connected.forEach(ZMTPEndpoint::close));
        loop.run();

        assertThat(events(ZMTPSocketEvent.PeerUp.class)).hasSize(1);
        assertThat(events(ZMTPSocketEvent.Stopped.class)).hasSize(2);
    }
}
