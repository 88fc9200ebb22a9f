package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.internal.socket.TestSockets.frames;
import static dev.zmtp.internal.socket.TestSockets.message;
import static dev.zmtp.internal.socket.TestSockets.reason;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MALFORMED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent.PeerDown;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a request leaves behind, however it ends, in virtual time. */
@Tag("netty-4.2-only")
class RequestEndsTest {

    private static final String SERVICE = "inproc://service";
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration WITHOUT_END = Duration.ofSeconds(Long.MAX_VALUE);

    private final VirtualTime time = new VirtualTime();

    /** What the service was asked. */
    private final Queue<ZMTPRequest> asked = new ArrayDeque<>();

    @AfterEach
    void close() {
        asked.forEach(ZMTPRequest::drop);
        time.close();
    }

    private ZMTPSocket service(String endpoint) {
        ZMTPSocket router = time.open(ZMTPSocketConfig.builder(ROUTER));
        router.serve(asked::add);
        router.bind(endpoint);
        return router;
    }

    private ZMTPSocket connect(ZMTPSocketConfig.Builder config, String... endpoints) {
        ZMTPSocket socket = time.open(config);
        for (String endpoint : endpoints) {
            socket.connect(endpoint);
        }
        time.run();
        return socket;
    }

    private CompletableFuture<ZMTPMessage> ask(ZMTPSocket socket, String text, Duration timeout) {
        CompletableFuture<ZMTPMessage> answer = socket.requestAsync(message(text), timeout);
        time.run();
        return answer;
    }

    private void answer(String text) {
        asked.remove().reply(message(text));
        time.run();
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

    @Test
    void oneThatFindsNoRoomOnTheEventLoopFailsAtOnce() {
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER).sendLimit(1, 1 << 20), SERVICE);
        CompletableFuture<ZMTPMessage> first = ask(dealer, "1", LONG);

        assertThat(reason(dealer.requestAsync(message("2"), LONG))).isEqualTo(FULL);

        assertThat(first).isNotDone();
        assertThat(dealer.stats().queued()).isEqualTo(1);
    }

    /** More requests than the event loop takes in one turn, so that the last one ends before it gets there. */
    @Test
    void oneThatIsCancelledOnItsWayGivesItsRoomBack() throws InterruptedException {
        ZMTPSocket dealer = connect(ZMTPSocketConfig.builder(DEALER).sendLimit(2_000, 1 << 20), SERVICE);
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 1_499; i++) {
                dealer.requestAsync(message("?"), LONG);
            }
            dealer.requestAsync(message("?"), LONG).cancel(false);
        });
        thread.start();
        thread.join();
        time.run();

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
        time.run();

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
        time.pass(Duration.ofSeconds(1));

        assertThat(down)
                .singleElement()
                .satisfies(ended ->
                        assertThat(ended.cause()).hasMessage("STATE: a request without a timeout was cancelled"));
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

    @Test
    void theNextOneOfAReqIsAskedAfterAnAnswerThatWasMalformed() {
        ZMTPSocket router = time.open(ZMTPSocketConfig.builder(ROUTER));
        List<String> heard = new ArrayList<>();
        router.onMessage((from, message) -> {
            heard.add(frames(message).get(1));
            from.sendOrDrop(message("no empty frame before it"));
        });
        router.bind(SERVICE);
        ZMTPSocket req = connect(ZMTPSocketConfig.builder(REQ), SERVICE);

        CompletableFuture<ZMTPMessage> first = req.requestAsync(message("1"), LONG);
        CompletableFuture<ZMTPMessage> second = req.requestAsync(message("2"), LONG);
        time.run();

        assertThat(reason(first)).isEqualTo(MALFORMED);
        assertThat(reason(second)).isEqualTo(MALFORMED);
        assertThat(heard).containsExactly("1", "2");
    }

    @Test
    void whatAReqSendsInTurnWaitsForItsFirstPeer() {
        service(SERVICE);
        ZMTPSocket req = time.open(ZMTPSocketConfig.builder(REQ));
        req.sendOrDrop(message("early"));
        time.run();

        req.connect(SERVICE);
        time.run();

        assertThat(asked)
                .singleElement()
                .satisfies(request ->
                        assertThat(frames(request.message().retain())).containsExactly("early"));
        CompletableFuture<ZMTPMessage> received = req.receiveAsync();
        answer("in turn");
        assertThat(frames(received.join())).containsExactly("in turn");
    }
}
