package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A message that a receiver gives up in the moment it gets it is received next, by whatever comes then. */
@Tag("netty-4.2-only")
class GivenBackTest {

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(2, 100));
    private final Inbox inbox = ClockedSockets.core(pull).inbox();
    private final ZMTPSocket push = pushTo("inproc://given-back");
    private final List<String> handled = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket pushTo(String endpoint) {
        ZMTPSocket sender = loop.open(ZMTPSocketConfig.builder(PUSH));
        pull.bind(endpoint);
        sender.connect(endpoint);
        loop.run();
        return sender;
    }

    private void send(ZMTPSocket sender, String text) {
        sender.sendOrDrop(message(text));
        loop.run();
    }

    private String next() {
        return text(pull.receiveAsync());
    }

    /** What has been received by now. */
    private String text(CompletableFuture<ZMTPMessage> received) {
        loop.run();
        return frames(TestSockets.get(received)).get(0);
    }

    /** A receiver that is given up in the moment it gets a message, when something else happens, too. */
    private static Taker givenUpWhen(Consumer<ZMTPMessage> meanwhile) {
        return new Taker() {
            @Override
            public boolean take(Peer from, int occupant, ZMTPMessage message) {
                meanwhile.accept(message);
                return false;
            }

            @Override
            public void fail(ZMTPSocketException cause) {
                throw new AssertionError("it was to get a message", cause);
            }
        };
    }

    @Test
    void itComesBeforeTheNextOneOfItsPeer() {
        send(push, "0");
        send(push, "1");

        inbox.take(givenUpWhen(message -> {}));

        assertThat(next()).isEqualTo("0");
        assertThat(next()).isEqualTo("1");
        CompletableFuture<ZMTPMessage> last = pull.receiveAsync();
        send(push, "2");
        assertThat(text(last)).isEqualTo("2");
    }

    @Test
    void itsPeerDoesNotLoseItsTurn() {
        send(push, "first");
        send(pushTo("inproc://given-back-2"), "second");

        inbox.take(givenUpWhen(message -> {}));

        assertThat(next()).isEqualTo("first");
        assertThat(next()).isEqualTo("second");
    }

    @Test
    void aReceiverThatHasBegunToWaitInBetweenGetsIt() {
        send(push, "0");
        List<CompletableFuture<ZMTPMessage>> waiting = new ArrayList<>();

        inbox.take(givenUpWhen(message -> {
            waiting.add(pull.receiveAsync());
            waiting.add(pull.receiveAsync());
        }));
        send(push, "1");

        assertThat(text(waiting.get(0))).isEqualTo("0");
        assertThat(text(waiting.get(1))).isEqualTo("1");
    }

    @Test
    void theReceiverThatGetsItInsteadWaitsNoLonger() {
        send(push, "0");

        inbox.take(givenUpWhen(message -> pull.receiveAsync().thenAccept(TestSockets::frames)));

        pull.onMessage((from, message) -> handled.addAll(frames(message))); // throws if something receives
        send(push, "1");
        assertThat(handled).containsExactly("1");
    }

    @Test
    void anotherThreadMayReceiveIt() {
        send(push, "0");

        inbox.take(givenUpWhen(message -> {}));
        CompletableFuture<ZMTPMessage> received = TestSockets.get(CompletableFuture.supplyAsync(pull::receiveAsync));

        assertThat(text(received)).isEqualTo("0");
    }

    /** The thread that cancels it is faster than the one that asks for a message. */
    @Test
    void aReceiveThatWasCancelledBeforeItCouldTakeItLeavesIt() {
        send(push, "0");
        Received cancelled = new Received(ClockedSockets.core(pull).context(), inbox);
        cancelled.cancel(false);

        inbox.take(cancelled);

        assertThat(next()).isEqualTo("0");
    }

    /** As {@code completeOnTimeout} does. */
    @Test
    void aReceiveThatTheApplicationCompletesNoLongerReceives() {
        ZMTPMessage own = message("own");
        CompletableFuture<ZMTPMessage> received = pull.receiveAsync();

        assertThat(received.complete(own)).isTrue();
        assertThat(received.complete(own)).isFalse();

        pull.onMessage((from, message) -> handled.addAll(frames(message))); // throws if something receives
        send(push, "0");
        assertThat(handled).containsExactly("0");
        own.release();
    }

    /** As {@code orTimeout} does. */
    @Test
    void aReceiveThatTheApplicationFailsNoLongerReceives() {
        IllegalStateException late = new IllegalStateException("of the test");
        CompletableFuture<ZMTPMessage> received = pull.receiveAsync();

        assertThat(received.completeExceptionally(late)).isTrue();
        assertThat(received.completeExceptionally(late)).isFalse();

        pull.onMessage((from, message) -> handled.addAll(frames(message))); // throws if something receives
        send(push, "0");
        assertThat(handled).containsExactly("0");
    }

    @Test
    void aHandlerThatWasRegisteredInBetweenGetsIt() {
        send(push, "0");

        inbox.take(givenUpWhen(gotten -> pull.onMessage((from, message) -> handled.addAll(frames(message)))));
        loop.run();

        assertThat(handled).containsExactly("0");
    }

    @Test
    void itIsReleasedIfTheSocketWasClosedInBetween() {
        send(push, "0");
        List<ZMTPMessage> given = new ArrayList<>();

        inbox.take(givenUpWhen(message -> {
            given.add(message);
            pull.closeAsync(Duration.ZERO);
            loop.run();
        }));

        assertThat(given)
                .singleElement()
                .satisfies(received -> assertThat(received.refCnt()).isZero());
        assertThat(reason(pull.receiveAsync())).isEqualTo(CLOSED);
    }

    /** A message that arrives, and not one that was there. */
    @Test
    void aReceiverThatWaitedAndIsGivenUpLeavesTheMessageToTheNextOne() {
        inbox.take(givenUpWhen(message -> {}));
        CompletableFuture<ZMTPMessage> next = pull.receiveAsync();

        send(push, "0");

        assertThat(text(next)).isEqualTo("0");
    }

    /** Two may wait: the peer is not read from before one was taken. */
    @Test
    void itCountsAgainAmongThoseThatMayWait() {
        for (String text : List.of("0", "1", "2", "3")) {
            send(push, text);
        }
        assertThat(received()).isEqualTo(2);

        inbox.take(givenUpWhen(message -> {}));
        loop.run();

        assertThat(received()).isEqualTo(2);
        for (String text : List.of("0", "1", "2", "3")) {
            assertThat(next()).isEqualTo(text);
        }
    }

    private long received() {
        return TestSockets.peer(pull).stats().received();
    }
}
