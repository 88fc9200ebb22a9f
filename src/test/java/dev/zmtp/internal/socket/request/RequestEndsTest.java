package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MALFORMED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent.PeerDown;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a request leaves behind, however it ends, in virtual time. */
@Tag("netty-4.2-only")
class RequestEndsTest {

    private static final String SERVICE = "inproc://service";
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration WITHOUT_END = Duration.ofSeconds(Long.MAX_VALUE);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    /** What the service was asked. */
    private final Queue<ZMTPRequest> asked = new ArrayDeque<>();

    @AfterEach
    void close() {
        asked.forEach(ZMTPRequest::drop);
        loop.close();
    }

    private ZMTPSocket service(String endpoint) {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        router.serve(asked::add);
        router.bind(endpoint);
        return router;
    }

    private ZMTPSocket connect(ZMTPSocketConfig.Builder config, String... endpoints) {
        ZMTPSocket socket = loop.open(config);
        for (String endpoint : endpoints) {
            socket.connect(endpoint);
        }
        loop.run();
        return socket;
    }

    private CompletableFuture<ZMTPMessage> ask(ZMTPSocket socket, String text, Duration timeout) {
        CompletableFuture<ZMTPMessage> answer = socket.requestAsync(message(text), timeout);
        loop.run();
        return answer;
    }

    private void answer(String text) {
        asked.remove().reply(message(text));
        loop.run();
    }

    @Test
    void itSaysWhetherItsEndWasTheFirst() {
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER), SERVICE);
        CompletableFuture<ZMTPMessage> cancelled = ask(dealer, "1", LONG);
        assertThat(cancelled.cancel(false)).isTrue();
        assertThat(cancelled.completeExceptionally(new IllegalStateException())).isFalse();

        CompletableFuture<ZMTPMessage> failed = ask(dealer, "2", LONG);
        assertThat(failed.completeExceptionally(new IllegalStateException())).isTrue();
        assertThat(failed.cancel(false)).isFalse();
    }

    /** A service repeats a reply, or adds to it. Both were read before the next request was sent. */
    @ParameterizedTest
    @ValueSource(strings = {"", "eof"})
    void ofAReqWithoutIdsIsNotAnsweredByWhatWasReadWithTheLastAnswer(String first) {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        router.onMessage((from, request) -> {
            String text = TestSockets.frames(request).get(1);
            from.sendOrDrop(message("", "answer " + text));
            from.sendOrDrop(message(first, "again " + text));
        });
        router.bind("test://twice");
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ), "test://twice");

        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            answers.add(req.requestAsync(message("" + i), LONG));
        }
        loop.run();

        for (int i = 1; i <= 3; i++) {
            assertThat(TestSockets.frames(answers.get(i - 1).join())).containsExactly("answer " + i);
        }
        ZMTPPeer its = TestSockets.peer(req);
        assertThat(its.stats().lateReplies() + its.stats().malformed()).isEqualTo(3);
    }

    @Test
    void oneThatFindsNoRoomOnTheEventLoopFailsAtOnce() {
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER).sendQueueLimit(1, 1), SERVICE);
        CompletableFuture<ZMTPMessage> first = ask(dealer, "1", LONG);

        assertThat(reason(dealer.requestAsync(message("2"), LONG))).isEqualTo(FULL);

        assertThat(first).isNotDone();
        assertThat(dealer.stats().queued()).isEqualTo(1);
    }

    /** More requests than the event loop takes in one turn, so that the last one ends before it gets there. */
    @Test
    void oneThatIsCancelledOnItsWayGivesItsRoomBack() throws InterruptedException {
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER).sendQueueLimit(2_000, 1 << 20), SERVICE);
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 1_499; i++) {
                dealer.requestAsync(message("?"), LONG);
            }
            dealer.requestAsync(message("?"), LONG).cancel(false);
        });
        thread.start();
        thread.join();
        loop.run();

        assertThat(dealer.stats().queued()).isEqualTo(1_499);
        assertThat(ClockedSockets.core(dealer).senders().credit())
                .hasToString("501 messages, " + ((1 << 20) - 1_499) + " bytes");
    }

    @Test
    void thoseOfOtherPeersGoOnWhenAConnectionEnds() {
        ZMTPSocket first = service(SERVICE);
        service("inproc://other");
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER), SERVICE, "inproc://other");
        List<CompletableFuture<ZMTPMessage>> answers = List.of(ask(dealer, "1", LONG), ask(dealer, "2", LONG));

        first.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(answers.stream().filter(CompletableFuture::isDone))
                .singleElement()
                .satisfies(failed -> assertThat(reason(failed)).isEqualTo(PEER_DOWN));
    }

    /** A REQ would take the answer for that of its next request. */
    @Test
    void oneOfAReqThatIsCancelledAndHasNoTimeoutEndsTheConnection() {
        service(SERVICE);
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ), SERVICE);
        List<PeerDown> down = new ArrayList<>();
        req.onEvent(Runnable::run, event -> {
            if (event instanceof PeerDown ended) {
                down.add(ended);
            }
        });

        ask(req, "cancelled", WITHOUT_END).cancel(false);
        loop.advance(Duration.ofSeconds(1));

        assertThat(down)
                .singleElement()
                .satisfies(ended -> assertThat(ended.cause())
                        .hasMessage("ILLEGAL_STATE: a request without a timeout was cancelled"));
        asked.remove().drop();
        CompletableFuture<ZMTPMessage> next = ask(req, "next", LONG);
        answer("of the next");
        assertThat(frames(next.join())).containsExactly("of the next");
    }

    @Test
    void theAnswerToOneOfAReqThatWasCancelledIsLate() {
        service(SERVICE);
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ), SERVICE);
        CompletableFuture<ZMTPMessage> inTime = ask(req, "1", LONG);
        answer("in time");
        assertThat(frames(inTime.join())).containsExactly("in time");
        assertThat(req.stats().lateReplies()).isZero();

        ask(req, "2", LONG).cancel(false);
        answer("late");

        assertThat(req.stats().lateReplies()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"no empty frame before it", ""})
    void theNextOneOfAReqIsAskedAfterAnAnswerThatWasMalformed(String malformed) {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        List<String> heard = new ArrayList<>();
        router.onMessage((from, message) -> {
            heard.add(frames(message).get(1));
            from.sendOrDrop(message(malformed));
        });
        router.bind(SERVICE);
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ), SERVICE);

        CompletableFuture<ZMTPMessage> first = req.requestAsync(message("1"), LONG);
        CompletableFuture<ZMTPMessage> second = req.requestAsync(message("2"), LONG);
        loop.run();
        loop.advance(Duration.ofSeconds(1)); // the connection ends, and is made again

        assertThat(reason(first)).isEqualTo(MALFORMED);
        assertThat(reason(second)).isEqualTo(MALFORMED);
        assertThat(heard).containsExactly("1", "2");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theAnswerToOneOfAReqIsNotThatToTheOneBefore(boolean strict) {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        List<ZMTPPeer> askers = new ArrayList<>();
        router.onMessage((from, message) -> {
            askers.add(from);
            message.release();
        });
        router.bind(SERVICE);
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ), SERVICE);
        CompletableFuture<ZMTPMessage> first = ask(req, "1", LONG, strict);
        askers.get(0).sendOrDrop(message("a notice"));
        loop.run();
        assertThat(reason(first)).isEqualTo(MALFORMED);

        CompletableFuture<ZMTPMessage> second = ask(req, "2", LONG, strict);
        askers.get(0).sendOrDrop(message("", "answer to 1"));
        loop.run();
        loop.advance(Duration.ofSeconds(1));

        assertThat(second).isNotDone();
        askers.get(1).sendOrDrop(message("", "answer to 2"));
        loop.run();
        assertThat(frames(second.join())).containsExactly("answer to 2");
    }

    private CompletableFuture<ZMTPMessage> ask(ZMTPSocket req, String text, Duration timeout, boolean strict) {
        if (!strict) {
            return ask(req, text, timeout);
        }
        req.sendOrDrop(message(text));
        CompletableFuture<ZMTPMessage> answer = req.receiveAsync();
        loop.run();
        return answer;
    }

    @Test
    void whatAReqSendsInTurnWaitsForItsFirstPeer() {
        service(SERVICE);
        ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));
        req.sendOrDrop(message("early"));
        loop.run();

        req.connect(SERVICE);
        loop.run();

        assertThat(asked)
                .singleElement()
                .satisfies(request ->
                        assertThat(frames(request.message().retain())).containsExactly("early"));
        CompletableFuture<ZMTPMessage> received = req.receiveAsync();
        answer("in turn");
        assertThat(frames(received.join())).containsExactly("in turn");
    }

    /** Its place is free before anybody hears of its end. */
    @ParameterizedTest
    @CsvSource({"DEALER, answer", "DEALER, timeout", "DEALER, down", "REQ, answer", "REQ, timeout", "REQ, down"})
    void whoeverHearsOfItsEndMayAskTheNext(ZMTPSocketType type, String how) {
        ZMTPSocket service = service(SERVICE);
        ZMTPSocket asker = connect(ZMTPSocketConfig.builder(type).maxOutstandingRequests(1), SERVICE);
        CompletableFuture<CompletableFuture<ZMTPMessage>> next = ask(asker, "first", Duration.ofSeconds(1))
                .handle((answer, failure) -> {
                    ReferenceCountUtil.release(answer);
                    return asker.requestAsync(message("next"), LONG);
                });

        switch (how) {
            case "answer" -> answer("first");
            case "timeout" -> loop.advance(Duration.ofSeconds(1));
            default -> service.closeAsync(Duration.ZERO);
        }
        loop.run();

        assertThat(next).isDone();
        assertThat(next.join()).isNotDone();
    }

    /** What is queued has time to leave; nobody waits that long for an answer that will not be received. */
    @ParameterizedTest
    @EnumSource(names = {"DEALER", "REQ"})
    void itFailsAsSoonAsItsSocketBeginsToClose(ZMTPSocketType type) {
        service(SERVICE);
        ZMTPSocket asker = connect(ZMTPSocketConfig.builder(type), SERVICE);
        CompletableFuture<ZMTPMessage> answer = ask(asker, "asked", LONG);
        ask(asker, "in the queue of a REQ", LONG);
        assertThat(answer).isNotDone();

        asker.closeAsync(LONG);
        loop.run();

        assertThat(reason(answer)).isEqualTo(CLOSED);
    }

    @Test
    void whatAReqHasSentInTurnLeavesAtTheCloseEvenIfItsPeerOwesAnAnswer() {
        service(SERVICE);
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ), SERVICE);
        ask(req, "asked", LONG);
        req.sendOrDrop(message("in turn"));
        loop.run();
        assertThat(asked).hasSize(1);

        req.closeAsync(LONG);
        loop.run();

        assertThat(asked).hasSize(2);
    }

    /** More than the event loop takes in one turn, so that the socket is closed between the first and the last. */
    @Test
    void thoseThatAreOnTheirWayFailAtTheClose() throws InterruptedException {
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER).sendQueueLimit(2_000, 1 << 20), "inproc://nobody");
        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 1_500; i++) {
                answers.add(dealer.requestAsync(message("?"), LONG));
            }
            dealer.closeAsync(Duration.ZERO);
        });
        thread.start();
        thread.join();
        loop.run();

        assertThat(answers).allSatisfy(answer -> assertThat(reason(answer)).isEqualTo(CLOSED));
        assertThat(ClockedSockets.core(dealer).requests().outstanding()).isZero();
    }

    /** As if its thread had been stopped between the two calls. */
    @Test
    void oneThatComesToTheEventLoopAfterTheCloseFails() {
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ));
        Requests requests = ClockedSockets.core(req).requests();
        CompletableFuture<Void> sent = new CompletableFuture<>();
        PendingRequest late = new PendingRequest(requests, message("late"), Long.MAX_VALUE, sent);
        req.closeAsync(Duration.ZERO);
        loop.run();

        late.run();

        assertThat(reason(late)).isEqualTo(CLOSED);
        assertThat(reason(sent)).isEqualTo(CLOSED);
    }

    @Test
    void aRequestWhoseThreadIsInterruptedGivesItsPlaceBack(TestSockets sockets) throws InterruptedException {
        loop.close(); // so that this thread may wait
        ZMTPSocket dealer = sockets.open(DEALER);
        dealer.connect("inproc://nobody");
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        ZMTPMessage message = message("never");
        Thread thread =
                new Thread(() -> ended.complete(catchThrowable(() -> dealer.request(message, TestSockets.PATIENCE))));
        thread.start();
        await("it waits", () -> thread.getState() == Thread.State.WAITING);
        assertThat(ClockedSockets.core(dealer).requests().outstanding()).isEqualTo(1);

        thread.interrupt();

        assertThat(get(ended)).isInstanceOf(InterruptedException.class);
        await("given back", () -> ClockedSockets.core(dealer).requests().outstanding() == 0);
        await("released", () -> message.refCnt() == 0);
    }

    @Test
    void oneThatTheApplicationCompletesIsNotSent() {
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER), SERVICE);
        List<Consumer<CompletableFuture<ZMTPMessage>>> ways = List.of(
                request -> request.completeAsync(() -> message("own"), Runnable::run),
                request -> request.obtrudeValue(message("own")),
                request -> request.obtrudeException(new IllegalStateException("of the test")));
        for (Consumer<CompletableFuture<ZMTPMessage>> complete : ways) {
            CompletableFuture<ZMTPMessage> request = ask(dealer, "question", LONG);
            assertThat(dealer.stats().queued()).isEqualTo(1);

            complete.accept(request);
            loop.run();

            assertThat(dealer.stats().queued()).isZero();
            request.whenComplete((own, failure) -> ReferenceCountUtil.release(own));
        }
    }
}
