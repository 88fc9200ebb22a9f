package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Receives that are given up, in the moment the message comes or before: it goes to the next one. */
class ReceiveCancelTest {

    /** Enough for a cancel to come at each moment of a receive. */
    private static final int ROUNDS = 20_000;

    /** T71. */
    @Tag("T71")
    @Test
    void aCancelInTheMomentOfAMessageLosesNone() {
        cancelInTheMoment(PULL, PUSH);
    }

    /** T71. A ROUTER puts the name of the peer before what it shows. */
    @Tag("T71")
    @Test
    void aCancelInTheMomentOfANamedMessageLosesNone() {
        cancelInTheMoment(ROUTER, DEALER);
    }

    private static void cancelInTheMoment(ZMTPSocketType receiving, ZMTPSocketType sending) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket receiver = sockets.open(receiving);
            ZMTPSocket sender = sockets.open(sending);
            connect(sender, bind(receiver, "inproc://cancelled"));
            int cancelled = 0;
            for (int i = 0; i < ROUNDS; i++) {
                CompletableFuture<ZMTPMessage> received = receiver.receiveAsync();
                sender.sendOrDrop(message(String.valueOf(i)));
                for (int spins = ThreadLocalRandom.current().nextInt(200); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
                List<String> frames;
                if (received.cancel(false)) {
                    cancelled++;
                    frames = receive(receiver);
                } else {
                    frames = frames(get(received));
                }
                assertThat(frames.get(frames.size() - 1)).isEqualTo(String.valueOf(i));
            }
            assertThat(cancelled).as("some were in time").isPositive();
        }
    }

    /** As {@code completeOnTimeout} does. */
    @Test
    void aReceiveThatTheApplicationCompletesNoLongerReceives(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        CompletableFuture<ZMTPMessage> received = pull.receiveAsync();
        received.complete(message("none"));
        assertThat(frames(get(received))).containsExactly("none");

        CompletableFuture<ZMTPMessage> handled = new CompletableFuture<>();
        pull.onMessage((peer, message) -> handled.complete(message)); // throws if something receives

        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "inproc://completed"));
        push.sendOrDrop(message("first"));
        assertThat(frames(get(handled))).containsExactly("first");
    }

    @Test
    void aReceiveThatTimesOutTakesNoMessage(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        CompletableFuture<ZMTPMessage> late = pull.receiveAsync().orTimeout(1, TimeUnit.MILLISECONDS);
        assertThat(late.handle((message, failure) -> failure).join())
                .isInstanceOfAny(TimeoutException.class, CompletionException.class);

        push.sendOrDrop(message("first"));

        assertThat(receive(pull)).containsExactly("first");
    }

    @Test
    void aReceiveThatTheCallerCompletesTakesNoMessage(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        ZMTPMessage own = message("own");
        pull.receiveAsync().complete(own);

        push.sendOrDrop(message("first"));

        assertThat(receive(pull)).containsExactly("first");
        own.release();
    }

    @Test
    void receiversAreServedInTheOrderOfTheirCalls(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        CompletableFuture<ZMTPMessage> first = pull.receiveAsync();
        CompletableFuture<ZMTPMessage> second = pull.receiveAsync();
        CompletableFuture<ZMTPMessage> third = pull.receiveAsync();
        second.cancel(false);

        push.sendOrDrop(message("1"));
        push.sendOrDrop(message("2"));

        assertThat(frames(get(first))).containsExactly("1");
        assertThat(frames(get(third))).containsExactly("2");
    }
}
