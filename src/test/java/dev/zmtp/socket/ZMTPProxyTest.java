package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.testing.TestSockets;
import io.netty.util.concurrent.BlockingOperationException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two sockets, on one event loop or on two, and what passes between them. */
class ZMTPProxyTest {

    private static final int MANY = 3_000;

    /** Sends so many messages, which are numbered, and waits until the transport or a queue has them. */
    private static void sendNumbers(ZMTPSocket from, int count) {
        for (int i = 0; i < count; i++) {
            ZMTPMessage message = message("number", Integer.toString(i));
            await("room for message " + i, () -> from.trySend(message));
        }
    }

    private static void assertNumbersArrive(ZMTPSocket at, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(receive(at)).containsExactly("number", Integer.toString(i));
        }
    }

    private static ZMTPSocketConfig.Builder dealer(String identity) {
        return ZMTPSocketConfig.builder(
                ZMTPConfig.builder().socketType(DEALER).localIdentity(identity).build());
    }

    /** Binds a side of a proxy, and returns the other socket, which is connected to it. */
    private static ZMTPSocket joining(ZMTPSocket side, String endpoint, ZMTPSocket other) {
        connect(other, bind(side, endpoint));
        return other;
    }

    /** An endpoint in the process needs a name, and TCP takes any port. */
    private static String named(String endpoint, String name) {
        return endpoint.endsWith("/") ? endpoint + name : endpoint;
    }

    private static ZMTPSocket echo(ZMTPSocket service) {
        service.serve(request -> request.reply(request.message()));
        return service;
    }

    @ParameterizedTest
    @CsvSource({"1, tcp://127.0.0.1:*", "2, tcp://127.0.0.1:*", "1, inproc://", "2, inproc://"})
    void requestsAndAnswersPassARouterAndADealer(int loops, String endpoint) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(ROUTER);
            ZMTPSocket backend = sockets.open(DEALER);
            String front = bind(frontend, named(endpoint, "front"));
            String back = bind(backend, named(endpoint, "back"));
            ZMTPProxy.start(frontend, backend);
            connect(echo(sockets.open(REP)), back);
            connect(echo(sockets.open(REP)), back);

            List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
            for (ZMTPSocket client : List.of(sockets.open(REQ), sockets.open(DEALER))) {
                client.connect(front);
                for (int i = 0; i < 200; i++) {
                    answers.add(client.requestAsync(message(client.socketType() + " " + i, "", "end"), PATIENCE));
                }
            }

            for (int i = 0; i < answers.size(); i++) {
                String first = (i < 200 ? "REQ " : "DEALER ") + i % 200;
                assertThat(frames(get(answers.get(i)))).containsExactly(first, "", "end");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aRouterAndADealerPassTheNameOfThePeerAsTheyGotIt(int loops) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(ROUTER);
            ZMTPSocket backend = sockets.open(DEALER);
            ZMTPProxy.start(frontend, backend);
            ZMTPSocket asker = sockets.open(dealer("asker"));
            ZMTPSocket service = joining(backend, "inproc://back", sockets.open(DEALER));
            connect(asker, bind(frontend, "inproc://front"));

            get(asker.sendAsync(message("a", "", "b")));
            assertThat(receive(service)).containsExactly("asker", "a", "", "b");

            get(service.sendAsync(message("asker", "", "c")));
            assertThat(receive(asker)).containsExactly("", "c");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void subscriptionsFlowBackAsSubscriptions(int loops) throws InterruptedException {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(XSUB);
            ZMTPSocket backend = sockets.open(XPUB);
            String back = bind(backend, "tcp://127.0.0.1:*");
            ZMTPSocket early = sockets.open(SUB);
            early.subscribe("early");
            connect(early, back);
            get(backend.whenPeers(1));

            ZMTPProxy.start(frontend, backend);
            BlockingQueue<ZMTPSubscription> seen = new LinkedBlockingQueue<>();
            ZMTPSocket publisher = sockets.open(PUB);
            publisher.onSubscription((peer, subscription) -> seen.add(subscription));
            connect(publisher, bind(frontend, "tcp://127.0.0.1:*"));
            assertThat(next(seen)).isEqualTo("subscribe early");

            ZMTPRegistration late = early.subscribe("late");
            assertThat(next(seen)).isEqualTo("subscribe late");
            late.close();
            assertThat(next(seen)).isEqualTo("cancel late");

            get(publisher.sendAsync(message("late", "nobody's")));
            get(publisher.sendAsync(message("early bird", "worm")));
            assertThat(receive(early)).containsExactly("early bird", "worm");
        }
    }

    private static String next(BlockingQueue<ZMTPSubscription> seen) throws InterruptedException {
        ZMTPSubscription next = seen.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return (next.isSubscribe() ? "subscribe " : "cancel ") + next.topicUTF8();
    }

    @Test
    void theSubscriptionsOfAProxyEndWithIt(TestSockets sockets) throws InterruptedException {
        ZMTPSocket frontend = sockets.open(XSUB);
        ZMTPSocket backend = sockets.open(XPUB);
        ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
        BlockingQueue<ZMTPSubscription> seen = new LinkedBlockingQueue<>();
        ZMTPSocket publisher = sockets.open(PUB);
        publisher.onSubscription((peer, subscription) -> seen.add(subscription));
        publisher.connect(bind(frontend, "inproc://front"));
        ZMTPSocket subscriber = sockets.open(SUB);
        subscriber.subscribe("topic");
        subscriber.connect(bind(backend, "inproc://back"));
        assertThat(next(seen)).isEqualTo("subscribe topic");

        proxy.close();

        assertThat(next(seen)).isEqualTo("cancel topic");
        get(proxy.closeFuture());
    }

    @Test
    void messagesOfASubscriberPassAnXpubAndAnXsub(TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(XSUB);
        ZMTPSocket backend = sockets.open(XPUB);
        ZMTPProxy.start(frontend, backend);
        ZMTPSocket publisher = joining(frontend, "inproc://front", sockets.open(XPUB));
        ZMTPSocket subscriber = joining(backend, "inproc://back", sockets.open(XSUB));

        get(subscriber.sendAsync(message("up", "stream")));

        assertThat(receive(publisher)).containsExactly("up", "stream");
    }

    @ParameterizedTest
    @CsvSource({"1, tcp://127.0.0.1:*", "2, tcp://127.0.0.1:*", "1, inproc://", "2, inproc://"})
    void workPassesInOrderAndIsCounted(int loops, String endpoint) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(PULL);
            ZMTPSocket backend = sockets.open(PUSH);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            ZMTPSocket source = joining(frontend, named(endpoint, "front"), sockets.open(PUSH));
            ZMTPSocket sink = joining(backend, named(endpoint, "back"), sockets.open(PULL));

            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> sendNumbers(source, MANY));
            assertNumbersArrive(sink, MANY);
            get(sent);

            long bytes = 6L * MANY
                    + IntStream.range(0, MANY)
                            .map(i -> Integer.toString(i).length())
                            .sum();
            assertThat(proxy.stats().frontend()).isEqualTo(new ZMTPProxy.SideStats(MANY, bytes, 0, 0, 0));
            assertThat(proxy.stats().backend()).isEqualTo(new ZMTPProxy.SideStats(0, 0, MANY, bytes, 0));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void nothingIsTakenWhileTheOtherSideHasNoRoom(int loops) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(PULL);
            ZMTPSocket backend = sockets.open(PUSH);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            ZMTPSocket source = joining(frontend, "inproc://front", sockets.open(PUSH));
            get(source.sendAsync(message("number", "0")));
            await("one message", () -> proxy.stats().frontend().messagesReceived() == 1);
            get(proxy.resume()); // all that was given to the event loops is done

            CompletableFuture<Void> sent = new CompletableFuture<>();
            for (int i = 1; i <= 500; i++) {
                sent = source.sendAsync(message("number", Integer.toString(i)));
            }
            get(sent);
            get(proxy.resume());
            assertThat(proxy.stats().backend().messagesSent()).isZero();
            assertThat(proxy.stats().frontend().messagesReceived()).isEqualTo(1);

            ZMTPSocket sink = joining(backend, "inproc://back", sockets.open(PULL));
            assertNumbersArrive(sink, 501);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theSenderIsTheOneWhoWaitsForAFullSide(int loops) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(sockets.builder(PULL).receiveQueueLimit(10, 1_000_000));
            ZMTPSocket backend = sockets.open(PUSH);
            ZMTPProxy.start(frontend, backend);
            ZMTPSocket source = joining(
                    frontend,
                    "inproc://front",
                    sockets.open(sockets.builder(PUSH).sendQueueLimit(10, 1_000_000)));
            int taken = 0;
            ZMTPMessage next = message("number", "0");
            while (source.trySend(next) || !settled(source, next)) {
                taken++;
                assertThat(taken).isLessThan(200_000);
                next = message("number", Integer.toString(taken));
            }
            next.release();

            ZMTPSocket sink = joining(backend, "inproc://back", sockets.open(PULL));
            assertNumbersArrive(sink, taken);
        }
    }

    /** Whether a message that was refused is refused again when all event loops have done what they had to. */
    private static boolean settled(ZMTPSocket source, ZMTPMessage refused) {
        for (int i = 0; i < 20; i++) {
            TestSockets.settle(source);
            if (source.trySend(refused)) {
                return false;
            }
        }
        return true;
    }

    /** T74, the part of PAUSE and RESUME. */
    @Tag("T74")
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aPauseStopsAllAndAResumeGoesOnWithoutLoss(int loops) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(PAIR);
            ZMTPSocket backend = sockets.open(PAIR);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            ZMTPSocket left = joining(frontend, "inproc://front", sockets.open(PAIR));
            ZMTPSocket right = joining(backend, "inproc://back", sockets.open(PAIR));
            sendNumbers(left, 1);
            assertNumbersArrive(right, 1);

            get(proxy.pause());
            ZMTPProxy.Stats paused = proxy.stats();
            CompletableFuture<Void> sent = new CompletableFuture<>();
            for (int i = 0; i < 100; i++) {
                sent = left.sendAsync(message("number", Integer.toString(i)));
                right.sendAsync(message("number", Integer.toString(i)));
            }
            get(sent);
            get(proxy.pause());
            assertThat(proxy.stats()).isEqualTo(paused);

            get(proxy.resume());
            assertNumbersArrive(right, 100);
            assertNumbersArrive(left, 100);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatIsNotForwardedReturnsToItsSocket(int loops) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(ROUTER);
            ZMTPSocket backend = sockets.open(DEALER);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            ZMTPSocket source = joining(frontend, "inproc://front", sockets.open(dealer("source")));
            for (int i = 0; i < 100; i++) {
                source.sendAsync(message("number", Integer.toString(i)));
            }
            await("some are taken", () -> proxy.stats().frontend().messagesReceived() > 0);

            proxy.close();
            get(proxy.closeFuture());

            for (int i = 0; i < 100; i++) {
                assertThat(receive(frontend)).containsExactly("source", "number", Integer.toString(i));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aCaptureGetsWhatBothSidesSend(int loops) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(PAIR);
            ZMTPSocket backend = sockets.open(PAIR);
            ZMTPSocket capture = sockets.open(PUSH);
            ZMTPSocket watcher = joining(capture, "tcp://127.0.0.1:*", sockets.open(PULL));
            await("a peer", capture::isWritable);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend, capture);
            ZMTPSocket left = joining(frontend, "tcp://127.0.0.1:*", sockets.open(PAIR));
            ZMTPSocket right = joining(backend, "tcp://127.0.0.1:*", sockets.open(PAIR));

            left.sendAsync(message("there", "x".repeat(5_000)));
            assertThat(receive(right)).containsExactly("there", "x".repeat(5_000));
            right.sendAsync(message("back", ""));
            assertThat(receive(left)).containsExactly("back", "");

            assertThat(receive(watcher)).containsExactly("there", "x".repeat(5_000));
            assertThat(receive(watcher)).containsExactly("back", "");
            assertThat(proxy.stats().captured()).isEqualTo(2);
            assertThat(proxy.stats().captureDropped()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"PUSH, 5", "DEALER, 5", "PAIR, 5", "PUB, 0", "XPUB, 0"})
    void aCaptureWithoutAPeerDoesNotStopTheTraffic(ZMTPSocketType type, long dropped, TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(PULL);
        ZMTPSocket backend = sockets.open(PUSH);
        ZMTPProxy proxy = ZMTPProxy.start(frontend, backend, sockets.open(type));
        ZMTPSocket source = joining(frontend, "inproc://front", sockets.open(PUSH));
        ZMTPSocket sink = joining(backend, "inproc://back", sockets.open(PULL));

        sendNumbers(source, 5);
        assertNumbersArrive(sink, 5);

        assertThat(proxy.stats().captureDropped()).isEqualTo(dropped);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void theTrafficWaitsForACaptureThatMustGetEverything(int loops) {
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(PULL);
            ZMTPSocket backend = sockets.open(PUSH);
            ZMTPSocket capture = sockets.open(PUSH);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend, capture, ZMTPProxy.CapturePolicy.WAIT);
            ZMTPSocket source = joining(frontend, "inproc://front", sockets.open(PUSH));
            ZMTPSocket sink = joining(backend, "inproc://back", sockets.open(PULL));
            for (int i = 0; i < 100; i++) {
                source.sendAsync(message("number", Integer.toString(i)));
            }
            await("some are taken", () -> proxy.stats().frontend().messagesReceived() > 0);
            get(proxy.resume());
            assertThat(proxy.stats().backend().messagesSent()).isZero();

            ZMTPSocket watcher = joining(capture, "inproc://capture", sockets.open(PULL));

            assertNumbersArrive(watcher, 100);
            assertNumbersArrive(sink, 100);
        }
    }

    @Test
    void aProxyEndsWithACaptureThatMustGetEverything(TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(PULL);
        ZMTPSocket capture = sockets.open(PUSH);
        ZMTPProxy proxy = ZMTPProxy.start(frontend, sockets.open(PUSH), capture, ZMTPProxy.CapturePolicy.WAIT);
        ZMTPSocket source = joining(frontend, "inproc://front", sockets.open(PUSH));
        sendNumbers(source, 1);
        await("one is taken", () -> proxy.stats().frontend().messagesReceived() > 0);

        capture.close();

        get(proxy.closeFuture());
        assertNumbersArrive(frontend, 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aProxyWithoutTrafficEndsWithACaptureThatMustGetEverything(boolean paused, TestSockets sockets) {
        ZMTPSocket capture = sockets.open(PUSH);
        ZMTPProxy proxy =
                ZMTPProxy.start(sockets.open(PULL), sockets.open(PUSH), capture, ZMTPProxy.CapturePolicy.WAIT);
        if (paused) {
            proxy.pause();
        }

        capture.close();

        get(proxy.closeFuture());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aProxyEndsWithEitherSocket(boolean first, TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(PULL);
        ZMTPSocket backend = sockets.open(PUSH);
        ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
        assertThat(proxy.closeFuture()).isNotDone();

        (first ? frontend : backend).close();

        get(proxy.closeFuture());
    }

    @Test
    void aProxyEndsWithItsEventLoops() {
        TestSockets sockets = new TestSockets();
        ZMTPProxy proxy = ZMTPProxy.start(sockets.open(XSUB), sockets.open(XPUB));
        sockets.group().shutdownGracefully(0, 5, TimeUnit.SECONDS);
        get(proxy.closeFuture());
        sockets.close();
    }

    @Test
    void whatOneSocketReceivesIsSentOnIt(TestSockets sockets) {
        ZMTPSocket echo = sockets.open(PAIR);
        ZMTPProxy proxy = ZMTPProxy.start(echo, echo);
        ZMTPSocket pair = joining(echo, "inproc://echo", sockets.open(PAIR));

        get(pair.sendAsync(message("hello")));

        assertThat(receive(pair)).containsExactly("hello");
        assertThat(proxy.stats().frontend()).isEqualTo(new ZMTPProxy.SideStats(1, 5, 1, 5, 0));
        assertThat(proxy.stats().backend()).isEqualTo(new ZMTPProxy.SideStats(1, 5, 1, 5, 0));
    }

    @Test
    void aMessageForNobodyIsDroppedAndCounted(TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(ROUTER);
        ZMTPSocket backend = sockets.open(DEALER);
        ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
        ZMTPSocket service = joining(backend, "inproc://back", sockets.open(DEALER));

        get(service.sendAsync(message("nobody", "", "answer")));

        await("a drop", () -> proxy.stats().frontend().dropped() == 1);
        assertThat(proxy.stats().backend()).isEqualTo(new ZMTPProxy.SideStats(1, 12, 0, 0, 0));
    }

    @Test
    void anAnswerWaitsForAPeerOfARouterThatIsFull(TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(sockets.builder(ROUTER).sendQueueLimit(2, 1_000_000));
        ZMTPSocket backend = sockets.open(DEALER);
        ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
        ZMTPSocket asker =
                joining(frontend, "inproc://front", sockets.open(dealer("asker").receiveQueueLimit(1, 1_000_000)));
        ZMTPSocket service = joining(backend, "inproc://back", sockets.open(DEALER));

        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < MANY; i++) {
                ZMTPMessage answer = message("asker", Integer.toString(i));
                await("room for answer " + i, () -> service.trySend(answer));
            }
        });
        for (int i = 0; i < MANY; i++) {
            assertThat(receive(asker)).containsExactly(Integer.toString(i));
        }
        get(sent);
        assertThat(proxy.stats().frontend().dropped()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"REQ, ROUTER", "DEALER, REP", "PUSH, PUSH", "PULL, SUB", "PUB, PUSH"})
    void typesThatCannotFeedEachOtherAreRefused(ZMTPSocketType front, ZMTPSocketType back, TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(front);
        ZMTPSocket backend = sockets.open(back);
        assertThatThrownBy(() -> ZMTPProxy.start(frontend, backend))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("types: " + front + " and " + back + " (expected: a pair as ROUTER");
    }

    @Test
    void aCaptureMustBeOfATypeThatSendsToAnybody(TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(PULL);
        ZMTPSocket backend = sockets.open(PUSH);
        ZMTPSocket capture = sockets.open(PULL);
        assertThatThrownBy(() -> ZMTPProxy.start(frontend, backend, capture))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("capture: PULL (expected: PUB, XPUB, PUSH, PAIR or DEALER)");
    }

    @Test
    void aSocketWhoseMessagesGoElsewhereIsRefusedAndTheOtherStaysFree(TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(PULL);
        ZMTPSocket backend = sockets.open(PAIR);
        backend.onMessage((peer, message) -> message.release());
        assertThatThrownBy(() -> ZMTPProxy.start(frontend, backend)).isInstanceOf(IllegalStateException.class);

        frontend.onMessage((peer, message) -> message.release());
    }

    @Test
    void itsFuturesDoNotBlockAnEventLoop() {
        try (TestSockets sockets = new TestSockets(2)) {
            ZMTPSocket frontend = sockets.open(ROUTER);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, sockets.open(DEALER));
            CompletableFuture<Throwable> thrown = new CompletableFuture<>();

            frontend.eventLoop()
                    .execute(() -> thrown.complete(
                            catchThrowable(() -> proxy.closeFuture().join())));

            assertThat(get(thrown)).isInstanceOf(BlockingOperationException.class);
            assertThat(proxy.pause()).isInstanceOf(LoopFuture.class);
        }
    }
}
