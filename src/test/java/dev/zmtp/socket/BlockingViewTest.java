package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.TestSockets.await;
import static dev.zmtp.socket.TestSockets.bind;
import static dev.zmtp.socket.TestSockets.connect;
import static dev.zmtp.socket.TestSockets.frames;
import static dev.zmtp.socket.TestSockets.get;
import static dev.zmtp.socket.TestSockets.message;
import static dev.zmtp.socket.TestSockets.receive;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Calls that wait. */
class BlockingViewTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    @Test
    void aMessageIsSentAndReceived() throws InterruptedException {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = sockets.open(PUSH);
            push.connect(bind(pull, "tcp://127.0.0.1:*"));

            push.send(message("m"), TestSockets.PATIENCE);

            assertThat(frames(pull.receive(TestSockets.PATIENCE))).containsExactly("m");
        }
    }

    @Test
    void aReceiveThatTimesOutTakesNoMessage() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, bind(pull, "tcp://127.0.0.1:*"));

            for (Duration timeout : new Duration[] {SHORT, Duration.ZERO, Duration.ofSeconds(-1)}) {
                assertThatThrownBy(() -> pull.receive(timeout))
                        .hasMessage("TIMEOUT: no message within " + timeout)
                        .extracting(e -> ((ZMTPSocketException) e).reason())
                        .isEqualTo(TIMEOUT);
            }

            push.write(message("first"));
            assertThat(receive(pull)).containsExactly("first");
        }
    }

    @Test
    void aTimeoutMayBeLongerThanAnyClockCounts() throws InterruptedException {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = sockets.open(PUSH);
            push.connect(bind(pull, "tcp://127.0.0.1:*"));
            push.write(message("m"));

            assertThat(frames(pull.receive(Duration.ofSeconds(Long.MAX_VALUE)))).containsExactly("m");
            assertThatThrownBy(() -> pull.receive(Duration.ofSeconds(Long.MIN_VALUE)))
                    .isInstanceOf(ZMTPSocketException.class);
        }
    }

    @Test
    void aSendThatTimesOutMayLeaveLater() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(PUSH);

            assertThatThrownBy(() -> push.send(message("late"), SHORT))
                    .hasMessage("TIMEOUT: not written within " + SHORT);

            ZMTPSocket pull = sockets.open(PULL);
            push.connect(bind(pull, "tcp://127.0.0.1:*"));
            assertThat(receive(pull)).containsExactly("late");
        }
    }

    /** T55. */
    @Test
    void onAnEventLoopACallThatWaitsThrowsAtOnce() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = sockets.open(PUSH);
            ZMTPMessage message = message("m");
            sockets.group().forEach(loop -> {
                CompletableFuture<Throwable> received = new CompletableFuture<>();
                CompletableFuture<Throwable> sent = new CompletableFuture<>();
                loop.execute(() -> {
                    received.complete(thrownBy(() -> pull.receive(TestSockets.PATIENCE)));
                    sent.complete(thrownBy(() -> push.send(message, TestSockets.PATIENCE)));
                });

                for (CompletableFuture<Throwable> thrown : java.util.List.of(received, sent)) {
                    assertThat(get(thrown))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessage("waiting on an event loop would stop it");
                }
            });
            assertThat(message.refCnt()).as("the caller's").isEqualTo(1);
            message.release();
        }
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
    @Test
    void aCloseEndsAReceiveThatWaits() throws InterruptedException {
        try (TestSockets sockets = new TestSockets()) {
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
    }

    @Test
    void aMessageThatTheTypeDoesNotAllowStaysTheCallers() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket scatter = sockets.open(dev.zmtp.ZMTPSocketType.SCATTER);
            ZMTPSocket push = sockets.open(PUSH);
            ZMTPMessage message = message("1", "2");

            assertThatThrownBy(() -> pull.send(message))
                    .hasMessage("send: not with PULL (expected: a type that sends)");
            assertThatThrownBy(() -> pull.trySend(message)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> pull.write(message)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> scatter.send(message)).hasMessage("frames: 2 (expected: 1)");
            assertThatThrownBy(() -> scatter.write(message)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> push.request(message, SHORT))
                    .hasMessage("request: not with PUSH (expected: REQ or DEALER)");
            assertThatThrownBy(push::receive).hasMessage("receive: not with PUSH (expected: a type that receives)");

            assertThat(message.refCnt()).isEqualTo(1);
            message.release();
        }
    }
}
