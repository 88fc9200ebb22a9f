package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.SCATTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import io.netty.util.concurrent.BlockingOperationException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls that wait. */
class BlockingViewTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    @Test
    void aMessageIsSentAndReceived(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(bind(pull, "tcp://127.0.0.1:*"));

        push.send(message("m"));

        assertThat(frames(pull.receive(TestSockets.PATIENCE))).containsExactly("m");
    }

    @Test
    void aReceiveThatTimesOutTakesNoMessage(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));

        for (Duration timeout : new Duration[] {SHORT, Duration.ZERO, Duration.ofSeconds(-1)}) {
            assertThat(pull.receive(timeout)).isNull();
        }

        push.sendOrDrop(message("first"));
        assertThat(receive(pull)).containsExactly("first");
    }

    @Test
    void aTimeoutMayBeLongerThanAnyClockCounts(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(bind(pull, "tcp://127.0.0.1:*"));
        push.sendOrDrop(message("m"));

        assertThat(frames(pull.receive(Duration.ofSeconds(Long.MAX_VALUE)))).containsExactly("m");
        assertThat(pull.receive(Duration.ofSeconds(Long.MIN_VALUE))).isNull();
    }

    /** T55. */
    @Tag("T55")
    @Test
    void onAnEventLoopACallThatWaitsThrowsAtOnce(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        sockets.group().forEach(loop -> {
            ZMTPMessage message = message("m");
            CompletableFuture<Throwable> received = new CompletableFuture<>();
            CompletableFuture<Throwable> sent = new CompletableFuture<>();
            loop.execute(() -> {
                received.complete(thrownBy(() -> pull.receive(TestSockets.PATIENCE)));
                sent.complete(thrownBy(() -> push.send(message)));
            });

            for (CompletableFuture<Throwable> thrown : java.util.List.of(received, sent)) {
                assertThat(get(thrown))
                        .isInstanceOf(BlockingOperationException.class)
                        .hasMessageContaining("on an event loop");
            }
            assertThat(message.refCnt()).as("taken over").isZero();
        });
    }

    private interface Call {
        void run() throws InterruptedException;
    }

    private static Throwable thrownBy(Call call) {
        try {
            call.run();
            return new AssertionError("nothing was thrown");
        } catch (Throwable e) {
            return e;
        }
    }

    /** T56. */
    @Tag("T56")
    @Test
    void aCloseEndsAReceiveThatWaits(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread thread = new Thread(() -> ended.complete(thrownBy(() -> pull.receive(TestSockets.PATIENCE))));
        thread.start();
        await("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING);

        pull.close();

        assertThat(get(ended)).isInstanceOf(ZMTPSocketException.class);
        assertThat(((ZMTPSocketException) get(ended)).reason()).isEqualTo(CLOSED);
        thread.join();
    }

    @ParameterizedTest
    @MethodSource("refusedCalls")
    void aMessageThatTheTypeDoesNotAllowIsReleased(
            ZMTPSocketType type, BiConsumer<ZMTPSocket, ZMTPMessage> call, String text, TestSockets sockets) {
        ZMTPMessage message = message("1", "2");

        assertThatThrownBy(() -> call.accept(sockets.open(type), message)).hasMessage(text);

        assertThat(message.refCnt()).isZero();
    }

    private static Stream<Arguments> refusedCalls() {
        BiConsumer<ZMTPSocket, ZMTPMessage> sendAsync = ZMTPSocket::sendAsync;
        BiConsumer<ZMTPSocket, ZMTPMessage> trySend = ZMTPSocket::trySend;
        BiConsumer<ZMTPSocket, ZMTPMessage> sendOrDrop = ZMTPSocket::sendOrDrop;
        BiConsumer<ZMTPSocket, ZMTPMessage> request = (socket, message) -> socket.requestAsync(message, SHORT);
        return Stream.of(
                Arguments.of(PULL, sendAsync, "sendAsync: not with PULL (expected: a type that sends)"),
                Arguments.of(PULL, trySend, "trySend: not with PULL (expected: a type that sends)"),
                Arguments.of(PULL, sendOrDrop, "sendOrDrop: not with PULL (expected: a type that sends)"),
                Arguments.of(SCATTER, sendAsync, "frames: 2 (expected: 1)"),
                Arguments.of(SCATTER, sendOrDrop, "frames: 2 (expected: 1)"),
                Arguments.of(PUSH, request, "request: not with PUSH (expected: REQ or DEALER)"));
    }

    @Test
    void aTypeThatOnlySendsDoesNotReceive(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        assertThatThrownBy(push::receiveAsync).hasMessage("receive: not with PUSH (expected: a type that receives)");
    }

    @Test
    void aRequestWaitsForItsAnswer(TestSockets sockets) throws InterruptedException {
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        ZMTPSocket dealer = sockets.open(DEALER);
        dealer.connect(bind(rep, "inproc://asked"));

        assertThat(frames(dealer.request(message("hello"), TestSockets.PATIENCE)))
                .containsExactly("hello");
    }
}
