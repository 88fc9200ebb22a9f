package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.hold;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.WriteGate.big;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What happens to messages for a peer whose queue is full. */
class SlowPeerPoliciesTest {

    /** The number of messages that may be on their way to the event loop if two may wait for a peer. */
    private static final int ON_THE_WAY_OF_TWO = 2 * 64;

    private static final String ENDPOINT = "inproc://slow";

    private final WriteGate gate = new WriteGate();

    private ZMTPSocketConfig.Builder publisher(TestSockets sockets, OverflowPolicy policy, int limit) {
        return sockets.builder(PUB)
                .overflowPolicy(policy)
                .sendQueueLimit(limit, 16 << 20)
                .pipelineInitializer(gate);
    }

    /** A subscriber to all, whose connection takes nothing any more but what it has been given here. */
    private ZMTPSocket stoppedSubscriber(TestSockets sockets, ZMTPSocket pub) {
        ZMTPSocket sub = sockets.open(SUB);
        sub.subscribe("");
        connect(sub, bind(pub, "tcp://127.0.0.1:*"));
        get(pub.whenPeers(1));
        gate.close();
        get(pub.sendAsync(big("transport")));
        return sub;
    }

    private static void publish(ZMTPSocket pub, String... frames) {
        ZMTPMessage message = message(frames);
        while (!pub.trySend(message)) {
            Thread.onSpinWait();
        }
    }

    /** T28. */
    @Tag("T28")
    @Test
    void theLatestMessageIsKeptWhole(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.KEEP_LATEST, 1_000));
        TestSockets.Events events = TestSockets.events(pub);
        ZMTPSocket sub = stoppedSubscriber(sockets, pub);
        for (int i = 1; i <= 1_000; i++) {
            publish(pub, "a" + i, "b" + i, "c" + i);
        }
        ZMTPPeer peer = TestSockets.peer(pub);
        await("all but the last dropped", () -> peer.stats().dropped() == 999);
        assertThat(events.next(ZMTPSocketEvent.Dropped.class).reason()).isEqualTo(ZMTPSocketEvent.DropReason.REPLACED);
        assertThat(peer.stats().queued()).isEqualTo(1);

        gate.open();

        get(sub.receiveAsync()).release();
        assertThat(receive(sub)).containsExactly("a1000", "b1000", "c1000");
    }

    /** T28: also from a thread that is ahead of the event loop. */
    @Tag("T28")
    @Test
    void theLatestMessageIsNotRefusedWhileOthersAreOnTheirWay(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.KEEP_LATEST, 1_000));
        ZMTPSocket sub = stoppedSubscriber(sockets, pub);
        for (int i = 1; i <= 500; i++) {
            pub.sendOrDrop(message("m" + i));
        }
        await("all", () -> TestSockets.peer(pub).stats().dropped() == 499);

        gate.open();

        get(sub.receiveAsync()).release();
        assertThat(receive(sub)).containsExactly("m500");
        assertThat(pub.stats().dropped()).isEqualTo(499);
    }

    /** T28, T29: also if more are on their way to the event loop than the queue would hold. */
    @Tag("T28")
    @Tag("T29")
    @ParameterizedTest
    @CsvSource({"KEEP_LATEST, 1", "DROP_OLD, 10"})
    void theNewestMessagesAreKeptHoweverManyAreOnTheirWay(OverflowPolicy policy, int kept, TestSockets sockets) {
        int messages = 100;
        ZMTPSocket pub = sockets.open(publisher(sockets, policy, 10));
        ZMTPSocket sub = stoppedSubscriber(sockets, pub);
        CountDownLatch busy = hold(pub);
        for (int i = 1; i <= messages; i++) {
            pub.sendOrDrop(message("m" + i));
        }
        busy.countDown();
        await("all others dropped", () -> pub.stats().dropped() == messages - kept);

        gate.open();

        get(sub.receiveAsync()).release();
        for (int i = messages - kept + 1; i <= messages; i++) {
            assertThat(receive(sub)).containsExactly("m" + i);
        }
    }

    @Test
    void aSendThatMadeRoomOnItsWayFailsWithDropped(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.DROP_OLD, 2));
        CountDownLatch busy = hold(pub);
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < ON_THE_WAY_OF_TWO + 2; i++) {
            sent.add(pub.sendAsync(message("m" + i)));
        }
        busy.countDown();

        assertThat(reason(sent.get(0))).isEqualTo(FULL);
        assertThat(reason(sent.get(1))).isEqualTo(FULL);
        sent.subList(2, sent.size()).forEach(TestSockets::get);
        assertThat(pub.stats().dropped()).isEqualTo(2);
    }

    @Test
    void aMessageToOnePeerMakesRoomOnItsWay(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.DROP_OLD, 2));
        stoppedSubscriber(sockets, pub);
        ZMTPPeer peer = TestSockets.peer(pub);
        CountDownLatch busy = hold(pub);
        CompletableFuture<Void> toOne = peer.sendAsync(message("to one"));
        List<CompletableFuture<Void>> toAll = new ArrayList<>();
        for (int i = 0; i < ON_THE_WAY_OF_TWO; i++) {
            toAll.add(pub.sendAsync(message("m" + i)));
        }
        busy.countDown();

        assertThat(reason(toOne)).isEqualTo(FULL);
        toAll.forEach(TestSockets::get);
        assertThat(pub.stats().dropped()).isEqualTo(ON_THE_WAY_OF_TWO - 1);
    }

    /** The place of a message that is on its way is no message that could make room. */
    @Test
    void aPlaceThatIsReservedDoesNotStopTheEventLoop(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.KEEP_LATEST, 10));
        ZMTPSocket sub = stoppedSubscriber(sockets, pub);
        CountDownLatch busy = hold(pub);
        pub.sendOrDrop(message("to all"));
        assertThat(TestSockets.peer(pub).trySend(message("to one"))).isTrue();
        busy.countDown();

        await("the first is replaced", () -> pub.stats().dropped() == 1);
        gate.open();
        get(sub.receiveAsync()).release();
        assertThat(receive(sub)).containsExactly("to one");
    }

    @Test
    void aMessageThatIsReplacedOnItsWayGivesItsPlaceBack(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.DROP_OLD, 2));
        ZMTPSocket sub = stoppedSubscriber(sockets, pub);
        ZMTPPeer peer = TestSockets.peer(pub);
        CountDownLatch busy = hold(pub);
        assertThat(peer.trySend(message("replaced"))).isTrue();
        for (int i = 0; i < ON_THE_WAY_OF_TWO; i++) {
            pub.sendOrDrop(message("m" + i));
        }
        assertThat(pub.stats().dropped()).isEqualTo(1);
        busy.countDown();
        gate.open();
        get(sub.receiveAsync()).release();
        assertThat(receive(sub)).containsExactly("m" + (ON_THE_WAY_OF_TWO - 2));
        assertThat(receive(sub)).containsExactly("m" + (ON_THE_WAY_OF_TWO - 1));

        CountDownLatch again = hold(pub);
        assertThat(peer.trySend(message("m2"))).isTrue();
        assertThat(peer.trySend(message("m3"))).isTrue();
        ZMTPMessage tooMany = message("m4");
        assertThat(peer.trySend(tooMany)).isFalse();
        tooMany.release();
        again.countDown();
    }

    /** T29. */
    @Tag("T29")
    @Test
    void theOldestMessagesMakeRoomForNewOnes(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.DROP_OLD, 10));
        ZMTPSocket sub = stoppedSubscriber(sockets, pub);
        for (int i = 1; i <= 100; i++) {
            publish(pub, "m" + i);
        }
        await("90 dropped", () -> pub.stats().dropped() == 90);

        gate.open();

        get(sub.receiveAsync()).release();
        for (int i = 91; i <= 100; i++) {
            assertThat(receive(sub)).containsExactly("m" + i);
        }
    }

    /** The policy of publishers unless another is set. */
    @Test
    void newMessagesAreDroppedForAFullSubscriber(TestSockets sockets) {
        ZMTPSocket pub =
                sockets.open(sockets.builder(PUB).sendQueueLimit(10, 16 << 20).pipelineInitializer(gate));
        ZMTPSocket sub = stoppedSubscriber(sockets, pub);
        for (int i = 1; i <= 100; i++) {
            publish(pub, "m" + i);
        }
        ZMTPPeer peer = TestSockets.peer(pub);
        await("90 dropped", () -> peer.stats().dropped() == 90);

        gate.open();

        get(sub.receiveAsync()).release();
        for (int i = 1; i <= 10; i++) {
            assertThat(receive(sub)).containsExactly("m" + i);
        }
    }

    /** T30. What is too old is dropped, also before the peer comes. */
    @Tag("T30")
    @Test
    void whatIsTooOldIsDroppedWhileThePeerIsAway(TestSockets sockets) {
        Duration most = Duration.ofMillis(200);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).maxMessageAge(most));
        TestSockets.Events events = TestSockets.events(push);
        push.connect(ENDPOINT);
        List<CompletableFuture<Void>> old = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            old.add(push.sendAsync(message("old")));
        }
        old.forEach(sent -> assertThat(reason(sent)).isEqualTo(EXPIRED));
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, ENDPOINT);
        get(push.whenPeers(1));

        push.sendOrDrop(message("new"));

        assertThat(receive(pull)).containsExactly("new");
        assertThat(push.stats().dropped()).isEqualTo(5);
        assertThat(events.next(ZMTPSocketEvent.Dropped.class).reason()).isEqualTo(ZMTPSocketEvent.DropReason.EXPIRED);
    }

    /** T25. */
    @Tag("T25")
    @Test
    void theBytesThatWaitAreBounded(TestSockets sockets) {
        int size = 100_000;
        UnpooledByteBufAllocator alloc = new UnpooledByteBufAllocator(true);
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).sendQueueLimit(1_000, 1 << 20).pipelineInitializer(gate));
        ZMTPSocket pull = sockets.open(PULL);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        gate.close();
        long taken = 0;
        ZMTPMessage next = ZMTPMessage.from(alloc.directBuffer(size).writeZero(size));
        while (push.stats().queuedBytes() < 1 << 20) {
            if (push.trySend(next)) {
                taken++;
                next = ZMTPMessage.from(alloc.directBuffer(size).writeZero(size));
            }
        }

        assertThat(push.trySend(next)).isFalse();
        next.release();
        assertThat(push.stats().queuedBytes()).isBetween(1L << 20, (1L << 20) + size);
        assertThat(alloc.metric().usedDirectMemory())
                .as("with what the transport has")
                .isLessThanOrEqualTo((1L << 20) + 3L * size);
        gate.open();
        for (long i = 0; i < taken; i++) {
            get(pull.receiveAsync()).release();
        }
        await("given back", () -> alloc.metric().usedDirectMemory() == 0); // the sender hears of the last write
    }

    @Test
    void aPeerIsReportedAsSlowBeforeAnythingIsDropped(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(publisher(sockets, OverflowPolicy.DROP_NEW, 10));
        stoppedSubscriber(sockets, pub);
        TestSockets.Events events = TestSockets.events(pub);

        for (int i = 1; i <= 11; i++) {
            publish(pub, "m" + i);
        }

        ZMTPSocketEvent.SlowPeer slow = events.next(ZMTPSocketEvent.SlowPeer.class);
        assertThat(slow.messages()).isEqualTo(5);
        assertThat(slow.dropped()).isZero();
        ZMTPSocketEvent.Dropped dropped = events.next(ZMTPSocketEvent.Dropped.class);
        assertThat(dropped.reason()).isEqualTo(ZMTPSocketEvent.DropReason.FULL);
        assertThat(dropped.peer()).isSameAs(slow.peer());
        assertThat(dropped.messages()).isEqualTo(1);
    }

    /** T34: it waits, and nobody gets a message twice. */
    @Tag("T34")
    @Test
    void aPublisherThatWaitsForOneSubscriberSendsNothingToTheOthersMeanwhile(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(sockets.builder(XPUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(1, 16 << 20)
                .pipelineInitializer(gate));
        ZMTPSocket full = sockets.open(SUB);
        ZMTPSocket free = sockets.open(SUB);
        full.subscribe("");
        free.subscribe("m");
        connect(full, bind(pub, "tcp://127.0.0.1:*"));
        connect(free, bind(pub, ENDPOINT));
        get(pub.whenPeers(2));
        gate.close();
        pub.sendOrDrop(big("x1")); // with the transport
        CompletableFuture<Void> queued = pub.sendAsync(big("x2"));
        get(queued);
        List<CompletableFuture<Void>> line = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            line.add(pub.sendAsync(big("m" + i)));
        }
        assertThat(line.get(0)).isNotDone();

        gate.open();

        for (int i = 0; i < 20; i++) {
            assertThat(WriteGate.text(get(free.receiveAsync()))).isEqualTo("m" + i);
        }
        assertThat(WriteGate.text(get(full.receiveAsync()))).isEqualTo("x1");
        assertThat(WriteGate.text(get(full.receiveAsync()))).isEqualTo("x2");
        for (int i = 0; i < 20; i++) {
            assertThat(WriteGate.text(get(full.receiveAsync()))).isEqualTo("m" + i);
        }
        line.forEach(TestSockets::get);
    }
}
