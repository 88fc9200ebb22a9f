package dev.zmtp.test;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import dev.zmtp.testing.TestSockets;
import io.netty.util.concurrent.BlockingOperationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The event loop that users test with. */
@Tag("netty-4.2-only")
class ZMTPTestLoopTest {

    private static final int MANY = 6;

    private static final Duration HOUR = Duration.ofHours(1);

    @AutoClose
    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    private ZMTPSocket pull(String endpoint) {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.bind(endpoint);
        return pull;
    }

    private ZMTPSocket push(String endpoint) {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect(endpoint);
        loop.run();
        return push;
    }

    @Test
    @Tag("T87")
    void aTimeoutOfAnHourIsOverAtThatTime() {
        ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));
        req.connect("test://nobody");
        List<Duration> ends = new ArrayList<>();
        CompletableFuture<ZMTPMessage> answer = req.requestAsync(message("?"), HOUR);
        answer.whenComplete((reply, failure) -> ends.add(loop.time()));

        loop.advance(HOUR.minusNanos(1));
        assertThat(answer).isNotDone();
        loop.advance(HOUR);

        assertThat(TestSockets.reason(answer)).isEqualTo(Reason.TIMEOUT);
        assertThat(ends).containsExactly(HOUR);
        assertThat(loop.time()).isEqualTo(HOUR.multipliedBy(2).minusNanos(1));
    }

    /** Random delays below bounds that double. */
    @Test
    @Tag("T88")
    void aConnectorTriesAgainAfterTheDelayThatItsEventNames() {
        ZMTPSocket push =
                loop.open(ZMTPSocketConfig.builder(PUSH).reconnectDelay(Duration.ofMillis(100), Duration.ofSeconds(5)));
        List<Duration> announced = new ArrayList<>();
        List<Duration> tried = new ArrayList<>();
        List<Duration> delays = new ArrayList<>();
        push.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Retrying retrying) {
                delays.add(retrying.delay());
                announced.add(loop.time().plus(retrying.delay()));
            } else if (event instanceof ZMTPSocketEvent.Connecting) {
                tried.add(loop.time());
            }
        });
        push.connect("test://nobody");

        loop.advance(HOUR);

        assertThat(announced).hasSizeGreaterThan(700);
        assertThat(tried).containsExactlyElementsOf(withZero(announced.subList(0, announced.size() - 1)));
        for (int i = 0; i < delays.size(); i++) {
            long bound = Math.min(5_000, 100L << Math.min(i, 6));
            assertThat(delays.get(i)).isPositive().isLessThanOrEqualTo(Duration.ofMillis(bound));
        }
    }

    private static List<Duration> withZero(List<Duration> times) {
        List<Duration> all = new ArrayList<>(List.of(Duration.ZERO));
        all.addAll(times);
        return all;
    }

    @Test
    @Tag("T89")
    void twoRunsWithTheSameSeedSendTheSameBytes() {
        List<String> first = conversation(1);

        assertThat(conversation(1)).isEqualTo(first).hasSizeGreaterThan(3);
        assertThat(conversation(2)).isNotEqualTo(first);
    }

    /** Returns what a ROUTER calls its anonymous peer, and when a connector tries to connect. */
    private static List<String> conversation(long seed) {
        List<String> seen = new ArrayList<>();
        try (ZMTPTestLoop run = ZMTPTestLoop.of(seed)) {
            ZMTPSocket router = run.open(ZMTPSocketConfig.builder(ROUTER));
            router.onMessage((peer, received) -> {
                seen.add(received.toString());
                received.release();
            });
            router.bind("test://service");
            ZMTPSocket dealer = run.open(ZMTPSocketConfig.builder(DEALER));
            dealer.connect("test://service");
            ZMTPSocket lost = run.open(ZMTPSocketConfig.builder(PUSH));
            lost.onEvent(Runnable::run, event -> seen.add(run.time() + " " + event.getClass()));
            lost.connect("test://nobody");
            CompletableFuture<ZMTPMessage> answer = dealer.requestAsync(message("?"), HOUR);
            run.advance(Duration.ofSeconds(1));
            assertThat(answer).isNotDone();
        }
        return seen;
    }

    /** Identity hash codes differ from run to run. */
    @Test
    @Tag("T89")
    void twoRunsWithTheSameSeedEndInTheSameOrder() {
        List<String> first = ends();

        assertThat(first).hasSizeGreaterThan(3 * MANY);
        for (int run = 0; run < 3; run++) {
            assertThat(ends()).isEqualTo(first);
        }
    }

    /** Returns what happens at the end of a socket with many connectors, listeners, receivers and peers. */
    private static List<String> ends() {
        List<String> seen = new ArrayList<>();
        try (ZMTPTestLoop run = ZMTPTestLoop.of(7)) {
            ZMTPSocket pull = run.open(ZMTPSocketConfig.builder(PULL));
            pull.onEvent(Runnable::run, event -> seen.add(run.time() + " " + event));
            for (int i = 0; i < MANY; i++) {
                run.open(ZMTPSocketConfig.builder(PUSH)).bind("test://pushes" + i);
                pull.bind("test://pulls" + i);
                ZMTPSocket push = run.open(ZMTPSocketConfig.builder(PUSH));
                push.onEvent(Runnable::run, event -> seen.add(run.time() + " " + event));
                run.run();
                pull.connect("test://pushes" + i);
                push.connect("test://pulls" + i);
            }
            run.run();
            for (int i = 0; i < MANY; i++) {
                int number = i;
                pull.receiveAsync().whenComplete((message, failure) -> seen.add("receive " + number));
            }
            pull.closeAsync(Duration.ZERO);
            run.advance(Duration.ofSeconds(1));
        }
        seen.replaceAll(event -> event.replaceAll(" from #\\w+", "")); // Netty's ids of channels are random
        return seen;
    }

    @ParameterizedTest
    @ValueSource(strings = {"inproc://jobs", "test://jobs"})
    @Tag("T90")
    void aMessageThatWasNotReleasedFailsTheClose(String endpoint) {
        List<ZMTPMessage> kept = new ArrayList<>();
        ZMTPTestLoop leaking = ZMTPTestLoop.create();
        ZMTPSocket pull = leaking.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((peer, received) -> kept.add(received));
        pull.bind(endpoint);
        ZMTPSocket push = leaking.open(ZMTPSocketConfig.builder(PUSH));
        push.connect(endpoint);
        push.sendOrDrop(message("first"));
        push.sendOrDrop(message("second"));
        leaking.run();
        kept.remove(0).release();

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(leaking::close)
                .withMessage("PULL at " + endpoint + ": ZMTPMessage{[\"second\"]} was not released");
        kept.remove(0).release();
    }

    /** More than are remembered at a time. */
    @Test
    void onlyTheMessageThatWasNotReleasedIsNamed() {
        List<ZMTPMessage> kept = new ArrayList<>();
        ZMTPTestLoop leaking = ZMTPTestLoop.create();
        ZMTPSocket pull = leaking.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((peer, received) -> {
            if (received.frame(0).readableBytes() == 4) {
                kept.add(received);
            } else {
                received.release();
            }
        });
        pull.bind("test://jobs");
        ZMTPSocket push = leaking.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("test://jobs");
        push.sendOrDrop(message("kept"));
        for (int i = 0; i < 5_000; i++) {
            push.sendOrDrop(message("m"));
            leaking.run();
        }

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(leaking::close)
                .withMessage("PULL at test://jobs: ZMTPMessage{[\"kept\"]} was not released");
        kept.remove(0).release();
    }

    @Test
    void whatWaitsInASocketIsReleasedAtTheClose() {
        pull("inproc://jobs");
        push("inproc://jobs").sendOrDrop(message("m"));
        push("test://nobody").sendOrDrop(message("m"));
        loop.run();

        loop.close();
    }

    /** Its object could have been recycled for a message that no socket has received. */
    @ParameterizedTest
    @ValueSource(strings = {"inproc://jobs", "test://jobs"})
    void aMessageOfTheTestIsNotTakenForOneThatWasReceived(String endpoint) {
        List<ZMTPMessage> own = new ArrayList<>();
        try (ZMTPTestLoop other = ZMTPTestLoop.create()) {
            ZMTPSocket pull = other.open(ZMTPSocketConfig.builder(PULL));
            pull.onMessage((peer, received) -> received.release());
            pull.bind(endpoint);
            ZMTPSocket push = other.open(ZMTPSocketConfig.builder(PUSH));
            push.connect(endpoint);
            for (int i = 0; i < 64; i++) {
                push.sendOrDrop(message("m"));
                other.run();
            }
            for (int i = 0; i < 64; i++) {
                own.add(message("x"));
            }
        }
        own.forEach(ZMTPMessage::release);
    }

    /** Queues copy such frames, so that they do not keep the buffers of reads. */
    @Test
    void partsOfALargeReadAreNamedAsWell() {
        List<ZMTPRequest> kept = new ArrayList<>();
        ZMTPTestLoop leaking = ZMTPTestLoop.create();
        ZMTPSocket router = leaking.open(ZMTPSocketConfig.builder(ROUTER));
        router.serve(kept::add);
        router.bind("test://service");
        ZMTPSocket dealer = leaking.open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect("test://service");
        leaking.run();
        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answers.add(dealer.requestAsync(message("x".repeat(2_000)), HOUR));
        }
        leaking.run();
        assertThat(kept).hasSize(20);

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(leaking::close)
                .withMessageContaining("and 15 more messages");
        assertThat(answers).allMatch(CompletableFuture::isCompletedExceptionally);
        kept.forEach(request -> request.message().release());
    }

    @Test
    void aSocketThatLingersHasTheTimeForIt() {
        ZMTPSocket push = push("test://nobody");
        push.sendOrDrop(message("m"));

        push.close();

        loop.close();
    }

    @Test
    void aFutureIsAwaitedInVirtualTime() {
        ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));
        req.connect("test://nobody");
        CompletableFuture<ZMTPMessage> answer = req.requestAsync(message("?"), Duration.ofMinutes(5));

        assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> loop.await(answer));
        assertThat(loop.time()).isEqualTo(Duration.ofMinutes(5));
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        assertThat(loop.await(pull.bind("test://jobs").readyFuture()).text()).isEqualTo("test://jobs");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> loop.await(pull.receiveAsync()))
                .withMessageStartingWith("future: not complete at PT1H");
    }

    /** Also the codec's, so commands of an hour are not those of a millisecond. */
    @Test
    void theLimitOfCommandsIsOneOfVirtualTime() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).codec(codec -> codec.maxCommandsPerSecond(5)));
        List<ZMTPSocketEvent> events = new ArrayList<>();
        pull.onEvent(Runnable::run, events::add);
        pull.bind("test://jobs");
        ZMTPSocket push = loop.open(
                ZMTPSocketConfig.builder(PUSH).codec(codec -> codec.heartbeatInterval(Duration.ofSeconds(1))));
        push.connect("test://jobs");

        loop.advance(Duration.ofMinutes(1));

        assertThat(events).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
    }

    @Test
    void connectorsThatWaitForABindJoinInTheirOrder() {
        for (int run = 0; run < 5; run++) {
            try (ZMTPTestLoop other = ZMTPTestLoop.create()) {
                List<ZMTPSocket> pulls = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    ZMTPSocket pull = other.open(ZMTPSocketConfig.builder(PULL));
                    pull.connect("inproc://jobs");
                    pulls.add(pull);
                }
                other.run();
                ZMTPSocket push = other.open(ZMTPSocketConfig.builder(PUSH));
                push.bind("inproc://jobs");
                other.run();
                for (int i = 0; i < 5; i++) {
                    push.sendOrDrop(message("job " + i));
                }
                other.run();
                for (int i = 0; i < 5; i++) {
                    ZMTPMessage job = other.await(pulls.get(i).receiveAsync());
                    assertThat(job.frameUTF8(0)).isEqualTo("job " + i);
                    job.release();
                }
            }
        }
    }

    @Test
    void aCutLosesWhatIsOnItsWay() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, "test://jobs", PULL);
        ZMTPSocket push = push("test://jobs");
        peer.stopReading();
        push.sendOrDrop(message("m"));
        loop.run();

        loop.cut(push);

        assertThat(peer.isEmpty()).isTrue();
    }

    @Test
    void workWithoutAnEndFailsTheTest() {
        ZMTPTestLoop endless = ZMTPTestLoop.create();
        boolean[] ended = {false};
        endless.eventLoop().execute(new Runnable() {
            @Override
            public void run() {
                if (!ended[0]) {
                    endless.eventLoop().execute(this);
                }
            }
        });

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(endless::run)
                .withMessage("tasks: millions at PT0S (expected: an end, so that the time can be moved)");
        ended[0] = true;
        endless.close();
    }

    /** In the order in which they were created, as JUnit may. */
    @Test
    void aThreadWhoseLoopsAreClosedMayWait() {
        loop.close();
        ZMTPTestLoop first = ZMTPTestLoop.create();
        ZMTPTestLoop second = ZMTPTestLoop.create();
        CompletableFuture<Void> never = new LoopFuture<>();
        assertThatExceptionOfType(BlockingOperationException.class)
                .isThrownBy(never::join)
                .withMessage("blocking call on an event loop thread, which this is until its ZMTPTestLoop is closed");

        first.close();
        second.close();

        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> never.get(1, TimeUnit.MILLISECONDS));
    }

    @Test
    @Tag("T91")
    void aCutFailsRequestsAndTheConnectorIsBackAfterItsDelay() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        List<ZMTPRequest> asked = new ArrayList<>();
        router.serve(asked::add);
        router.bind("test://service");
        Duration delay = Duration.ofSeconds(1);
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER).reconnectDelay(delay, delay));
        dealer.connect("test://service");
        CompletableFuture<ZMTPMessage> answer = dealer.requestAsync(message("?"), HOUR);
        loop.run();
        assertThat(asked).hasSize(1);

        loop.cut(dealer);
        loop.run();

        assertThat(TestSockets.reason(answer)).isEqualTo(Reason.PEER_DOWN);
        assertThat(dealer.peers()).isEmpty();
        assertThat(router.peers()).isEmpty();
        loop.advance(delay);
        assertThat(dealer.peers()).hasSize(1);
        asked.forEach(ZMTPRequest::drop);
    }

    @Test
    @Tag("T93")
    void noThreadIsStarted() {
        ZMTPCurveKeyPair server = ZMTPCurveKeyPair.generate(); // first, as it loads a native library
        Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL)
                .codec(codec ->
                        codec.mechanism(ZMTPCurve.server(server)).authenticator(ZMTPAuthenticator.acceptAll())));
        List<String> received = new ArrayList<>();
        pull.onMessage((peer, message) -> {
            received.add(message.toString());
            message.release();
        });
        pull.bind("test://jobs");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH)
                .codec(codec -> codec.mechanism(ZMTPCurve.client(server.publicKey(), ZMTPCurveKeyPair.generate()))));
        push.connect("test://jobs");
        push.sendOrDrop(message("m"));
        loop.advance(HOUR);

        assertThat(received).hasSize(1);
        Set<Thread> after = new HashSet<>(Thread.getAllStackTraces().keySet());
        after.removeAll(before);
        assertThat(after).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:5555", "ipc:///tmp/jobs", "shm:///tmp/jobs", "ws://127.0.0.1:5555"})
    @Tag("T93")
    void noPortAndNoFileIsOpened(String endpoint) {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> pull.bind(endpoint))
                .withMessage("endpoint: " + endpoint + " (expected: one of the schemes inproc, test)");
    }

    /** Tests run in parallel. */
    @ParameterizedTest
    @ValueSource(strings = {"inproc://jobs", "test://jobs"})
    void namesBelongToTheLoop(String endpoint) {
        pull(endpoint);
        try (ZMTPTestLoop other = ZMTPTestLoop.create()) {
            ZMTPSocket push = other.open(ZMTPSocketConfig.builder(PUSH));
            push.connect(endpoint);
            other.advance(HOUR);
            loop.run();

            assertThat(push.peers()).isEmpty();
        }
    }

    @Test
    void aHandlerThatHasThrownFailsTheClose() {
        ZMTPTestLoop failing = ZMTPTestLoop.create();
        IllegalStateException failure = fail(failing);

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(failing::close)
                .withMessage("a handler has thrown java.lang.IllegalStateException: of the test")
                .satisfies(error -> assertThat(error.getSuppressed()).containsExactly(failure));
        failing.close();
    }

    @Test
    void aFailureThatWasTakenDoesNotFailTheClose() {
        IllegalStateException failure = fail(loop);

        assertThat(loop.takeFailures()).containsExactly(failure);
        assertThat(loop.takeFailures()).isEmpty();
    }

    private static IllegalStateException fail(ZMTPTestLoop in) {
        IllegalStateException failure = new IllegalStateException("of the test");
        ZMTPSocket pull = in.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((peer, received) -> {
            received.release();
            throw failure;
        });
        pull.bind("test://jobs");
        ZMTPSocket push = in.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("test://jobs");
        push.sendOrDrop(message("m"));
        in.run();
        return failure;
    }

    @Test
    void callsThatWaitThrow() {
        ZMTPSocket pull = pull("inproc://jobs");

        assertThatExceptionOfType(BlockingOperationException.class).isThrownBy(pull::receive);
    }

    @Test
    void anotherThreadMayNotRunIt() throws InterruptedException {
        List<Throwable> thrown = new ArrayList<>();
        Thread other = new Thread(() -> {
            try {
                loop.run();
            } catch (IllegalStateException e) {
                thrown.add(e);
            }
        });
        other.setName("other");
        other.start();
        other.join();

        assertThat(thrown)
                .singleElement()
                .satisfies(e ->
                        assertThat(e).hasMessage("thread: other (expected: the thread that has created the loop)"));
    }

    @Test
    void wrongArgumentsAreNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> loop.advance(Duration.ofNanos(-1)))
                .withMessage("time: PT-0.000000001S (expected: >= 0)");
        try (ZMTPTestLoop other = ZMTPTestLoop.create()) {
            ZMTPSocket foreign = other.open(ZMTPSocketConfig.builder(PULL));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> loop.cut(foreign))
                    .withMessage("socket: " + foreign + " (expected: a socket that this loop has opened)");
        }
    }

    @Test
    void aClosedLoopOpensNoSocket() {
        loop.close();

        assertThatIllegalStateException()
                .isThrownBy(() -> loop.open(ZMTPSocketConfig.builder(PULL)))
                .withMessage("loop: closed (expected: open)");
    }
}
