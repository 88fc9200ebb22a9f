package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.socket.ZMTPSocketEvent.PeerDown;
import dev.zmtp.socket.ZMTPSocketEvent.PeerUp;
import dev.zmtp.socket.ZMTPSocketEvent.SlowPeer;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The memory that a socket keeps for its peers is a part of the budget. */
class SocketMemoryTest {

    private static final String TCP = "tcp://127.0.0.1:*";
    private static final int KILOBYTE = 1_000;

    /** Together they leave more than the budget. */
    private static final int PEERS = 30;

    /** By how much the count may be wrong, for each peer and each direction. */
    private static final long STEP = 4 << 10;

    private final ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1 << 20);

    private ZMTPSocketConfig.Builder counted(TestSockets sockets, ZMTPSocketType type) {
        return sockets.builder(type).codec(codec -> codec.memoryBudget(budget));
    }

    private static ZMTPMessage kilobyte() {
        return message("k".repeat(KILOBYTE));
    }

    @Test
    void whatWaitsToBeReceivedIsCounted(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(counted(sockets, PULL));
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, TCP));

        for (int i = 0; i < 100; i++) {
            push.sendOrDrop(kilobyte());
        }
        await("it arrives", () -> pull.stats().received() == 100);
        settle(pull);
        assertThat(budget.used()).isBetween(100L * KILOBYTE - STEP, 150L * KILOBYTE);

        for (int i = 0; i < 100; i++) {
            receive(pull);
        }
        settle(pull);
        assertThat(budget.used()).isLessThan(STEP);
    }

    @Test
    void whatWaitsForAPeerBeforeItsFirstHandshakeIsCounted(TestSockets sockets) throws IOException {
        ZMTPSocket router = sockets.open(counted(sockets, ROUTER));
        ZMTPPeer peer =
                router.connect("tcp://127.0.0.1:" + TestSockets.freePort()).peer();

        for (int i = 0; i < 100; i++) {
            peer.sendOrDrop(kilobyte());
        }
        settle(router);

        assertThat(budget.used()).isBetween(100L * KILOBYTE - STEP, 150L * KILOBYTE);
    }

    @Test
    void theMessagesOfAPeerThatIsConnectedToAreCountedInTheBudgetOfItsEndpoint(TestSockets sockets) throws IOException {
        ZMTPMemoryBudget own = ZMTPMemoryBudget.of(1 << 20);
        ZMTPSocket router = sockets.open(counted(sockets, ROUTER));
        String address = "tcp://127.0.0.1:" + TestSockets.freePort();
        ZMTPEndpoint endpoint = router.connect(address, codec -> codec.memoryBudget(own));
        for (int i = 0; i < 20; i++) {
            endpoint.peer().sendOrDrop(kilobyte());
        }
        settle(router);
        assertThat(budget.used()).as("before the first connection").isGreaterThan(10L * KILOBYTE);

        ZMTPSocket dealer = sockets.open(DEALER);
        bind(dealer, address);
        endpoint.retryNow();
        get(dealer.whenPeers(1));
        for (int i = 0; i < 100; i++) {
            dealer.sendOrDrop(kilobyte());
        }
        await("it arrives", () -> router.stats().received() == 100);
        settle(router);

        assertThat(own.used()).isBetween(100L * KILOBYTE - STEP, 150L * KILOBYTE);
        assertThat(budget.used()).isLessThan(STEP);
    }

    /** The only reference to a small part of a large buffer. */
    private static ZMTPMessage partOf(ByteBuf large) {
        return ZMTPMessage.from(large.readRetainedSlice(2 * KILOBYTE));
    }

    private static void connectSubscribers(TestSockets sockets, ZMTPSocket pub, int subscribers) {
        String endpoint = bind(pub, TCP);
        for (int i = 0; i < subscribers; i++) {
            ZMTPSocket sub = sockets.open(SUB);
            sub.subscribe("");
            connect(sub, endpoint);
        }
        get(pub.whenPeers(subscribers));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 20})
    void whatWaitsForSubscribersDoesNotKeepALargeBufferOfWhichItIsAPart(int subscribers, TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket pub = sockets.open(sockets.builder(PUB).pipelineInitializer(gate));
        connectSubscribers(sockets, pub, subscribers);
        gate.close();
        pub.sendOrDrop(WriteGate.big("fills the transport"));
        settle(pub);
        ByteBuf large = Unpooled.buffer(64 << 10).writeZero(64 << 10);

        pub.sendOrDrop(partOf(large));

        await("it waits", () -> pub.stats().queued() == subscribers);
        settle(pub);
        assertThat(large.refCnt()).isEqualTo(1);
        large.release();
    }

    /** Others had a share of it when it was queued, and have got theirs since. */
    @Test
    void aSubscriberThatDoesNotReadCountsForAllThatOnlyItKeeps(TestSockets sockets) {
        int subscribers = 5;
        WriteGate gate = new WriteGate();
        WriteGate gateOfOthers = new WriteGate();
        AtomicInteger connections = new AtomicInteger();
        ZMTPSocket pub = sockets.open(counted(sockets, PUB).pipelineInitializer((endpoint, pipeline) -> {
            WriteGate its = connections.incrementAndGet() == subscribers ? gate : gateOfOthers;
            its.accept(endpoint, pipeline);
        }));
        connectSubscribers(sockets, pub, subscribers);
        gate.close();
        gateOfOthers.close();
        pub.sendOrDrop(WriteGate.big("fills the transport"));

        for (int i = 0; i < 100; i++) {
            pub.sendOrDrop(kilobyte());
        }
        await("all wait for all", () -> pub.stats().queued() == 100 * subscribers);
        gateOfOthers.open();
        await("the others have got them", () -> pub.stats().queued() == 100);

        await("it is measured again", () -> budget.used() > 170 * KILOBYTE);
        gate.open();
        await("all have got them", () -> pub.stats().queued() == 0);
        settle(pub);
        assertThat(budget.used()).isLessThan(2 * subscribers * STEP);
    }

    @Test
    void whatWaitsForAnyPeerDoesNotKeepALargeBufferOfWhichItIsAPart(TestSockets sockets) throws IOException {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("tcp://127.0.0.1:" + TestSockets.freePort());
        ByteBuf large = Unpooled.buffer(64 << 10).writeZero(64 << 10);

        push.sendOrDrop(partOf(large));
        settle(push);

        assertThat(push.stats().queued()).isEqualTo(1);
        assertThat(large.refCnt()).isEqualTo(1);
        large.release();
    }

    @Test
    void theObjectsOfManyFramesAreCounted(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(counted(sockets, PULL));
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, TCP));

        push.sendOrDrop(ZMTPMessage.from(Collections.nCopies(1_000, Unpooled.EMPTY_BUFFER)));
        await("it arrives", () -> pull.stats().received() == 1);
        settle(pull);

        assertThat(budget.used()).isBetween(80_000L, 160_000L);
    }

    @Test
    void whatWaitsToBeSentIsCountedAndAPeerThatDoesNotReadHasAThirdOfTheBudget(TestSockets sockets) {
        ZMTPSocket router = sockets.open(counted(sockets, ROUTER));
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).receiveQueueLimit(1, 1 << 20));
        connect(dealer, bind(router, TCP));
        ZMTPPeer peer = TestSockets.peer(router);

        for (int i = 0; i < 900; i++) {
            peer.sendOrDrop(message("k".repeat(32 * KILOBYTE)));
        }
        settle(router);

        assertThat(peer.stats().dropped()).isPositive();
        assertThat(peer.stats().queuedBytes()).isBetween(100_000L, 600_000L);
        assertThat(budget.used()).isGreaterThan(peer.stats().queuedBytes()).isLessThan(budget.limit());
        assertThat(budget.endedConnections()).isZero();
        assertThat(peer.isWritable()).isFalse();
    }

    /** A subscriber whose publishers do not read from the moment when they are up. */
    private ZMTPSocket unread(TestSockets sockets, WriteGate gate) {
        ZMTPSocket xsub = sockets.open(counted(sockets, XSUB).pipelineInitializer(gate));
        xsub.onEvent(Runnable::run, event -> {
            if (event instanceof PeerUp) {
                gate.close();
            }
        });
        return xsub;
    }

    private static void subscribe(ZMTPSocket xsub, int topics, String prefix) {
        for (int i = 0; i < topics; i++) {
            xsub.subscribe(prefix + i);
        }
    }

    @Test
    void theTopicsThatANewPublisherIsNotToldYetTakeNoMemory(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket xsub = unread(sockets, gate);
        subscribe(xsub, 20_000, "topic");
        ZMTPSocket pub = sockets.open(PUB);
        AtomicInteger told = new AtomicInteger();
        pub.onEverySubscription((peer, topic) -> told.incrementAndGet());

        pub.connect(bind(xsub, TCP));
        TestSockets.peer(xsub);
        settle(xsub);
        assertThat(budget.used()).isLessThan(200_000); // what a channel takes until it is not writable

        gate.open();
        await("all topics are read", () -> told.get() == 20_000);
        assertThat(budget.endedConnections()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void topicsThatWaitForAPublisherAreCountedUntilItReadsThemOrLeaves(boolean reads, TestSockets sockets) {
        int topics = 2_000;
        WriteGate gate = new WriteGate();
        ZMTPSocket xsub = unread(sockets, gate);
        ZMTPSocket pub = sockets.open(PUB);
        AtomicInteger told = new AtomicInteger();
        pub.onEverySubscription((peer, topic) -> told.incrementAndGet());

        pub.connect(bind(xsub, TCP));
        TestSockets.peer(xsub);
        subscribe(xsub, topics, "t".repeat(100));
        settle(xsub);
        assertThat(budget.used()).isBetween(300_000L, 800_000L);

        if (reads) {
            gate.open();
            await("all topics are read", () -> told.get() == topics);
        } else {
            pub.close();
            await("it has left", () -> xsub.peers().isEmpty());
        }
        settle(xsub);
        assertThat(budget.used()).isLessThan(2 * STEP);
        assertThat(budget.endedConnections()).isZero();
    }

    @Test
    void aPublisherThatDoesNotReadIsEndedIfTheTopicsForItExceedTheBudget(TestSockets sockets) {
        ZMTPSocket xsub = unread(sockets, new WriteGate());
        TestSockets.Events events = events(xsub);
        ZMTPSocket pub = sockets.open(PUB);

        pub.connect(bind(xsub, TCP));
        TestSockets.peer(xsub);
        Runnable inOneTask = () -> subscribe(xsub, 20_000, "topic"); // before the publisher can connect again
        get(CompletableFuture.runAsync(
                inOneTask, ClockedSockets.core(xsub).context().eventLoop()));

        assertThat(events.next(PeerDown.class).cause())
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        cause -> assertThat(cause.code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET));
        settle(xsub);
        assertThat(budget.endedConnections()).isOne();
        assertThat(budget.used()).isLessThan(2 * STEP);
    }

    /** Its peer waits instead: a third of the budget for one, and a part for each that comes. */
    @Test
    void aPeerIsNotReadFromWhenItHasAThirdOfTheBudget(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(counted(sockets, PULL));
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(10_000, 1 << 30));
        connect(push, bind(pull, TCP));

        for (int i = 0; i < 10_000; i++) {
            push.sendOrDrop(message("k".repeat(KILOBYTE), "" + i));
        }
        await("much arrives", () -> pull.stats().received() > 100);
        settle(pull);
        settle(pull);

        assertThat(budget.used()).isBetween(250_000L, 600_000L);
        for (int i = 0; i < 10_000; i++) {
            assertThat(receive(pull).get(1)).isEqualTo("" + i);
        }
        assertThat(budget.endedConnections()).isZero();
    }

    @Test
    void messagesOfPeersThatAreGoneCountAndTheFirstToGoAreDropped(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(counted(sockets, PULL));
        TestSockets.Events events = events(pull);
        String endpoint = bind(pull, TCP);

        for (int i = 1; i <= PEERS; i++) {
            int peers = i;
            try (ZMTPSocket push = sockets.open(PUSH)) {
                connect(push, endpoint);
                for (int k = 0; k < 40; k++) {
                    push.sendOrDrop(kilobyte());
                }
                await("it was written", () -> push.stats().written() == 40);
            }
            await(
                    "it arrives",
                    () -> pull.stats().connects() == peers && pull.peers().isEmpty());
        }

        assertThat(budget.used()).isLessThan(budget.limit());
        assertThat(events.next(Dropped.class).reason()).isEqualTo(DropReason.MEMORY_BUDGET);
        assertThat(pull.stats().discarded()).isBetween(PEERS * 40L - 1_000, PEERS * 40L - 500);
        long left = pull.stats().received() - pull.stats().discarded();
        for (int i = 0; i < left; i++) {
            receive(pull);
        }
        assertThat(budget.used()).isZero();
    }

    /** A stranger can send one byte, leave, and come again, and nobody takes what it has sent. */
    @Test
    void aPeerThatIsGoneCountsUntilItsLastMessageIsTaken(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(counted(sockets, PULL));
        String endpoint = bind(pull, TCP);

        for (int i = 1; i <= PEERS; i++) {
            int peers = i;
            try (ZMTPSocket push = sockets.open(PUSH)) {
                connect(push, endpoint);
                get(push.sendAsync(message("m")));
            }
            await(
                    "it has left",
                    () -> pull.stats().received() == peers && pull.peers().isEmpty());
        }

        assertThat(budget.used()).isGreaterThan(PEERS * STEP);
        for (int i = 0; i < PEERS; i++) {
            receive(pull);
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void aQuestionOfAPeerThatIsGoneIsDropped(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        TestSockets.Events events = events(rep);
        String endpoint = bind(rep, TCP);
        try (ZMTPSocket impatient = sockets.open(REQ)) {
            connect(impatient, endpoint);
            impatient.sendOrDrop(message("gone"));
            await("it arrives", () -> rep.stats().received() == 1);
        }
        Dropped dropped = events.next(Dropped.class);
        assertThat(dropped.reason()).isEqualTo(DropReason.REQUESTER_DOWN);
        assertThat(dropped.messages()).isOne();
        assertThat(rep.stats().discarded()).isOne();

        ZMTPSocket patient = sockets.open(REQ);
        connect(patient, endpoint);
        patient.sendOrDrop(message("there"));
        assertThat(receive(rep)).containsExactly("there");
    }

    @Test
    void requestsThatAHandlerHasAreCountedUntilTheyAreAnswered(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(counted(sockets, REP));
        Queue<ZMTPRequest> asked = new ConcurrentLinkedQueue<>();
        rep.serve(asked::add);
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, TCP));

        for (int i = 0; i < 20; i++) {
            dealer.sendOrDrop(message("", "k".repeat(KILOBYTE)));
        }
        await("they are asked", () -> asked.size() == 20);
        settle(rep);
        assertThat(budget.used()).isBetween(20L * KILOBYTE - STEP, 40L * KILOBYTE);

        asked.forEach(ZMTPRequest::drop);
        settle(rep);
        assertThat(budget.used()).isLessThan(STEP);
    }

    /** Nobody can be ended to free the memory of what a handler has. */
    @Test
    void aHandlerGetsNoMoreRequestsWhileThoseThatItHasTakeMostOfTheBudget(TestSockets sockets) {
        int peers = 22;
        ZMTPSocket rep = sockets.open(counted(sockets, REP));
        Queue<ZMTPRequest> asked = new ConcurrentLinkedQueue<>();
        rep.serve(asked::add);
        String endpoint = bind(rep, TCP);
        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        for (int i = 0; i < peers; i++) {
            ZMTPSocket dealer = sockets.open(DEALER);
            connect(dealer, endpoint);
            answers.add(dealer.requestAsync(message("k".repeat(40 * KILOBYTE)), TestSockets.PATIENCE));
        }
        await("all are there", () -> rep.stats().received() == peers);
        settle(rep);

        assertThat(asked.size()).isBetween(15, 20);
        assertThat(budget.endedConnections()).isZero();
        for (int i = 0; i < peers; i++) {
            await("the next", () -> !asked.isEmpty());
            asked.remove().reply(message("answer"));
        }
        answers.forEach(answer -> get(answer).release());
        assertThat(budget.endedConnections()).isZero();
    }

    @Test
    void aHandlerGoesOnWhenOthersHaveFreedMemory(TestSockets sockets) throws IOException {
        ZMTPSocket rep = sockets.open(counted(sockets, REP));
        Queue<ZMTPRequest> asked = new ConcurrentLinkedQueue<>();
        rep.serve(asked::add);
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, TCP));
        for (int i = 0; i < 5; i++) {
            dealer.sendOrDrop(message("", "k".repeat(40 * KILOBYTE)));
        }
        await("the handler has some", () -> asked.size() == 5);
        ZMTPSocket other = shortOfMemory(sockets);

        dealer.sendOrDrop(message("", "k"));
        await("it has come", () -> rep.stats().received() == 6);
        settle(rep);
        assertThat(asked).hasSize(5);
        get(other.closeAsync(Duration.ZERO));

        await("the handler goes on", () -> asked.size() == 6);
        asked.forEach(ZMTPRequest::drop);
    }

    /** Returns a socket that has taken most of the budget. */
    private ZMTPSocket shortOfMemory(TestSockets sockets) throws IOException {
        ZMTPSocket socket = sockets.open(counted(sockets, ROUTER));
        for (int i = 0; i < 5; i++) { // each takes a third of what is free, or more
            ZMTPPeer away =
                    socket.connect("tcp://127.0.0.1:" + TestSockets.freePort()).peer();
            for (int message = 0; message < 600; message++) {
                away.sendOrDrop(kilobyte());
            }
            settle(socket);
        }
        assertThat(budget.limit() - budget.used()).as("free").isLessThan(budget.limit() / 6);
        return socket;
    }

    @Test
    void aPeerWithManyRequestsIsReadAgainWhenOthersHaveFreedMemory(TestSockets sockets) throws IOException {
        ZMTPSocket other = shortOfMemory(sockets);
        ZMTPSocket rep = sockets.open(counted(sockets, REP));
        Queue<ZMTPRequest> asked = new ConcurrentLinkedQueue<>();
        rep.serve(asked::add);
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, TCP));

        for (int i = 0; i < 5; i++) {
            dealer.sendOrDrop(message("", "k".repeat(40 * KILOBYTE)));
        }
        await("the handler has some", () -> asked.size() == 2);
        settle(rep);
        assertThat(asked).hasSize(2);
        get(other.closeAsync(Duration.ZERO));

        await("the handler has all", () -> asked.size() == 5);
        asked.forEach(ZMTPRequest::drop);
    }

    /** One read may bring thousands of questions. */
    @Test
    void aPeerThatDoesNotReadItsAnswersGetsNoMoreOfThem(TestSockets sockets) {
        int questions = 200;
        ZMTPSocket rep = sockets.open(counted(sockets, REP));
        AtomicInteger asked = new AtomicInteger();
        rep.serve(request -> {
            asked.incrementAndGet();
            request.reply(message("k".repeat(100 * KILOBYTE)));
        });
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).receiveQueueLimit(1, 1 << 20));
        connect(dealer, bind(rep, TCP));

        for (int i = 0; i < questions; i++) {
            dealer.sendOrDrop(message("", "q"));
        }
        await("some are answered", () -> asked.get() > 1);
        settle(rep);

        assertThat(budget.used()).isLessThan(budget.limit());
        for (int i = 0; i < questions; i++) {
            receive(dealer);
        }
        assertThat(asked).hasValue(questions);
        assertThat(budget.endedConnections()).isZero();
    }

    @Test
    void aPeerForWhichMemoryIsShortIsSlow(TestSockets sockets) {
        ZMTPSocket router = sockets.open(counted(sockets, ROUTER));
        TestSockets.Events events = events(router);
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).receiveQueueLimit(1, 1 << 20));
        connect(dealer, bind(router, TCP));
        ZMTPPeer peer = TestSockets.peer(router);

        for (int i = 0; i < 400; i++) { // fewer than half of what may wait
            peer.sendOrDrop(message("k".repeat(32 * KILOBYTE)));
        }

        assertThat(events.next(SlowPeer.class).bytes()).isLessThan(600_000);
    }

    /** A publisher with a subscriber that does not read, for which 150 KB wait. */
    private ZMTPSocket publisherOfSlow(TestSockets sockets, OverflowPolicy policy, WriteGate gate, ZMTPSocket sub) {
        ZMTPSocket pub = sockets.open(counted(sockets, PUB)
                .overflowPolicy(policy)
                .slowPeerTimeout(Duration.ofMillis(100))
                .pipelineInitializer(gate));
        sub.subscribe("");
        connect(sub, bind(pub, TCP));
        get(pub.whenPeers(1));
        gate.close();
        pub.sendOrDrop(WriteGate.big("fills the transport"));
        for (int i = 0; i < 150; i++) {
            pub.sendOrDrop(kilobyte());
        }
        await("they wait", () -> pub.stats().queued() == 150);
        return pub;
    }

    /** Others take so much memory that 150 KB are more than half of the rest. */
    private void takeMemory(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(counted(sockets, PULL));
        String endpoint = bind(pull, TCP);
        for (int i = 0; i < 6; i++) {
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, endpoint);
            for (int k = 0; k < 900; k++) {
                push.sendOrDrop(kilobyte());
            }
        }
        await("others have the memory", () -> budget.used() > 800 * KILOBYTE);
    }

    /** Nothing more is queued for it. */
    @Test
    void aPeerForWhichOthersLeaveNoMemoryIsSlowAndIsDisconnected(TestSockets sockets) {
        ZMTPSocket pub = publisherOfSlow(sockets, OverflowPolicy.DISCONNECT, new WriteGate(), sockets.open(SUB));
        TestSockets.Events events = events(pub);
        takeMemory(sockets);

        pub.sendOrDrop(kilobyte());

        events.next(SlowPeer.class);
        events.next(PeerDown.class);
    }

    /** Such a message does not reach the event loop. */
    @Test
    void aPeerForWhichOthersLeaveNoMemoryIsSlowForOtherThreads(TestSockets sockets) {
        ZMTPSocket pub = publisherOfSlow(sockets, OverflowPolicy.DISCONNECT, new WriteGate(), sockets.open(SUB));
        TestSockets.Events events = events(pub);
        takeMemory(sockets);

        ZMTPMessage message = kilobyte();
        assertThat(TestSockets.peer(pub).trySend(message)).isFalse();
        message.release();

        events.next(SlowPeer.class);
        events.next(PeerDown.class);
    }

    @Test
    void whatAListenerSendsWhenAPeerBecomesSlowComesAfterTheMessageThatMadeItSlow(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket sub = sockets.open(SUB);
        ZMTPSocket pub = publisherOfSlow(sockets, OverflowPolicy.DROP_OLD, gate, sub);
        CompletableFuture<Void> slow = new CompletableFuture<>();
        pub.onEvent(Runnable::run, event -> {
            if (event instanceof SlowPeer && !slow.isDone()) {
                pub.sendOrDrop(message("of the listener"));
                slow.complete(null);
            }
        });
        takeMemory(sockets);

        pub.sendOrDrop(message("last"));

        get(slow);
        settle(pub);
        gate.open();
        List<String> texts = new ArrayList<>();
        while (!texts.contains("of the listener")) {
            texts.add(receive(sub).get(0));
        }
        assertThat(texts).endsWith("last", "of the listener");
    }
}
