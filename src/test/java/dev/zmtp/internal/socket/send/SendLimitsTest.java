package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.OUTCOME_UNKNOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.WriteGate.big;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How much a socket accepts, and what happens to what it does not. */
class SendLimitsTest {

    /** The number of messages for all peers that may be on their way to the event loop if one may wait for each. */
    private static final int ON_THE_WAY = 64;

    private static final String NOBODY = "inproc://nobody";

    private final WriteGate gate = new WriteGate();

    /** T21. */
    @Tag("T21")
    @Test
    void theMessageBeyondTheLimitIsStillTheCallers(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(limited(sockets, DEALER, 10));
        connectToNobody(dealer);

        for (int i = 0; i < 10; i++) {
            assertThat(dealer.trySend(message("m" + i))).as("message %d", i).isTrue();
        }
        ZMTPMessage eleventh = message("m10");
        assertThat(dealer.trySend(eleventh)).isFalse();
        assertThat(eleventh.refCnt()).isEqualTo(1);
        eleventh.release();
    }

    /** T22. */
    @Tag("T22")
    @Test
    void whatIsQueuedForAPeerArrivesInOrderWhenItAppears(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(limited(sockets, DEALER, 10));
        connectToNobody(dealer);
        for (int i = 0; i < 10; i++) {
            assertThat(dealer.trySend(message("m" + i))).isTrue();
        }

        ZMTPSocket router = sockets.open(ROUTER);
        bind(router, NOBODY);

        for (int i = 0; i < 10; i++) {
            assertThat(receive(router)).endsWith("m" + i);
        }
    }

    /** T23. */
    @Tag("T23")
    @Test
    void aBoundSocketWithoutPeersTakesNothing(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        bind(push, "inproc://alone");

        assertThat(push.isWritable()).isFalse();
        assertRefused(push);
    }

    /** T24. */
    @Tag("T24")
    @Test
    void queueingForThoseThatAreThereOnlySendsAllToThem(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).queueWhileDown(false));
        ZMTPSocket pull = sockets.open(PULL);
        connectToNobody(push);
        assertRefused(push);
        connect(push, bind(pull, "inproc://there"));

        for (int i = 0; i < 100; i++) {
            get(push.sendAsync(message("m" + i)));
        }

        for (int i = 0; i < 100; i++) {
            assertThat(receive(pull)).containsExactly("m" + i);
        }
    }

    /** T26: a limit that is raised holds at once. */
    @Tag("T26")
    @Test
    void aRaisedLimitGivesAFullSocketRoomAtOnce(TestSockets sockets) {
        ZMTPSocket push = sockets.open(limited(sockets, PUSH, 2));
        connectToNobody(push);
        assertThat(push.trySend(message("1"))).isTrue();
        assertThat(push.trySend(message("2"))).isTrue();
        assertRefused(push);

        push.resizeSendQueue(3, 1 << 20);

        ZMTPMessage third = message("3");
        await("room", () -> push.trySend(third));
        assertRefused(push);
    }

    /** T26: a limit that is lowered holds at once. */
    @Tag("T26")
    @Test
    void aLoweredLimitStopsSendsUntilTheQueueIsBelowIt(TestSockets sockets) {
        ZMTPSocket push = sockets.open(limited(sockets, PUSH, 10));
        connectToNobody(push);
        for (int i = 0; i < 5; i++) {
            assertThat(push.trySend(message("m" + i))).isTrue();
        }

        push.resizeSendQueue(3, 1 << 20);

        TestSockets.settle(push); // where it takes effect
        assertRefused(push);
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, NOBODY);
        await("writable again", push::isWritable);
        assertThat(push.trySend(message("m5"))).isTrue();
        for (int i = 0; i <= 5; i++) {
            assertThat(receive(pull)).containsExactly("m" + i);
        }
    }

    @Test
    void sendsThatWaitLeaveInOrderWhenThereIsRoom(TestSockets sockets) {
        ZMTPSocket push = sockets.open(limited(sockets, PUSH, 1).pipelineInitializer(gate));
        ZMTPSocket pull = sockets.open(PULL);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        gate.close();

        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            sent.add(push.sendAsync(big("m" + i)));
        }
        assertThat(push.isWritable()).isFalse();
        gate.open();

        for (int i = 0; i < 20; i++) {
            assertThat(WriteGate.text(get(pull.receiveAsync()))).isEqualTo("m" + i);
        }
        sent.forEach(TestSockets::get);
        assertThat(push.isWritable()).isTrue();
    }

    @Test
    void sendsThatWaitOnTheEventLoopLeaveInOrderToo() {
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket push = sockets.open(limited(sockets, PUSH, 1).pipelineInitializer(gate));
            ZMTPSocket pull = sockets.open(PULL);
            connect(push, bind(pull, "tcp://127.0.0.1:*"));
            gate.close();

            CompletableFuture<Void> sent = new CompletableFuture<>();
            sockets.group().execute(() -> {
                CompletableFuture<?>[] all = new CompletableFuture<?>[20];
                for (int i = 0; i < all.length; i++) {
                    all[i] = push.sendAsync(big("m" + i));
                }
                gate.open();
                CompletableFuture.allOf(all).whenComplete((nothing, failure) -> sent.complete(null));
            });

            for (int i = 0; i < 20; i++) {
                assertThat(WriteGate.text(get(pull.receiveAsync()))).isEqualTo("m" + i);
            }
            get(sent);
        }
    }

    @Test
    void nobodyIsTakenBeforeASendThatWaits(TestSockets sockets) {
        ZMTPSocket push = sockets.open(limited(sockets, PUSH, 1));
        CompletableFuture<Void> first = push.sendAsync(message("first"));
        assertThat(push.isWritable()).isFalse();
        assertRefused(push);

        ZMTPSocket pull = sockets.open(PULL);
        connect(push, bind(pull, "inproc://late"));
        get(first);
        get(push.sendAsync(message("second")));

        assertThat(receive(pull)).containsExactly("first");
        assertThat(receive(pull)).containsExactly("second");
    }

    @Test
    void oneMoreSendThanMayWaitFailsAtOnce(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).maxWaitingSends(2));
        CompletableFuture<Void> first = push.sendAsync(message("1"));
        CompletableFuture<Void> second = push.sendAsync(message("2"));

        assertThat(reason(push.sendAsync(message("3")))).isEqualTo(FULL);
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
    }

    /** Each waits for its own message only: it cannot send another one. */
    @Test
    void anyNumberOfThreadsMayWait() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(sockets.builder(PUSH).maxWaitingSends(1));
            List<Future<?>> sends = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                sends.add(threads.submit(() -> {
                    push.send(message("m"));
                    return null;
                }));
            }
            await("all wait", () -> push.stats().queued() == 3);
            assertThat(reason(push.sendAsync(message("one more")))).isEqualTo(FULL);

            ZMTPSocket pull = sockets.open(PULL);
            connect(pull, bind(push, "inproc://threads"));

            for (Future<?> send : sends) {
                assertThat(receive(pull)).containsExactly("m");
                send.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aSendThatWaitsFailsAtTheClose(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        CompletableFuture<Void> waits = push.sendAsync(message("too late"));

        get(push.closeAsync(Duration.ZERO));

        assertThat(reason(waits)).isEqualTo(CLOSED);
    }

    /** T52 in part: no send is forgotten that comes in the moment of the close. */
    @Tag("T52")
    @Test
    void aSendInTheMomentOfTheCloseCompletesOrFails() throws InterruptedException {
        try (TestSockets sockets = new TestSockets(1)) {
            for (int round = 0; round < 200; round++) {
                ZMTPSocket push = sockets.open(sockets.builder(PUSH).maxWaitingSends(1_000_000));
                List<CompletableFuture<Void>> sent = new ArrayList<>();
                CountDownLatch begun = new CountDownLatch(1);
                Thread sender = new Thread(() -> {
                    CompletableFuture<Void> last;
                    do {
                        last = push.sendAsync(message("m"));
                        sent.add(last);
                        begun.countDown();
                    } while (!last.isDone());
                });
                sender.start();
                awaitLatch(begun);
                push.closeAsync(Duration.ZERO);
                sender.join();
                for (CompletableFuture<Void> each : sent) {
                    assertThat(reason(each)).isEqualTo(CLOSED);
                }
            }
        }
    }

    @Test
    void aListenerForRoomIsCalledWhenThereIsRoomAgain(TestSockets sockets) {
        ZMTPSocket push = sockets.open(limited(sockets, PUSH, 1).pipelineInitializer(gate));
        ZMTPSocket pull = sockets.open(PULL);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        gate.close();
        fillTransport(push);
        assertThat(push.trySend(big("queue"))).isTrue();
        AtomicInteger calls = new AtomicInteger();
        push.onWritable(calls::incrementAndGet);
        assertRefused(push);
        assertThat(calls).hasValue(0);

        gate.open();

        await("a call", () -> calls.get() > 0);
        ZMTPMessage more = message("more");
        await("room for another thread", () -> push.trySend(more));
        for (int i = 0; i < 3; i++) {
            get(pull.receiveAsync()).release();
        }
    }

    @Test
    void aListenerThatWasUnregisteredIsNotCalled(TestSockets sockets) {
        ZMTPSocket push = sockets.open(limited(sockets, PUSH, 1));
        connectToNobody(push);
        assertThat(push.trySend(message("1"))).isTrue();
        assertRefused(push);
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch told = new CountDownLatch(1);
        ZMTPRegistration first = push.onWritable(calls::incrementAndGet);
        push.onWritable(told::countDown);

        first.close();
        push.resizeSendQueue(8, 1 << 20);

        awaitLatch(told);
        assertThat(calls).hasValue(0);
    }

    /** Every thread that was refused finds room in the end: no wake-up is missed. */
    @ParameterizedTest
    @EnumSource(names = {"PUSH", "DEALER"})
    void threadsThatWaitForTheListenerGetAllTheirMessagesThrough(ZMTPSocketType type, TestSockets sockets) {
        int threads = 4;
        int messages = 500;
        ZMTPSocket sender = sockets.open(limited(sockets, type, 2));
        ZMTPSocket receiver = sockets.open(sockets.builder(type == PUSH ? PULL : ROUTER));
        AtomicInteger received = new AtomicInteger();
        receiver.onMessage((from, message) -> {
            message.release();
            received.incrementAndGet();
        });
        connect(sender, bind(receiver, "inproc://busy"));
        Semaphore room = new Semaphore(0);
        sender.onWritable(() -> room.release(threads));

        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            all.add(CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < messages; i++) {
                            ZMTPMessage next = message("m" + i);
                            while (!sender.trySend(next)) {
                                boolean woken = acquire(room);
                                if (!woken) {
                                    next.release();
                                    throw new AssertionError("room: nobody was told");
                                }
                            }
                        }
                    },
                    task -> new Thread(task).start()));
        }

        all.forEach(TestSockets::get);
        await("all messages", () -> received.get() == threads * messages);
    }

    private static boolean acquire(Semaphore room) {
        try {
            return room.tryAcquire(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Messages to a peer of a ROUTER take room, and give it back. */
    @Test
    void roomThatMessagesToOnePeerHaveTakenIsReportedWhenItIsBack() {
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket router = sockets.open(limited(sockets, ROUTER, 1));
            ZMTPSocket dealer = sockets.open(DEALER);
            connect(dealer, bind(router, "inproc://router"));
            await("the dealer", () -> router.peers().stream().anyMatch(TestSockets::isUp));
            ZMTPPeer peer = TestSockets.peer(router);
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch told = new CountDownLatch(1);
            router.onWritable(told::countDown);

            occupy(sockets, blocked);
            for (int i = 0; i < ON_THE_WAY; i++) {
                peer.sendOrDrop(message("takes the room"));
            }
            ZMTPMessage refused = message("x", "y");
            assertThat(router.trySend(refused)).isFalse();
            refused.release();
            blocked.countDown();

            awaitLatch(told);
            assertThat(receive(dealer)).containsExactly("takes the room");
        }
    }

    /** What was accepted and finds no room any more waits for it, before all that comes later. */
    @Test
    void messagesOnTheirWayToALoweredLimitKeepTheirOrder() {
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket push = sockets.open(limited(sockets, PUSH, 4).pipelineInitializer(gate));
            ZMTPSocket pull = sockets.open(PULL);
            connect(push, bind(pull, "tcp://127.0.0.1:*"));
            CountDownLatch blocked = new CountDownLatch(1);
            gate.close();

            occupy(sockets, blocked);
            push.resizeSendQueue(1, 16 << 20);
            for (int i = 0; i < 4; i++) {
                assertThat(push.trySend(big("m" + i))).isTrue();
            }
            List<CompletableFuture<Void>> line = List.of(push.sendAsync(big("m4")), push.sendAsync(big("m5")));
            blocked.countDown();
            await("on their way", () -> push.stats().queued() == 5);
            gate.open();

            for (int i = 0; i < 6; i++) {
                assertThat(WriteGate.text(get(pull.receiveAsync()))).isEqualTo("m" + i);
            }
            line.forEach(TestSockets::get);
            await("room", push::isWritable);
        }
    }

    /** A name is a peer's as long as its connection. */
    @Test
    void whatIsQueuedForANamedPeerThatLeavesIsDiscarded(TestSockets sockets) {
        ZMTPSocket router = sockets.open(limited(sockets, ROUTER, 5).pipelineInitializer(gate));
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(router, "tcp://127.0.0.1:*"));
        await("the peer", () -> router.peers().stream().anyMatch(TestSockets::isUp));
        gate.close();
        ZMTPPeer peer = TestSockets.peer(router);
        CompletableFuture<Void> handedOver = peer.sendAsync(big("transport"));
        List<CompletableFuture<Void>> queued = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queued.add(peer.sendAsync(big("queue" + i)));
        }
        await("three wait", () -> peer.stats().queued() == 3);

        get(dealer.closeAsync(Duration.ZERO));

        assertThat(reason(handedOver)).isEqualTo(OUTCOME_UNKNOWN);
        queued.forEach(sent -> assertThat(reason(sent)).isEqualTo(PEER_DOWN));
    }

    /** The credit is the room in the queue, however often peers come and go. */
    @Test
    void roomIsNotLostWhenPeersComeAndGo(TestSockets sockets) {
        ZMTPSocket push = sockets.open(limited(sockets, PUSH, 3));
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint connector = push.connect(bind(pull, "inproc://pull"));
        get(connector.readyFuture());
        for (int i = 0; i < 50; i++) {
            get(push.sendAsync(message("a" + i)));
            get(pull.receiveAsync()).release();
            TestSockets.Events events = TestSockets.events(push);
            TestSockets.peerOf(connector).close();
            events.next(ZMTPSocketEvent.PeerDown.class);
            connector.retryNow();
            events.next(ZMTPSocketEvent.PeerUp.class);
        }
        assertThat(push.isWritable()).isTrue();
        get(pull.closeAsync(Duration.ZERO));
        await("the peer down", () -> !TestSockets.isUp(TestSockets.peerOf(connector)));

        for (int i = 0; i < 3; i++) {
            assertThat(push.trySend(message("m" + i))).isTrue();
        }
        assertRefused(push);
    }

    /** After a connector is closed there is no room in its queue. */
    @Test
    void aClosedConnectorTakesNoMoreMessages(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint connector = push.connect(bind(pull, "inproc://pull"));
        get(connector.readyFuture());

        TestSockets.Events events = TestSockets.events(push);
        get(TestSockets.disconnect(connector));
        events.next(ZMTPSocketEvent.PeerDown.class);

        await("no peer", () -> push.peers().isEmpty());
        assertThat(push.isWritable()).isFalse();
        assertRefused(push);
    }

    /** What is queued still leaves, but nothing new goes there. */
    @Test
    void aConnectorThatIsClosingSendsWhatItHasAndTakesNoMore(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPEndpoint connector = push.connect(NOBODY);
        await("the queue", push::isWritable);
        assertThat(push.trySend(message("before"))).isTrue();
        await("in the queue", () -> push.stats().queued() == 1);

        CompletableFuture<Void> closed = TestSockets.disconnect(connector);
        await("no room", () -> !push.isWritable());
        assertRefused(push);
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, NOBODY);

        assertThat(receive(pull)).containsExactly("before");
        get(closed);
        assertRefused(push);
    }

    /** What a peer that was away had not got before the socket was closed. */
    @Test
    void aSocketThatIsClosingSendsWhatItHasToAPeerThatAppears(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        connectToNobody(push);
        for (int i = 0; i < 10; i++) {
            assertThat(push.trySend(message("m" + i))).isTrue();
        }

        CompletableFuture<ZMTPStats> closed = push.closeAsync(PATIENCE);
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, NOBODY);

        for (int i = 0; i < 10; i++) {
            assertThat(receive(pull)).containsExactly("m" + i);
        }
        assertThat(get(closed).dropped()).isZero();
        assertThat(get(closed).outcomeUnknown()).isZero();
    }

    // Helpers

    /** Has the transport take one message, and no more. */
    private static void fillTransport(ZMTPSocket push) {
        assertThat(push.trySend(big("transport"))).isTrue();
        await("room", push::isWritable);
    }

    private static ZMTPSocketConfig.Builder limited(TestSockets sockets, ZMTPSocketType type, int messages) {
        return sockets.builder(type).sendQueueLimit(messages, 16 << 20);
    }

    private static ZMTPPeer connectToNobody(ZMTPSocket socket) {
        ZMTPEndpoint connector = socket.connect(NOBODY);
        await("the queue", () -> connector.state() == ZMTPEndpoint.State.RETRYING);
        return TestSockets.peerOf(connector);
    }

    private static void assertRefused(ZMTPSocket socket) {
        ZMTPMessage message = message("refused");
        assertThat(socket.trySend(message)).isFalse();
        assertThat(message.refCnt()).isEqualTo(1);
        message.release();
    }

    /** Keeps the event loop from everything else. */
    private static void occupy(TestSockets sockets, CountDownLatch until) {
        CountDownLatch begun = new CountDownLatch(1);
        sockets.group().execute(() -> {
            begun.countDown();
            while (until.getCount() > 0) { // it may not park there
            }
        });
        awaitLatch(begun);
    }

    static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
