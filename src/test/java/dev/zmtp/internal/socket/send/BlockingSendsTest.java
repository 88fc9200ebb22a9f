package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static dev.zmtp.socket.ZMTPSocketException.Reason.UNROUTABLE;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that send and wait for room. */
class BlockingSendsTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final WriteGate gate = new WriteGate();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void open() throws InterruptedException {
        gate.open();
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
    }

    private interface Call {
        void run() throws InterruptedException;
    }

    /** Calls on a thread of its own, and completes with what it throws, or with null. */
    private CompletableFuture<Throwable> begin(Call call) {
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                call.run();
                ended.complete(null);
            } catch (Throwable e) {
                ended.complete(e);
            }
        });
        threads.add(thread);
        thread.start();
        return ended;
    }

    /** As {@link #begin}, and waits until the thread does. */
    private CompletableFuture<Throwable> waiting(Call call) {
        CompletableFuture<Throwable> ended = begin(call);
        Thread thread = threads.get(threads.size() - 1);
        await("it waits", () -> thread.getState() == Thread.State.WAITING);
        return ended;
    }

    private static void assertReason(Throwable thrown, ZMTPSocketException.Reason reason) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        ZMTPSocketException.class, e -> assertThat(e.reason()).isEqualTo(reason));
    }

    private static void assertFails(ZMTPSocketException.Reason reason, Call call) {
        assertThatThrownBy(call::run).satisfies(thrown -> assertReason(thrown, reason));
    }

    @Test
    void aMessageNeedsOnlyRoom(TestSockets sockets) throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("tcp://127.0.0.1:1"); // nobody is there

        push.send(message("m"));

        await("it is queued", () -> push.stats().queued() == 1);
    }

    @Test
    void aPeerThatDoesNotReadLeavesRoomInTheQueueOnly(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).pipelineInitializer(gate).sendQueueLimit(4, 1 << 20));
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        gate.close();
        push.send(WriteGate.big("0"));
        for (int i = 1; i <= 4; i++) {
            push.send(message("" + i));
        }
        CompletableFuture<Throwable> fifth = waiting(() -> push.send(message("5")));

        gate.open();

        assertThat(get(fifth)).isNull();
        for (int i = 0; i <= 5; i++) {
            assertThat(WriteGate.text(pull.receive(PATIENCE))).isEqualTo("" + i);
        }
    }

    /** The event loop is played by the test. */
    @Test
    void aThreadIsWokenWhenAQuarterIsFree() {
        StressedSender socket = new StressedSender(3);
        Senders senders = socket.senders;
        socket.loop.runTasks();
        senders.limit(new QueueLimit(8, 80));
        for (int i = 0; i < 8; i++) {
            assertThat(senders.takeRoom(1)).isTrue();
        }
        ZMTPMessage waits = StressedSender.message("w");
        CompletableFuture<Throwable> sent = waiting(() -> senders.blocking().send(waits, null));
        socket.loop.runTasks();

        senders.credit().give(1, 1);
        senders.capacityFreed();
        assertThat(socket.senders.waiting()).isEqualTo(1);

        senders.credit().give(1, 1);
        senders.capacityFreed();
        assertThat(get(sent)).isNull();
    }

    @Test
    void withoutRoomInTimeTheMessageIsReleased(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH); // has no room before it has a peer
        for (Duration timeout : List.of(SHORT, Duration.ZERO, Duration.ofSeconds(-1))) {
            ZMTPMessage late = message("late");

            assertFails(TIMEOUT, () -> push.send(late, timeout));

            assertThat(late.refCnt()).isZero();
        }
        await("nothing waits", () -> push.stats().queued() == 0);
        assertThat(push.stats().dropped()).isEqualTo(3);
    }

    @Test
    void aTimeoutIsNoLimitWhenThereIsRoom(TestSockets sockets) throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPSocket pull = sockets.open(PULL);
        push.connect(bind(pull, "tcp://127.0.0.1:*"));

        push.send(message("0"), Duration.ZERO);
        push.send(message("1"), Duration.ofSeconds(Long.MAX_VALUE));

        assertThat(receive(pull)).containsExactly("0");
        assertThat(receive(pull)).containsExactly("1");
    }

    @Test
    void aMissingTimeoutReleasesTheMessage(TestSockets sockets) {
        ZMTPMessage message = message("m");

        assertThatThrownBy(() -> sockets.open(PUSH).send(message, null)).isInstanceOf(NullPointerException.class);

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aCloseEndsAllThatWait(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        List<ZMTPMessage> messages = List.of(message("1"), message("2"));
        List<CompletableFuture<Throwable>> sends =
                messages.stream().map(m -> waiting(() -> push.send(m))).toList();

        push.close();

        sends.forEach(send -> assertReason(get(send), CLOSED));
        assertThat(messages).allSatisfy(m -> assertThat(m.refCnt()).isZero());
        ZMTPMessage after = message("after");
        assertFails(CLOSED, () -> push.send(after));
        assertThat(after.refCnt()).isZero();
    }

    @Test
    void anInterruptComesFirst(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("tcp://127.0.0.1:1");
        ZMTPMessage message = message("m");
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> push.send(message)).isInstanceOf(InterruptedException.class);

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aThreadThatGivesUpHoldsUpNoOther(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).maxWaitingSends(1));
        CompletableFuture<Throwable> interrupted = waiting(() -> push.send(message("never")));
        threads.get(0).interrupt();
        assertThat(get(interrupted)).isInstanceOf(InterruptedException.class);
        await("nothing waits", () -> push.stats().queued() == 0);
        CompletableFuture<Void> sent = push.sendAsync(message("m"));
        ZMTPSocket pull = sockets.open(PULL);

        push.connect(bind(pull, "tcp://127.0.0.1:*"));

        assertThat(receive(pull)).containsExactly("m");
        get(sent);
    }

    @Test
    void whatWasSentBeforeComesFirst(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.sendAsync(message("1"));
        CompletableFuture<Throwable> second = waiting(() -> push.send(message("2")));
        push.sendAsync(message("3"));
        ZMTPSocket pull = sockets.open(PULL);

        push.connect(bind(pull, "tcp://127.0.0.1:*"));

        assertThat(receive(pull)).containsExactly("1");
        assertThat(get(second)).isNull();
        assertThat(List.of(receive(pull), receive(pull))).containsExactlyInAnyOrder(List.of("2"), List.of("3"));
    }

    @Test
    void whatIsDroppedWithoutRoomFailsAtOnce(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).overflowPolicy(OverflowPolicy.DROP_NEW));

        assertFails(FULL, () -> push.send(message("m")));
    }

    @Test
    void aPublisherWithoutSubscribersTakesAll(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pub = sockets.open(PUB);
        int messages = 100_000; // far more than may be on the way
        for (int i = 0; i < messages; i++) {
            pub.send(message("m"));
        }
        assertThat(pub.stats().dropped()).isZero();
    }

    @Test
    void aLossAfterwardsIsAnEvent(TestSockets sockets) throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        TestSockets.Events events = events(push);
        ZMTPEndpoint nowhere = push.connect("tcp://127.0.0.1:1");
        push.send(message("1"));
        push.send(message("2"));
        await("they are queued", () -> push.stats().queued() == 2);

        TestSockets.disconnect(nowhere);

        ZMTPSocketEvent.Dropped dropped = events.next(ZMTPSocketEvent.Dropped.class);
        assertThat(dropped.reason()).isEqualTo(DropReason.NO_PEER);
        assertThat(dropped.messages()).isEqualTo(2);
    }

    /** The thread waits for the way to the event loop, which the event loop itself does not take. */
    @Test
    @Tag("netty-4.2-only")
    void aThreadThatWaitsHoldsUpNoMessageOfTheEventLoop() {
        ZMTPTestLoop loop = ZMTPTestLoop.create();
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB).sendQueueLimit(1, 1 << 20));
        int way = 64;
        CompletableFuture<Throwable> ended = waiting(() -> {
            for (int i = 0; i <= way; i++) {
                pub.send(message("there"));
            }
        });

        assertThat(pub.isWritable()).isTrue();
        assertThat(pub.trySend(message("here"))).isTrue();
        assertThat(pub.sendAsync(message("here"))).isCompleted();

        await("the thread goes on", () -> {
            loop.run();
            return ended.isDone();
        });
        assertThat(pub.stats().dropped()).isZero();
        loop.close();
    }

    // To one peer

    private ZMTPSocket fullRouter(TestSockets sockets, ZMTPSocket... dealers) throws InterruptedException {
        ZMTPSocket router =
                sockets.open(sockets.builder(ROUTER).pipelineInitializer(gate).sendQueueLimit(2, 1 << 20));
        String endpoint = bind(router, "tcp://127.0.0.1:*");
        for (ZMTPSocket dealer : dealers) {
            connect(dealer, endpoint);
        }
        await("all are there", () -> router.peers().size() == dealers.length);
        gate.close();
        ZMTPPeer ada = router.peer("ada");
        ada.send(WriteGate.big("0"));
        await("the transport has it", () -> ada.stats().sent() == 1);
        ada.send(message("1"));
        router.send(message("ada", "2"));
        return router;
    }

    private static ZMTPSocket named(TestSockets sockets, String name) {
        return sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity(name)));
    }

    @Test
    void eachPeerHasRoomOfItsOwn(TestSockets sockets) throws InterruptedException {
        ZMTPSocket ada = named(sockets, "ada");
        ZMTPSocket router = fullRouter(sockets, ada, named(sockets, "grace"));
        CompletableFuture<Throwable> named = waiting(() -> router.send(message("ada", "3")));
        CompletableFuture<Throwable> direct = waiting(() -> router.peer("ada").send(message("4")));
        router.send(message("grace", "hello"));
        assertFails(TIMEOUT, () -> router.send(message("ada", "5"), SHORT));
        assertFails(TIMEOUT, () -> router.peer("ada").send(message("6"), SHORT));

        gate.open();

        assertThat(get(named)).isNull();
        assertThat(get(direct)).isNull();
        List<String> received = new ArrayList<>();
        for (int i = 0; i <= 4; i++) {
            received.add(WriteGate.text(ada.receive(PATIENCE)));
        }
        assertThat(received).startsWith("0", "1", "2").containsExactlyInAnyOrder("0", "1", "2", "3", "4");
    }

    @Test
    void aThreadDoesNotWaitForAPeerThatHasLeft(TestSockets sockets) throws InterruptedException {
        ZMTPSocket ada = named(sockets, "ada");
        ZMTPSocket router = fullRouter(sockets, ada);
        ZMTPPeer peer = router.peer("ada");
        ZMTPMessage third = message("ada", "3");
        CompletableFuture<Throwable> waits = waiting(() -> router.send(third));

        peer.close();
        gate.open();

        assertReason(get(waits), PEER_DOWN);
        assertThat(third.refCnt()).isZero();
        assertFails(PEER_DOWN, () -> peer.send(message("4")));
    }

    @Test
    void aCloseEndsThoseThatWaitForAPeer(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = fullRouter(sockets, named(sockets, "ada"));
        CompletableFuture<Throwable> waits = waiting(() -> router.send(message("ada", "3")));

        router.closeAsync(Duration.ZERO);

        assertReason(get(waits), CLOSED);
    }

    @Test
    void aTrySendDoesNotTakeThePlaceThatAThreadWaitsFor(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = fullRouter(sockets, named(sockets, "ada"));
        ZMTPPeer peer = router.peer("ada");
        router.resizeSendQueue(8, 1 << 20);
        await("it has room", peer::isWritable);
        for (int i = 3; i <= 8; i++) {
            peer.send(message("" + i));
        }
        await("it is full", () -> peer.stats().queued() == 8);
        CompletableFuture<Throwable> waits = waiting(() -> peer.send(message("9")));

        router.resizeSendQueue(9, 1 << 20); // one place is less than a quarter
        settle(router);
        assertThat(waits).isNotDone();
        assertThat(peer.isWritable()).isFalse();
        ZMTPMessage other = message("other");
        assertThat(peer.trySend(other)).isFalse();
        ZMTPMessage named = message("ada", "other");
        CompletableFuture<Boolean> here =
                CompletableFuture.supplyAsync(() -> router.trySend(named), router.eventLoop());
        assertThat(get(here)).as("on the event loop").isFalse();
        CompletableFuture.runAsync(() -> peer.sendOrDrop(other), router.eventLoop())
                .join();
        assertThat(peer.stats().dropped()).as("on the event loop").isEqualTo(1);
        named.release();

        router.resizeSendQueue(10, 1 << 20);
        assertThat(get(waits)).isNull();
        await("there is room for others", peer::isWritable);
    }

    @Test
    void aMessageForNobodyIsRefusedAtOnce(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPMessage unknown = message("nobody", "m");
        ZMTPMessage nameless = message("m");

        assertFails(UNROUTABLE, () -> router.send(unknown));
        assertFails(UNROUTABLE, () -> router.send(nameless));

        assertThat(unknown.refCnt()).isZero();
        assertThat(nameless.refCnt()).isZero();
        assertThat(router.stats().dropped()).isEqualTo(2);
    }
}
