package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When a sender should go on, and who is told that it should. */
class WritableSocketTest {

    private final TestSockets sockets = new TestSockets();

    @AfterEach
    void close() {
        sockets.close();
    }

    @Test
    void itIsWritableUntilItsLimitIsReachedAndAgainWhenLessThanAQuarterOfItWaits() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(8, 1 << 20));
        push.connect("inproc://marks");
        for (int i = 1; i <= 8; i++) {
            assertThat(push.isWritable()).as("before message %d", i).isTrue();
            assertThat(push.trySend(message("" + i))).isTrue();
        }
        assertThat(push.isWritable()).isFalse();
        Credit credit = ClockedSockets.core(push).senders().credit();

        credit.give(6, 6);
        assertThat(push.isWritable()).as("two of eight wait").isFalse();
        credit.give(1, 1);
        assertThat(push.isWritable()).as("one waits").isTrue();
        credit.give(-7, -7);
    }

    @Test
    void theBytesThatWaitCountAsTheMessagesDo() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(1_000, 2));
        push.connect("inproc://nobody");

        assertThat(push.trySend(message("1"))).isTrue();
        assertThat(push.isWritable()).isTrue();
        assertThat(push.trySend(message("2"))).isTrue();
        assertThat(push.isWritable()).isFalse();
    }

    /** Without a listener, too. */
    @Test
    void itTakesMessagesUpToItsLimitOnceMoreWhenAllHaveLeft() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(4, 1 << 20));
        push.connect("inproc://once-more");
        while (push.isWritable()) {
            push.sendOrDrop(message("m"));
        }
        ZMTPSocket pull = sockets.open(PULL);
        pull.bind("inproc://once-more");
        for (int i = 0; i < 4; i++) {
            receive(pull);
        }
        await("all have left", () -> push.stats().queued() == 0);
        get(pull.closeAsync(Duration.ZERO));
        await("it is alone", () -> push.peers().isEmpty());

        for (int i = 1; i <= 4; i++) {
            assertThat(push.isWritable()).as("before message %d", i).isTrue();
            assertThat(push.trySend(message("" + i))).isTrue();
        }
        assertThat(push.isWritable()).isFalse();
    }

    /** Such a part of a large buffer is copied when it waits, which fails. */
    @Test
    void aFrameThatItsSenderHasReleasedTakesNoRoomForGood() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(4, 1 << 20));
        push.connect("inproc://parts");
        for (int i = 0; i < 4; i++) {
            ByteBuf large = ByteBufAllocator.DEFAULT.buffer(8 << 10).writeZero(100);
            ZMTPMessage message = ZMTPMessage.from(large);
            large.release();
            push.sendOrDrop(message);
            TestSockets.settle(push);
        }
        ZMTPSocket pull = sockets.open(PULL);
        pull.bind("inproc://parts");
        await("none waits", () -> push.stats().queued() == 0);
        TestSockets.settle(push);

        assertThat(ClockedSockets.core(push).senders().credit().isOpen()).isTrue();
    }

    @Test
    void anActionIsCalledAtOnceIfTheSocketIsWritable() {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("inproc://nobody");
        CompletableFuture<Boolean> onLoop = new CompletableFuture<>();

        push.onWritable(() -> onLoop.complete(push.eventLoop().inEventLoop()));

        assertThat(get(onLoop)).isTrue();
    }

    @Test
    void anActionIsCalledWhenTheFirstPeerIsThere() {
        ZMTPSocket push = sockets.open(PUSH);
        String endpoint = bind(push, "inproc://first");
        AtomicInteger calls = new AtomicInteger();
        push.onWritable(calls::incrementAndGet);
        TestSockets.settle(push); // it was registered
        assertThat(calls).hasValue(0);

        connect(sockets.open(PULL), endpoint);

        await("a call", () -> calls.get() >= 1); // also at the end of the turn in which it came
    }

    @Test
    void anActionIsCalledWhenSomebodyHasSeenThatTheSocketWasNotWritable() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(1, 1 << 20));
        push.connect("inproc://later");
        AtomicInteger calls = new AtomicInteger();
        push.onWritable(calls::incrementAndGet);
        await("the first call", () -> calls.get() == 1);
        assertThat(push.trySend(message("1"))).isTrue();
        assertThat(push.isWritable()).isFalse();

        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, "inproc://later");

        assertThat(receive(pull)).containsExactly("1");
        await("a call", () -> calls.get() == 2);
    }

    @Test
    void anActionIsCalledWhenASendWithAResultWasRefused() {
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).sendQueueLimit(1, 1 << 20).maxWaitingSends(0));
        push.connect("inproc://later");
        AtomicInteger calls = new AtomicInteger();
        push.onWritable(calls::incrementAndGet);
        await("the first call", () -> calls.get() == 1);
        push.sendOrDrop(message("1"));
        assertThat(reason(push.sendAsync(message("2")))).isEqualTo(FULL);

        bind(sockets.open(PULL), "inproc://later");

        await("a call", () -> calls.get() == 2);
    }

    @Test
    void anActionIsCalledWhenARequestWasRefused() {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendQueueLimit(1, 1));
        dealer.connect("inproc://later");
        AtomicInteger calls = new AtomicInteger();
        dealer.onWritable(calls::incrementAndGet);
        await("the first call", () -> calls.get() == 1);
        dealer.sendOrDrop(message("1"));
        assertThat(reason(dealer.requestAsync(message("2"), PATIENCE))).isEqualTo(FULL);

        bind(sockets.open(ROUTER), "inproc://later");

        await("a call", () -> calls.get() == 2);
    }

    /** Sends as many as may be on their way to the event loop if one may wait for each peer, less one. */
    private static boolean sendMore(ZMTPSocket pub) {
        for (int i = 1; i < 64; i++) {
            pub.sendOrDrop(message("1"));
        }
        return true;
    }

    private static void sendInVain(ZMTPPeer peer, boolean withResult) {
        ZMTPMessage message = message("2");
        if (withResult) {
            assertThat(reason(peer.sendAsync(message))).isEqualTo(FULL);
        } else {
            assertThat(peer.trySend(message)).isFalse();
            message.release();
        }
    }

    @ParameterizedTest(name = "with a result: {0}")
    @ValueSource(booleans = {true, false})
    @Tag("netty-4.2-only")
    void anActionIsCalledWhenAMessageToOnePeerWasRefused(boolean withResult) {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket pub = loop.open(sockets.builder(ZMTPSocketType.PUB).sendQueueLimit(1, 1 << 20));
            pub.bind("inproc://peer");
            loop.open(sockets.builder(ZMTPSocketType.SUB)).connect("inproc://peer");
            loop.run();
            ZMTPPeer peer = TestSockets.peer(pub);
            AtomicInteger calls = new AtomicInteger();
            pub.onWritable(calls::incrementAndGet);
            assertThat(calls).hasValue(1);
            assertThat(get(CompletableFuture.supplyAsync(() -> pub.trySend(message("1")) && sendMore(pub))))
                    .isTrue();
            get(CompletableFuture.runAsync(() -> sendInVain(peer, withResult)));

            loop.run();

            assertThat(calls).hasValue(2);
        }
    }

    /** Whatever becomes of the messages: a publisher without subscribers drops them, a connecting socket keeps them. */
    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PULL", "GATHER", "SUB", "DISH"},
            mode = EnumSource.Mode.EXCLUDE)
    void aLoopThatSendsWhileTheSocketIsWritableEnds(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(sockets.builder(type).sendQueueLimit(1_000_000, 1 << 30));
        socket.connect("inproc://nobody");

        int sent = get(CompletableFuture.supplyAsync(() -> fill(socket), socket.eventLoop()));

        assertThat(sent).isLessThanOrEqualTo(1_024);
    }

    private static int fill(ZMTPSocket socket) {
        int sent = 0;
        while (socket.isWritable() && sent < 10_000) {
            boolean named = TypeRules.namesPeers(socket.socketType()) || socket.socketType() == ZMTPSocketType.RADIO;
            socket.sendOrDrop(named ? message("a", "b") : message("m"));
            sent++;
        }
        return sent;
    }

    @Test
    void aLoopThatAsksWhileTheSocketIsWritableEnds() {
        ZMTPSocket dealer = sockets.open(sockets.builder(ZMTPSocketType.DEALER).sendQueueLimit(1_000_000, 1 << 30));
        dealer.connect("inproc://nobody");

        int asked = get(CompletableFuture.supplyAsync(
                () -> {
                    int requests = 0;
                    while (dealer.isWritable() && requests < 5_000) {
                        dealer.requestAsync(message("?"), TestSockets.PATIENCE);
                        requests++;
                    }
                    return requests;
                },
                dealer.eventLoop()));

        assertThat(asked).isEqualTo(1_024);
    }

    /** As the peer does not answer, the maximum is soon outstanding. */
    @Test
    void aLoopThatAsksEndsWhenTheMaximumIsOutstandingAndGoesOnWhenARequestHasEnded() {
        int max = 100;
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).maxOutstandingRequests(max));
        ZMTPSocket router = sockets.open(ROUTER);
        connect(dealer, bind(router, "inproc://silent"));
        AtomicInteger asked = new AtomicInteger();

        dealer.onWritable(() -> {
            while (asked.get() < 5_000 && dealer.isWritable()) {
                asked.incrementAndGet();
                dealer.requestAsync(message("?"), PATIENCE).thenAccept(ZMTPMessage::release);
            }
        });

        await("the maximum is outstanding", () -> router.stats().received() == max);
        TestSockets.settle(dealer);
        int before = asked.get();
        TestSockets.settle(dealer);
        assertThat(asked).hasValue(before).hasValueLessThanOrEqualTo(max + 2);
        ZMTPMessage question = get(router.receiveAsync());
        router.sendOrDrop(question);
        await("it asks again", () -> router.stats().received() == max + 1);
    }

    @Test
    void anActionIsCalledWhenARequestOfAnotherThreadCouldBeMadeAgain() {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).maxOutstandingRequests(1));
        ZMTPSocket router = sockets.open(ROUTER);
        connect(dealer, bind(router, "inproc://one"));
        AtomicInteger called = new AtomicInteger();
        dealer.onWritable(called::incrementAndGet);
        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(message("?"), PATIENCE);
        ZMTPMessage question = get(router.receiveAsync());
        TestSockets.settle(dealer);
        int before = called.get();

        assertThat(reason(dealer.requestAsync(message("?"), PATIENCE))).isEqualTo(FULL);
        TestSockets.settle(dealer);
        assertThat(called).hasValue(before);

        router.sendOrDrop(question);
        get(first).release();
        await("it is called", () -> called.get() > before);
    }

    /** Otherwise it would be called again and again, as the socket has room for other peers. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anActionThatSendsToAFullPeerIsNotCalledUntilSomethingHasLeft(boolean onAnotherThread) {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = routerWithAFullPeer(gate);
        Executor sender = onAnotherThread ? ForkJoinPool.commonPool() : Runnable::run;
        AtomicInteger called = new AtomicInteger();
        router.onWritable(() -> {
            if (called.incrementAndGet() < 1_000) {
                sender.execute(() -> router.sendAsync(message("A", "again")));
            }
        });
        for (int i = 0; i < 3; i++) { // from the second on, a message was refused before
            assertThat(reason(router.sendAsync(message("A", "in vain")))).isEqualTo(FULL);
        }
        for (int i = 0; i < 50; i++) {
            TestSockets.settle(router);
        }

        assertThat(called).hasValueLessThan(10);
        int before = called.get();
        gate.open();
        await("it is called", () -> called.get() > before);
        called.set(1_000);
    }

    /** Its peer is "A". */
    private ZMTPSocket routerWithAFullPeer(WriteGate gate) {
        ZMTPSocket router =
                sockets.open(sockets.builder(ROUTER).sendQueueLimit(1, 1 << 20).pipelineInitializer(gate));
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("A")));
        connect(dealer, bind(router, "tcp://127.0.0.1:*"));
        await("it is there", () -> router.peers().stream().anyMatch(TestSockets::isUp));
        gate.close();
        router.sendOrDrop(WriteGate.big("first").prepend(Unpooled.copiedBuffer("A", UTF_8)));
        TestSockets.settle(router);
        router.sendOrDrop(message("A", "second"));
        TestSockets.settle(router);
        return router;
    }

    @Test
    void anActionIsCalledAfterAMessageOfAnotherThreadFoundItsPeerFull() {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = routerWithAFullPeer(gate);
        AtomicInteger called = new AtomicInteger();
        router.onWritable(called::incrementAndGet);
        TestSockets.settle(router);
        int before = called.get();

        assertThat(reason(router.sendAsync(message("A", "third")))).isEqualTo(FULL);
        TestSockets.settle(router);
        assertThat(called).hasValue(before);
        gate.open();

        await("it is called", () -> called.get() > before);
    }

    /** How a socket is used beside threads that wait in send. */
    private enum Beside {
        /** Sends while the socket is writable. */
        ACTION,
        /** The same, and once more when it is not, so that a send waits. */
        WAITING_ACTION,
        PROXY
    }

    /** Threads continue as soon as a quarter is free, and might fill it before there is more. */
    @ParameterizedTest
    @CsvSource({"1000, 1, ACTION", "8, 10, ACTION", "8, 10, WAITING_ACTION", "8, 10, PROXY"})
    void othersSendAlthoughThreadsSendWhateverFits(int limit, int senders, Beside beside) throws InterruptedException {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(1, 1 << 20));
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(limit, 1 << 20));
        connect(push, bind(pull, "inproc://shared"));
        AtomicBoolean ended = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < senders; i++) {
            threads.add(new Thread(() -> sendUntil(ended, push)));
        }
        threads.forEach(Thread::start);
        await("they have to wait", () -> push.stats().queued() > limit * 3 / 4 + senders - 1);
        begin(beside, push, ended);

        int ofThreads = 0;
        List<Integer> others = new ArrayList<>();
        for (int i = 0; i < 8_000; i++) {
            List<String> frames = receive(pull);
            if (frames.size() == 1) {
                ofThreads++;
            } else {
                others.add(Integer.parseInt(frames.get(1)));
            }
        }

        ended.set(true);
        pull.onMessage((from, message) -> message.release());
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(ofThreads).isGreaterThan(100);
        assertThat(others).hasSizeGreaterThan(100).isSorted();
    }

    private static void sendUntil(AtomicBoolean ended, ZMTPSocket push) {
        try {
            while (!ended.get()) {
                push.send(message("thread"), PATIENCE);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Sends messages with rising numbers. */
    private void begin(Beside beside, ZMTPSocket push, AtomicBoolean ended) {
        AtomicInteger number = new AtomicInteger();
        ZMTPSocket source = beside == Beside.PROXY ? sockets.open(PUSH) : push;
        if (beside == Beside.PROXY) {
            ZMTPSocket front = sockets.open(PULL);
            connect(source, bind(front, "inproc://front"));
            ZMTPProxy.start(front, push);
        }
        source.onWritable(() -> {
            while (source.isWritable() && !ended.get()) {
                source.sendOrDrop(message("other", "" + number.incrementAndGet()));
            }
            if (beside == Beside.WAITING_ACTION && !ended.get()) {
                source.sendAsync(message("other", "" + number.incrementAndGet()));
            }
        });
    }

    @Test
    void theLoopGoesOnInTheNextTurn() {
        ZMTPSocket pub = sockets.open(ZMTPSocketType.PUB);
        AtomicInteger sent = new AtomicInteger();

        pub.onWritable(() -> {
            while (sent.get() < 5_000 && pub.isWritable()) {
                pub.sendOrDrop(message("m"));
                sent.incrementAndGet();
            }
        });

        await("all were sent", () -> sent.get() == 5_000);
    }

    @Test
    void aReqIsWritableAgainWhenTheAnswerWasReceived() {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, "inproc://turns"));
        rep.serve(request -> request.reply(request.message()));
        assertThat(req.isWritable()).isTrue();
        req.sendOrDrop(message("?"));
        AtomicInteger calls = new AtomicInteger();
        req.onWritable(calls::incrementAndGet);
        TestSockets.settle(req); // it was registered, or it would be called for that, too
        assertThat(req.isWritable()).isFalse();
        assertThat(calls).hasValue(0);

        assertThat(receive(req)).containsExactly("?");

        await("a call", () -> calls.get() == 1);
    }

    @ParameterizedTest
    @EnumSource(names = {"REQ", "DEALER", "PUSH", "PAIR", "CLIENT"})
    void withoutAPeerNothingIsTakenUntilOneComes(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(type);
        AtomicInteger calls = new AtomicInteger();
        for (boolean bound : new boolean[] {false, true}) {
            if (bound) {
                bind(socket, "inproc://without");
            }
            ZMTPMessage message = message("m");

            assertThat(socket.isWritable()).as("bound: %s", bound).isFalse();
            assertThat(socket.trySend(message)).as("bound: %s", bound).isFalse();
            message.release();
        }
        ZMTPSocketType other = switch (type) {
            case REQ -> ZMTPSocketType.REP;
            case PUSH -> ZMTPSocketType.PULL;
            case CLIENT -> ZMTPSocketType.SERVER;
            default -> type;
        };
        ZMTPSocket peer = sockets.open(other);
        ZMTPMessage early = message("early");
        assertThat(socket.trySend(early)).isFalse();
        socket.onWritable(calls::incrementAndGet);
        TestSockets.settle(socket);
        calls.set(0);
        assertThat(socket.trySend(early)).as("the last look").isFalse();

        connect(peer, "inproc://without");

        await("a call", () -> calls.get() > 0);
        assertThat(socket.trySend(early)).isTrue();
        receive(peer);
    }

    @ParameterizedTest
    @EnumSource(names = {"PULL", "GATHER", "SUB", "DISH"})
    void aTypeThatDoesNotSendIsNeverWritable(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(type);
        AtomicInteger calls = new AtomicInteger();
        socket.onWritable(calls::incrementAndGet);
        ZMTPSocket peer = sockets.open(
                switch (type) {
                    case PULL -> PUSH;
                    case GATHER -> ZMTPSocketType.SCATTER;
                    case SUB -> ZMTPSocketType.PUB;
                    default -> ZMTPSocketType.RADIO;
                });
        connect(peer, bind(socket, "inproc://never"));

        assertThat(socket.isWritable()).isFalse();
        assertThat(calls).hasValue(0);
        get(socket.closeAsync(Duration.ZERO));
        assertThat(calls).as("closed").hasValue(1);
    }

    @Test
    void aRepTellsThatItMayAnswer() {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, "inproc://told"));
        AtomicInteger calls = new AtomicInteger();
        rep.onWritable(calls::incrementAndGet);
        assertThat(rep.isWritable()).isFalse();
        req.sendOrDrop(message("?"));
        await("the request", () -> rep.stats().received() == 1);
        TestSockets.settle(rep);
        assertThat(calls).hasValue(0);

        assertThat(receive(rep)).containsExactly("?");

        await("a call", () -> calls.get() == 1);
    }

    @Test
    void anActionIsCalledWhenTheSocketIsClosed() {
        ZMTPSocket push = sockets.open(PUSH);
        List<Boolean> writable = new CopyOnWriteArrayList<>();
        push.onWritable(() -> writable.add(push.isWritable()));

        get(push.closeAsync(Duration.ZERO));

        assertThat(writable).containsExactly(false);
    }

    @Test
    void aRepIsWritableWhileItOwesAnAnswer() {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, "inproc://answers"));
        assertThat(rep.isWritable()).isFalse();
        req.sendOrDrop(message("?"));

        assertThat(receive(rep)).containsExactly("?");

        assertThat(rep.isWritable()).isTrue();
        rep.sendOrDrop(message("!"));
        assertThat(rep.isWritable()).isFalse();
        assertThat(receive(req)).containsExactly("!");
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUB", "XSUB", "ROUTER", "DEALER"})
    void aLoopEndsWhateverBecomesOfItsSends(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(type);

        int sent = get(CompletableFuture.supplyAsync(
                () -> {
                    int attempts = 0;
                    while (socket.isWritable() && attempts < 10_000) {
                        socket.sendAsync(message("a", "b"));
                        attempts++;
                    }
                    return attempts;
                },
                socket.eventLoop()));

        assertThat(sent).isLessThanOrEqualTo(1_024);
    }

    @Test
    void aMessageThatIsRefusedOnTheLoopEndsALoopThatSends() {
        ZMTPSocket router = sockets.open(sockets.builder(ZMTPSocketType.ROUTER).sendQueueLimit(2, 1 << 20));
        ZMTPSocket dealer = sockets.open(sockets.builder(ZMTPSocketType.DEALER)
                .receiveQueueLimit(1, 1)
                .codec(codec -> codec.localIdentity("full")));
        connect(dealer, bind(router, "tcp://127.0.0.1:*"));
        AtomicInteger refused = new AtomicInteger();

        await(
                "it is full",
                () -> get(CompletableFuture.supplyAsync(() -> fillOne(router, refused), router.eventLoop())));

        assertThat(refused).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sendOrDrop", "sendAsync", "trySend"})
    void aLoopThatSendsToAPeerWhileTheSocketIsWritableEnds(String method) {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).sendQueueLimit(2, 1 << 20));
        connect(sockets.open(DEALER), bind(router, "inproc://loop"));
        ZMTPPeer peer = TestSockets.peer(router);

        int sent = get(CompletableFuture.supplyAsync(
                () -> {
                    int attempts = 0;
                    for (; router.isWritable() && attempts < 10_000; attempts++) {
                        ZMTPMessage message = message("m");
                        switch (method) {
                            case "sendOrDrop" -> peer.sendOrDrop(message);
                            case "sendAsync" -> peer.sendAsync(message);
                            default -> {
                                if (!peer.trySend(message)) {
                                    message.release();
                                }
                            }
                        }
                    }
                    return attempts;
                },
                router.eventLoop()));

        assertThat(sent).isLessThanOrEqualTo(1_024);
    }

    @Test
    void aPeerThatHasLeftDoesNotKeepASendingLoopFromTheOthers() {
        ZMTPSocket router = sockets.open(ROUTER);
        String endpoint = bind(router, "inproc://left");
        ZMTPSocket leaving = sockets.open(DEALER);
        connect(leaving, endpoint);
        ZMTPPeer gone = TestSockets.peer(router);
        get(leaving.closeAsync(Duration.ZERO));
        await("it has left", () -> router.peers().isEmpty());
        ZMTPMessage message = message("m");

        assertThat(get(CompletableFuture.supplyAsync(
                        () -> !gone.trySend(message) && router.isWritable(), router.eventLoop())))
                .isTrue();

        message.release();
    }

    @ParameterizedTest(name = "with a result: {0}")
    @ValueSource(booleans = {true, false})
    void aPeerThatIsFullDoesNotKeepASendingLoopFromTheOthers(boolean withResult) {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).sendQueueLimit(2, 1 << 20));
        String endpoint = bind(router, "tcp://127.0.0.1:*");
        ZMTPSocket full = sockets.open(
                sockets.builder(DEALER).receiveQueueLimit(1, 1).codec(codec -> codec.localIdentity("full")));
        connect(full, endpoint);
        ZMTPSocket free = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("free")));
        connect(free, endpoint);
        get(router.whenPeers(2));
        AtomicInteger refused = new AtomicInteger();
        await(
                "it is full",
                () -> get(CompletableFuture.supplyAsync(() -> fillOne(router, refused), router.eventLoop())));
        AtomicInteger calls = new AtomicInteger();
        router.onWritable(calls::incrementAndGet);
        TestSockets.settle(router);
        assertThat(get(CompletableFuture.supplyAsync(
                        () -> router.trySend(message("nobody", "m")) && router.isWritable(), router.eventLoop())))
                .as("after a message that was dropped")
                .isFalse();
        assertThat(calls).hasValue(0);

        assertThat(get(CompletableFuture.supplyAsync(
                        () -> {
                            if (withResult) {
                                router.sendAsync(message("free", "m"));
                            } else {
                                assertThat(router.trySend(message("free", "m"))).isTrue();
                            }
                            return router.isWritable();
                        },
                        router.eventLoop())))
                .isTrue();

        await("a call", () -> calls.get() == 1);
    }

    /** Returns whether a message was refused, after which the loop ends. */
    private static boolean fillOne(ZMTPSocket router, AtomicInteger refused) {
        while (router.isWritable()) {
            ZMTPMessage large =
                    ZMTPMessage.from(Unpooled.copiedBuffer("full", UTF_8), Unpooled.wrappedBuffer(new byte[50_000]));
            if (!router.trySend(large)) {
                large.release();
                refused.incrementAndGet();
            }
        }
        return refused.get() > 0;
    }

    @Test
    void aRaisedLimitRaisesWhatMayWaitBeforeAnyTypeIsNotWritable() {
        ZMTPSocket pub = sockets.open(ZMTPSocketType.PUB);

        pub.resizeSendQueue(10_000, 1 << 30);

        await("the new limit", pub::isWritable);
        TestSockets.settle(pub);
        assertThat(pub.isWritable()).isTrue();
    }

    @Test
    void theRoomIsWholeAgainWhenWhatWaitedHasFailedWithItsConnector() {
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).sendQueueLimit(2, 1 << 20).linger(Duration.ZERO));
        ZMTPEndpoint connector = push.connect("inproc://nobody");
        CompletableFuture<Void> first = push.sendAsync(message("1"));
        push.sendAsync(message("2"));

        get(TestSockets.disconnect(connector));

        assertThat(reason(first)).isEqualTo(PEER_DOWN);
        assertThat(ClockedSockets.core(push).senders().credit()).hasToString("2 messages, " + (1 << 20) + " bytes");
    }

    /** A large message leaves while the queue is emptied, so its sender hears of that in the middle of it. */
    @Test
    void theRoomIsWholeAgainWhateverSendersDoWhenTheirMessagesLeave() throws IOException {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(10, 1 << 30));
        String endpoint = "tcp://127.0.0.1:" + TestSockets.freePort();
        push.connect(endpoint);
        for (int i = 0; i < 3; i++) {
            push.sendAsync(WriteGate.big("large")).thenRun(() -> push.sendAsync(message("more")));
        }
        await("in the queue", () -> push.stats().queued() == 3);
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, endpoint);

        for (int i = 0; i < 6; i++) {
            get(pull.receiveAsync()).release();
        }

        Credit credit = ClockedSockets.core(push).senders().credit();
        await("all of it", () -> credit.exceeds(9, (1 << 30) - 1));
        assertThat(credit).hasToString("10 messages, " + (1 << 30) + " bytes");
    }

    @Test
    void anActionIsCalledWhenQueuedRequestsHaveEnded() {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendQueueLimit(8, 1 << 20));
        dealer.connect("inproc://nobody");
        List<CompletableFuture<ZMTPMessage>> requests = Stream.generate(
                        () -> dealer.requestAsync(message("?"), PATIENCE))
                .limit(8)
                .toList();
        CompletableFuture<Void> waits = dealer.sendAsync(message("3"));
        TestSockets.settle(dealer);
        assertThat(dealer.isWritable()).isFalse();
        AtomicInteger calls = new AtomicInteger();
        dealer.onWritable(calls::incrementAndGet);
        TestSockets.settle(dealer);
        assertThat(calls).hasValue(0);

        requests.forEach(request -> request.cancel(false));

        await("a call", () -> calls.get() > 0);
        assertThat(dealer.stats().queued()).isEqualTo(1);
        assertThat(waits).isNotDone();
    }

    /** Its loop is interrupted after 1,024 messages, which is not its limit. */
    @Test
    void aHandlerFillsAQueueUpToItsLimitInSeveralTasks() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(5_000, 1 << 30));
        AtomicInteger sent = new AtomicInteger();
        push.connect("inproc://nobody");

        push.onWritable(() -> {
            while (push.isWritable()) {
                push.sendOrDrop(message("m"));
                sent.incrementAndGet();
            }
        });

        await("it is full", () -> push.stats().queued() == 5_000);
        assertThat(sent).hasValue(5_000);
    }

    @Test
    void anActionIsCalledWhenTheSocketConnects() {
        ZMTPSocket push = sockets.open(PUSH);
        AtomicInteger calls = new AtomicInteger();
        push.onWritable(calls::incrementAndGet);
        TestSockets.settle(push);
        assertThat(calls).hasValue(0);

        push.connect("inproc://nobody");

        await("a call", () -> calls.get() == 1);
    }
}
