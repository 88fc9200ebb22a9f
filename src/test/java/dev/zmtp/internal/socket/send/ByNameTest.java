package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.UNROUTABLE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig.RoutingIdConflictPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** To the peer whose name is the first frame. */
class ByNameTest {

    private static final String ENDPOINT = "inproc://names";

    private static ZMTPSocket named(TestSockets sockets, ZMTPSocketType type, String name) {
        return sockets.open(sockets.builder(type).codec(codec -> codec.localIdentity(name)));
    }

    private static ZMTPPeer only(ZMTPSocket socket) {
        await(
                "one peer",
                () -> socket.peers().size() == 1
                        && TestSockets.isUp(socket.peers().iterator().next()));
        return socket.peers().iterator().next();
    }

    /** A ROUTER with room for one message to each peer, besides one in the transport. */
    private static ZMTPSocket narrow(TestSockets sockets, WriteGate gate) {
        return sockets.open(sockets.builder(ROUTER).sendQueueLimit(1, 16 << 20).pipelineInitializer(gate));
    }

    /** Receives what was with the transport and what was in the queue. */
    private static void receiveBoth(ZMTPSocket full) {
        get(full.receiveAsync()).release();
        get(full.receiveAsync()).release();
    }

    /** Closes the socket, and waits until the other side, which knows it as this peer, has seen it. */
    private static void leave(ZMTPSocket socket, ZMTPPeer peer) {
        get(socket.closeAsync(Duration.ZERO));
        await("away", () -> !TestSockets.isUp(peer));
    }

    @Test
    void messagesComeWithTheNameOfTheirPeerAndGoByIt(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        String endpoint = bind(router, ENDPOINT);
        ZMTPSocket dealer = named(sockets, DEALER, "dealer");
        ZMTPSocket other = named(sockets, ROUTER, "router");
        ZMTPSocket req = named(sockets, REQ, "req");
        connect(dealer, endpoint);
        ZMTPPeer toRouter = connect(other, endpoint);
        connect(req, endpoint);

        get(dealer.sendAsync(message("a", "")));
        assertThat(receive(router)).containsExactly("dealer", "a", "");
        get(toRouter.sendAsync(message("b")));
        assertThat(receive(router)).containsExactly("router", "b");
        get(req.sendAsync(message("c")));
        assertThat(receive(router)).containsExactly("req", "", "c");

        get(router.sendAsync(message("router", "to the router")));
        get(router.sendAsync(message("req", "", "to the req")));
        get(router.sendAsync(message("dealer", "", "to the dealer")));
        assertThat(receive(other)).last().isEqualTo("to the router");
        assertThat(receive(req)).containsExactly("to the req");
        assertThat(receive(dealer)).containsExactly("", "to the dealer");
    }

    /** Names that are made here are unique. */
    @ParameterizedTest
    @CsvSource({"ROUTER, DEALER, 9", "SERVER, CLIENT, 4", "PEER, PEER, 4"})
    void peersWithoutANameGetDifferentOnes(ZMTPSocketType type, ZMTPSocketType peers, int length, TestSockets sockets) {
        ZMTPSocket router = sockets.open(type);
        String endpoint = bind(router, ENDPOINT);
        for (int i = 0; i < 50; i++) {
            connect(sockets.open(peers), endpoint);
        }
        await("all", () -> router.peers().stream().filter(TestSockets::isUp).count() == 50);

        Set<Object> names = new HashSet<>();
        for (ZMTPPeer peer : router.peers()) {
            assertThat(peer.routingId().remaining()).isEqualTo(length);
            names.add(peer.routingId());
        }
        assertThat(names).hasSize(50);
    }

    /** An error, and never a wait. */
    @Test
    void aMessageToNobodyFails(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        connect(named(sockets, DEALER, "A"), bind(router, ENDPOINT));
        only(router);

        assertThat(reason(router.sendAsync(message("B", "x")))).isEqualTo(UNROUTABLE);
        assertThat(reason(router.sendAsync(message("", "x"))))
                .as("an empty name")
                .isEqualTo(UNROUTABLE);
        assertThat(reason(router.sendAsync(message("A")))).as("a name only").isEqualTo(UNROUTABLE);
        assertThat(router.stats().dropped()).isEqualTo(3);
    }

    /** It is the first mistake with a ROUTER, and there is no future that would tell of it. */
    @Test
    void aMessageWithoutANameIsReported(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        TestSockets.Events events = TestSockets.events(router);

        router.sendOrDrop(message("no routing id"));

        assertThat(events.next(ZMTPSocketEvent.Dropped.class).reason()).isEqualTo(ZMTPSocketEvent.DropReason.NO_PEER);
    }

    /** As another thread can do at any time. */
    @Test
    void aMessageIsAcceptedWholeIfAnotherThreadTakesTheLastPlaceMeanwhile(TestSockets sockets) throws Exception {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = narrow(sockets, gate);
        ZMTPSocket dealer = named(sockets, DEALER, "A");
        connect(dealer, bind(router, "tcp://127.0.0.1:*"));
        only(router);
        gate.close();
        router.sendOrDrop(WriteGate.big("first").prepend(text("A")));
        TestSockets.settle(router);
        ByteBuf name = new TakesThePlace(
                () -> assertThat(router.trySend(message("A", "other"))).isTrue());
        ZMTPMessage message = message("mine").prepend(name);

        boolean accepted =
                router.eventLoop().submit(() -> router.trySend(message)).get();
        gate.open();

        assertThat(accepted).isTrue();
        assertThat(WriteGate.text(get(dealer.receiveAsync()))).isEqualTo("first");
        assertThat(List.of(receive(dealer), receive(dealer)))
                .containsExactlyInAnyOrder(List.of("mine"), List.of("other"));
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    /** The name "A", during whose release another thread acts. */
    private static final class TakesThePlace extends UnpooledHeapByteBuf {
        private final Runnable act;

        TakesThePlace(Runnable act) {
            super(UnpooledByteBufAllocator.DEFAULT, 1, 1);
            this.act = act;
            writeByte('A');
        }

        @Override
        protected void deallocate() {
            super.deallocate();
            try {
                Blocking.allow(() -> CompletableFuture.runAsync(act).join());
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void aMessageToNobodySaysWhoIsMissing(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);

        assertThat(failure(router.sendAsync(message("green", "x"))))
                .hasMessage("UNROUTABLE: no peer has the routing id \"green\"");
        assertThat(failure(router.sendAsync(message("\u0001\n", "x"))))
                .hasMessage("UNROUTABLE: no peer has the routing id 0x010a");
        assertThat(failure(router.sendAsync(message("green"))))
                .hasMessage("UNROUTABLE: frames: 1 (expected: the routing id of a peer, and the message)");
    }

    @Test
    void aPeerIsShownWithItsNameAndWhereItComesFrom(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        String endpoint = bind(router, "tcp://127.0.0.1:*");
        connect(named(sockets, DEALER, "ada"), endpoint);
        ZMTPPeer ada = only(router);

        assertThat(ada)
                .hasToString("ZMTPPeer{" + endpoint + " from " + ada.session().peerAddress()
                        + ", \"ada\", ZMTP31 NULL, queued=0}");
    }

    /** Whichever thread sends it. */
    @Test
    void aMessageToAFullPeerIsCounted(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = narrow(sockets, gate);
        connect(named(sockets, DEALER, "full"), bind(router, "tcp://127.0.0.1:*"));
        only(router);
        gate.close();

        List<CompletableFuture<Void>> sent = get(CompletableFuture.supplyAsync(
                () -> List.of(
                        router.sendAsync(toFull("transport")),
                        router.sendAsync(toFull("queue")),
                        router.sendAsync(toFull("lost"))),
                ClockedSockets.core(router).context().eventLoop()));

        assertThat(reason(sent.get(2))).isEqualTo(FULL);
        assertThat(router.stats().dropped()).isEqualTo(1);
        gate.open();
        get(sent.get(1));
    }

    @Test
    void aMessageToAFullPeerFailsAtOnceAndOthersAreNotHeldUp(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = narrow(sockets, gate);
        ZMTPSocket full = named(sockets, DEALER, "full");
        ZMTPSocket free = named(sockets, DEALER, "free");
        String endpoint = bind(router, "tcp://127.0.0.1:*");
        connect(full, endpoint);
        connect(free, endpoint);
        await("both", () -> router.peers().stream().filter(TestSockets::isUp).count() == 2);
        gate.close();
        CompletableFuture<Void> transport = router.sendAsync(toFull("transport"));
        await("taken", router::isWritable);
        CompletableFuture<Void> queue = router.sendAsync(toFull("queue"));
        await("taken", router::isWritable);

        assertThat(reason(router.sendAsync(toFull("no room")))).isEqualTo(FULL);
        assertThat(router.stats().dropped()).isEqualTo(1);
        CompletableFuture<Void> other = router.sendAsync(message("free", "room"));
        assertThat(other).isNotCompletedExceptionally();

        gate.open();
        get(transport);
        get(queue);
        get(other);
        assertThat(receive(free)).containsExactly("room");
        assertThat(WriteGate.text(get(full.receiveAsync()))).isEqualTo("transport");
        assertThat(WriteGate.text(get(full.receiveAsync()))).isEqualTo("queue");
    }

    private static ZMTPMessage toFull(String text) {
        return WriteGate.big(text).prepend(Unpooled.copiedBuffer("full".getBytes(StandardCharsets.UTF_8)));
    }

    /** Sends what the transport and the queue of the only peer have room for. */
    private static void fill(ZMTPSocket router, WriteGate gate) {
        ZMTPPeer peer = only(router);
        gate.close();
        assertThat(router.trySend(toFull("transport"))).isTrue();
        await("with the transport", () -> peer.stats().sent() == 1 && peer.isWritable());
        assertThat(router.trySend(toFull("queue"))).isTrue();
        await("in the queue", () -> peer.stats().queued() == 1);
    }

    /** On the event loop, where the sender knows at once: it stays the caller's, name and all. */
    @Test
    void aMessageThatIsRefusedKeepsItsName() throws Exception {
        WriteGate gate = new WriteGate();
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket router = narrow(sockets, gate);
            ZMTPSocket full = named(sockets, DEALER, "full");
            connect(full, bind(router, "tcp://127.0.0.1:*"));
            only(router);
            gate.close();

            ZMTPMessage refused = sockets.group()
                    .submit(() -> {
                        assertThat(router.trySend(toFull("transport"))).isTrue();
                        assertThat(router.trySend(toFull("queue"))).isTrue();
                        ZMTPMessage third = message("full", "third");
                        assertThat(router.trySend(third)).isFalse();
                        return third;
                    })
                    .get();

            assertThat(refused.refCnt()).isEqualTo(1);
            assertThat(frames(refused)).containsExactly("full", "third");
            gate.open();
            receiveBoth(full);
        }
    }

    /** From another thread, too, which sees the room of the peer and not only that of the socket. */
    @Test
    void aMessageToAFullPeerStaysWithItsThread(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = narrow(sockets, gate);
        ZMTPSocket full = named(sockets, DEALER, "full");
        connect(full, bind(router, "tcp://127.0.0.1:*"));
        fill(router, gate);
        ZMTPMessage third = message("full", "third");

        assertThat(router.trySend(third)).isFalse();

        assertThat(router.stats().dropped()).isZero();
        gate.open();
        receiveBoth(full);
        await("room", () -> router.trySend(third));
        assertThat(receive(full)).containsExactly("third");
    }

    /** Whoever waits for room hears of it when there is some, and not each time that a message finds none. */
    @Test
    void aFullPeerCallsNobodyUntilItHasRoom(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = narrow(sockets, gate);
        ZMTPSocket full = named(sockets, DEALER, "full");
        connect(full, bind(router, "tcp://127.0.0.1:*"));
        fill(router, gate);
        AtomicInteger calls = new AtomicInteger();
        router.onWritable(calls::incrementAndGet);
        TestSockets.settle(router);
        int before = calls.get();

        for (int i = 0; i < 1_000; i++) {
            router.sendOrDrop(message("full", "none"));
        }

        TestSockets.settle(router);
        assertThat(calls).hasValue(before);
        gate.open();
        await("room", () -> calls.get() > before);
        receiveBoth(full);
    }

    @Test
    void aMessageToAPeerThatHasLeftFails(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = named(sockets, DEALER, "A");
        connect(dealer, bind(router, ENDPOINT));
        ZMTPPeer peer = only(router);
        get(dealer.closeAsync(Duration.ZERO));
        await("nobody", () -> router.peers().isEmpty());

        assertThat(reason(router.sendAsync(message("A", "x")))).isEqualTo(UNROUTABLE);
        assertThat(reason(peer.sendAsync(message("x")))).isEqualTo(PEER_DOWN);
    }

    /** T48: the newcomer gets the name. */
    @Tag("T48")
    @Test
    void aNameMayBeTakenOver(TestSockets sockets) {
        ZMTPSocket router =
                sockets.open(sockets.builder(ROUTER).routingIdConflictPolicy(RoutingIdConflictPolicy.TAKE_OVER));
        String endpoint = bind(router, ENDPOINT);
        ZMTPSocket first = sockets.open(sockets.builder(DEALER)
                .codec(codec -> codec.localIdentity("A"))
                .reconnectDelay(Duration.ZERO, Duration.ZERO));
        connect(first, endpoint);
        ZMTPPeer loser = only(router);
        TestSockets.Events events = TestSockets.events(router);
        ZMTPSocket second = named(sockets, DEALER, "A");

        connect(second, endpoint);

        ZMTPSocketEvent.PeerDown down = events.next(ZMTPSocketEvent.PeerDown.class);
        assertThat(down.peer()).isSameAs(loser);
        assertThat(down.cause()).hasMessageContaining("taken over");
        await("one", () -> router.peers().size() == 1);
        get(router.sendAsync(message("A", "to the second")));
        assertThat(receive(second)).containsExactly("to the second");
    }

    /** A peer that is connected to may come back with another name. */
    @Test
    void aPeerThatComesBackWithAnotherNameHasThatOneOnly(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket first = named(sockets, DEALER, "first");
        ZMTPEndpoint connector = router.connect(bind(first, ENDPOINT));
        get(connector.readyFuture());
        leave(first, TestSockets.peerOf(connector));
        ZMTPSocket second = named(sockets, DEALER, "second");
        bind(second, ENDPOINT);
        connector.retryNow();
        await("back", () -> TestSockets.isUp(TestSockets.peerOf(connector)));

        assertThat(reason(router.sendAsync(message("first", "x")))).isEqualTo(UNROUTABLE);
        get(router.sendAsync(message("second", "hello")));
        assertThat(receive(second)).containsExactly("hello");
    }

    @Test
    void whatIsSentByNameToAPeerThatIsAwayWaitsForIt(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = named(sockets, DEALER, "A");
        ZMTPEndpoint connector = router.connect(bind(dealer, ENDPOINT));
        get(connector.readyFuture());
        leave(dealer, TestSockets.peerOf(connector));

        CompletableFuture<Void> sent = router.sendAsync(message("A", "later"));
        ZMTPSocket back = named(sockets, DEALER, "A");
        bind(back, ENDPOINT);

        assertThat(receive(back)).containsExactly("later");
        get(sent);
    }

    /** A restarted peer can reach this socket before this socket has reached it again. */
    @ParameterizedTest
    @EnumSource(RoutingIdConflictPolicy.class)
    void whatIsSentByNameToAPeerThatIsAwayFailsIfAnotherPeerTakesTheName(
            RoutingIdConflictPolicy policy, TestSockets sockets) throws Exception {
        ZMTPSocket router =
                sockets.open(sockets.builder(ROUTER).sendQueueLimit(1, 1 << 20).routingIdConflictPolicy(policy));
        List<ZMTPSocketEvent> dropped = new CopyOnWriteArrayList<>();
        router.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Dropped) {
                dropped.add(event);
            }
        });
        ZMTPSocket dealer = named(sockets, DEALER, "A");
        ZMTPEndpoint connector = router.connect(bind(dealer, ENDPOINT));
        get(connector.readyFuture());
        ZMTPPeer peer = TestSockets.peerOf(connector);
        leave(dealer, peer);
        CompletableFuture<Void> queued = router.sendAsync(message("A", "queued"));
        await("it is full", () -> peer.stats().queued() == 1);
        CompletableFuture<Throwable> blocked = CompletableFuture.supplyAsync(
                () -> catchThrowable(() -> router.send(message("A", "blocked"))), ForkJoinPool.commonPool());
        await("the thread waits", () -> router.stats().queued() == 2);

        ZMTPSocket newcomer = named(sockets, DEALER, "A");
        connect(newcomer, bind(router, "inproc://newcomer"));

        assertThat(reason(queued)).isEqualTo(PEER_DOWN);
        assertThat(get(blocked)).hasMessageStartingWith("PEER_DOWN");
        assertThat(router.stats().queued()).isZero();
        assertThat(dropped).hasSize(1);
        get(router.sendAsync(message("A", "now")));
        assertThat(receive(newcomer)).containsExactly("now");
    }

    @Test
    void nothingIsQueuedByNameIfTheConfigSaysSo(TestSockets sockets) {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).queueWhileDown(false));
        ZMTPSocket dealer = named(sockets, DEALER, "A");
        ZMTPEndpoint connector = router.connect(bind(dealer, ENDPOINT));
        ZMTPPeer peer = TestSockets.peerOf(get(connector.readyFuture()));
        leave(dealer, peer);

        assertThat(reason(router.sendAsync(message("A", "now")))).isEqualTo(UNROUTABLE);
        assertThat(reason(peer.sendAsync(message("now")))).isEqualTo(PEER_DOWN);
        ZMTPSocket back = named(sockets, DEALER, "A");
        bind(back, ENDPOINT);
        await("back", () -> TestSockets.isUp(peer));
        get(router.sendAsync(message("A", "later")));
        assertThat(receive(back)).containsExactly("later");
    }

    @Test
    void whatIsQueuedByNameEndsWithItsPeerIfTheConfigSaysSo(TestSockets sockets) {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).queueWhileDown(false));
        ZMTPSocket dealer = sockets.open(
                sockets.builder(DEALER).receiveQueueLimit(1, 1 << 20).codec(codec -> codec.localIdentity("A")));
        ZMTPEndpoint connector = router.connect(bind(dealer, ENDPOINT));
        ZMTPPeer peer = TestSockets.peerOf(get(connector.readyFuture()));
        CompletableFuture<Void> queued = null;
        while (queued == null || peer.stats().queued() == 0) { // nobody receives
            queued = router.sendAsync(message("A", "x".repeat(10_000)));
            TestSockets.settle(router);
        }

        get(dealer.closeAsync(Duration.ZERO));

        assertThat(reason(queued)).isEqualTo(PEER_DOWN);
        assertThat(peer.stats().queued()).isZero();
    }

    @Test
    void aPeerWhoseConnectorIsClosedTakesNoMessages(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPEndpoint connector = router.connect("inproc://nobody");
        get(TestSockets.disconnect(connector));

        ZMTPMessage message = message("x");
        assertThat(reason(TestSockets.peerOf(connector).sendAsync(message))).isEqualTo(PEER_DOWN);
        assertThat(message.refCnt()).isZero();
    }

    /** A long name in the first frame of many is found whatever its buffer is. */
    @Test
    void aNameIsFoundInAnyKindOfBuffer(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = sockets.open(ROUTER);
        String name = "n".repeat(255);
        ZMTPSocket dealer = named(sockets, DEALER, name);
        connect(dealer, bind(router, ENDPOINT));
        only(router);

        router.send(ZMTPMessage.from(
                Unpooled.wrappedBuffer(
                        Unpooled.copiedBuffer(name.substring(100).getBytes(StandardCharsets.UTF_8)),
                        Unpooled.copiedBuffer(name.substring(155).getBytes(StandardCharsets.UTF_8))),
                Unpooled.copiedBuffer("hello".getBytes(StandardCharsets.UTF_8))));

        assertThat(receive(dealer)).containsExactly("hello");
    }

    @Test
    void aPeerIsFoundByItsNameAsLongAsItIsThere(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = named(sockets, DEALER, "ada");
        connect(dealer, bind(router, ENDPOINT));
        ZMTPPeer ada = only(router);

        assertThat(router.peer("ada")).isSameAs(ada);
        assertThat(ada.routingIdUTF8()).isEqualTo("ada");
        assertThat(router.peer("grace")).isNull();

        get(dealer.closeAsync(Duration.ZERO));
        await("gone", () -> router.peers().isEmpty());
        assertThat(router.peer("ada")).isNull();
        assertThat(ada.isWritable()).isFalse();
    }

    @Test
    void aTypeWhosePeersHaveNoNamesFindsNone(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        assertThatThrownBy(() -> dealer.peer("ada"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("peer: not with DEALER (expected: ROUTER, SERVER or PEER)");
    }

    @Test
    void anIdleSocketTellsWhenSoManyPeersAreThere(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        CompletableFuture<Void> two = router.whenPeers(2);
        String endpoint = bind(router, ENDPOINT);
        connect(sockets.open(DEALER), endpoint);
        get(router.whenPeers(1));
        assertThat(two).isNotDone();

        connect(sockets.open(DEALER), endpoint);

        get(two);
        assertThat(router.peers()).hasSize(2);
    }
}
