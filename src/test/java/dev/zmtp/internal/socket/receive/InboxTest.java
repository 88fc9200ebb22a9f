package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.SingleThreadEventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The messages that the application has not taken, and the ways out. */
class InboxTest {

    private final TestSockets sockets = new TestSockets();
    private final ZMTPSocket pull = sockets.open(PULL);
    private final ZMTPSocket push = sockets.open(PUSH);

    @BeforeEach
    void connectBoth() {
        connect(push, bind(pull, "inproc://inbox"));
        await("the peer", () -> pull.peers().stream().anyMatch(TestSockets::isUp));
    }

    @AfterEach
    void close() {
        sockets.close();
    }

    private void send(String... texts) {
        for (String text : texts) {
            get(push.sendAsync(message(text)));
        }
    }

    @Test
    void receivesAreServedInTheOrderOfTheirCalls() {
        List<CompletableFuture<ZMTPMessage>> received = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            received.add(pull.receiveAsync());
        }

        send("0", "1", "2");

        for (int i = 0; i < 3; i++) {
            assertThat(frames(get(received.get(i)))).containsExactly("" + i);
        }
    }

    @Test
    void theMessageForAReceiveThatHasEndedGoesToTheNext() {
        CompletableFuture<ZMTPMessage> cancelled = pull.receiveAsync();
        CompletableFuture<ZMTPMessage> timedOut = pull.receiveAsync().orTimeout(1, TimeUnit.MILLISECONDS);
        CompletableFuture<ZMTPMessage> completed = pull.receiveAsync();
        CompletableFuture<ZMTPMessage> waits = pull.receiveAsync();
        ZMTPMessage other = message("other");
        cancelled.cancel(false);
        completed.complete(other);
        assertThat(failure(timedOut)).isInstanceOf(TimeoutException.class);

        send("for the last");

        assertThat(frames(get(waits))).containsExactly("for the last");
        other.release();
    }

    @Test
    void aReceiveThatTimesOutTakesNoMessage() throws InterruptedException {
        assertThat(pull.receive(Duration.ofMillis(10))).isNull();

        send("next");

        assertThat(frames(pull.receive(PATIENCE))).containsExactly("next");
    }

    @Test
    void messagesThatWaitGoToAHandlerFirst() {
        send("0", "1");
        await("both", () -> TestSockets.peer(pull).stats().received() == 2);
        List<String> handled = new CopyOnWriteArrayList<>();

        pull.onMessage((from, message) -> handled.addAll(frames(message)));
        send("2");

        await("all", () -> handled.size() == 3);
        assertThat(handled).containsExactly("0", "1", "2");
    }

    @Test
    void thereIsOneWayOutAtATime() {
        CompletableFuture<ZMTPMessage> waits = pull.receiveAsync();
        assertThatThrownBy(() -> pull.onMessage((from, message) -> message.release()))
                .hasMessageContaining("a receiver is already registered");
        waits.cancel(false);
        pull.onMessage((from, message) -> message.release());

        assertThat(reason(pull.receiveAsync())).isEqualTo(ILLEGAL_STATE);
        assertThatThrownBy(() -> pull.onMessage((from, message) -> message.release()))
                .hasMessageContaining("a receiver is already registered");
    }

    @Test
    void aHandlerThatThrowsGetsTheNextMessage() {
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.Inbox")) {
            List<String> handled = new CopyOnWriteArrayList<>();
            pull.onMessage((from, message) -> {
                handled.addAll(frames(message));
                if (handled.size() == 1) {
                    throw new IllegalStateException("by the handler");
                }
            });

            send("0", "1");

            await("both", () -> handled.size() == 2);
            assertThat(log.lines).singleElement().asString().contains("handler of messages failed");
        }
    }

    @Test
    void receivesFailAtTheClose() {
        CompletableFuture<ZMTPMessage> waits = pull.receiveAsync();

        get(pull.closeAsync(Duration.ZERO));

        assertThat(reason(waits)).isEqualTo(CLOSED);
        assertThat(reason(pull.receiveAsync())).isEqualTo(CLOSED);
    }

    @Test
    void aReceiverMayFollowAHandlerThatTookWhatHadWaited() {
        send("0");
        await("it waits", () -> TestSockets.peer(pull).stats().received() == 1);
        List<String> handled = new CopyOnWriteArrayList<>();
        ZMTPRegistration registration = pull.onMessage((from, message) -> handled.addAll(frames(message)));
        await("the first", () -> handled.size() == 1);

        registration.close();
        send("1");

        assertThat(frames(get(pull.receiveAsync()))).containsExactly("1");
    }

    @Test
    void aHandlerThatEndsLeavesTheRestToTheNextReceiver() {
        List<String> handled = new CopyOnWriteArrayList<>();
        ZMTPRegistration registration = pull.onMessage((from, message) -> handled.addAll(frames(message)));
        send("0");
        await("the first", () -> handled.size() == 1);

        registration.close();
        registration.close();
        send("1");

        assertThat(frames(get(pull.receiveAsync()))).containsExactly("1");
        assertThat(handled).containsExactly("0");
        pull.onMessage((from, message) -> handled.addAll(frames(message)));
        send("2");
        await("the last", () -> handled.size() == 2);
    }

    /** The event loop does not know of it yet. */
    @Test
    void aReceiverMayComeAsSoonAsTheHandlerWasClosed() {
        List<String> handled = new CopyOnWriteArrayList<>();
        ZMTPRegistration registration = pull.onMessage((from, message) -> handled.addAll(frames(message)));
        CountDownLatch busy = TestSockets.hold(pull);

        registration.close();
        CompletableFuture<ZMTPMessage> received = pull.receiveAsync();
        busy.countDown();
        send("0");

        assertThat(frames(get(received))).containsExactly("0");
        assertThat(handled).isEmpty();
    }

    @Test
    void aHandlerThatWasClosedGetsNothingOfTheNextOne() {
        List<String> first = new CopyOnWriteArrayList<>();
        List<String> second = new CopyOnWriteArrayList<>();
        ZMTPRegistration registration = pull.onMessage((from, message) -> first.addAll(frames(message)));
        TestSockets.settle(pull);
        CountDownLatch busy = TestSockets.hold(pull);
        send("0");
        await("a read", () -> ((SingleThreadEventLoop) pull.eventLoop()).pendingTasks() > 0);

        registration.close();
        pull.onMessage((from, message) -> second.addAll(frames(message)));
        busy.countDown();

        await("the second", () -> second.size() == 1);
        assertThat(first).isEmpty();
    }

    @Test
    void aHandlerThatWasClosedBeforeItBeganGetsNothing() {
        send("0");
        await("it waits", () -> TestSockets.peer(pull).stats().received() == 1);
        List<String> first = new CopyOnWriteArrayList<>();
        List<String> second = new CopyOnWriteArrayList<>();
        CountDownLatch busy = TestSockets.hold(pull);

        pull.onMessage((from, message) -> first.addAll(frames(message))).close();
        pull.onMessage((from, message) -> second.addAll(frames(message)));
        busy.countDown();

        await("the second", () -> second.size() == 1);
        assertThat(first).isEmpty();
    }
}
