package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A receive whose future the application ends itself. */
class EndedReceiveTest {

    /** The socket that receives, and the one that sends to it; each is a REQ, REP or DEALER. */
    private record Pair(ZMTPSocket receiver, ZMTPSocket sender) {

        /** A REQ has asked before it receives. */
        static Pair of(TestSockets sockets, ZMTPSocketType receives) {
            ZMTPSocket receiver = sockets.open(receives);
            ZMTPSocket sender = sockets.open(receives == REQ ? REP : receives == REP ? REQ : DEALER);
            connect(receiver, bind(sender, "inproc://ended"));
            if (receives == REQ) {
                get(receiver.sendAsync(message("question")));
                get(sender.receiveAsync()).release();
            }
            return new Pair(receiver, sender);
        }

        void send(String text) {
            get(sender.sendAsync(message(text)));
            settle(receiver);
        }
    }

    private static boolean end(CompletableFuture<ZMTPMessage> received, String how) {
        return switch (how) {
            case "cancel" -> received.cancel(false);
            case "complete" -> received.complete(null);
            default -> received.completeExceptionally(new IllegalStateException("by the application"));
        };
    }

    @ParameterizedTest
    @CsvSource({
        "REQ, cancel", "REQ, complete", "REQ, fail",
        "REP, cancel", "REP, complete", "REP, fail",
        "DEALER, cancel", "DEALER, complete", "DEALER, fail"
    })
    void theMessageIsForTheNextReceive(ZMTPSocketType type, String how, TestSockets sockets) {
        Pair pair = Pair.of(sockets, type);
        CompletableFuture<ZMTPMessage> ended = pair.receiver.receiveAsync();

        assertThat(end(ended, how)).isTrue();

        assertThat(ended).isDone();
        assertThat(end(ended, how)).as("as any CompletableFuture").isEqualTo(how.equals("cancel"));
        pair.send("message");
        assertThat(receive(pair.receiver)).containsExactly("message");
    }

    @ParameterizedTest
    @CsvSource({
        "REQ, cancel", "REQ, complete", "REQ, fail",
        "REP, cancel", "REP, complete", "REP, fail",
        "DEALER, cancel", "DEALER, complete", "DEALER, fail"
    })
    void oneThatHasItsMessageKeepsIt(ZMTPSocketType type, String how, TestSockets sockets) {
        Pair pair = Pair.of(sockets, type);
        CompletableFuture<ZMTPMessage> received = pair.receiver.receiveAsync();
        pair.send("message");
        await("the message", received::isDone);

        assertThat(end(received, how)).isFalse();

        assertThat(frames(get(received))).containsExactly("message");
    }

    /** The answer had come before: nobody else would release it. */
    @ParameterizedTest
    @CsvSource({"cancel", "complete", "fail"})
    void theAnswerIsReleasedAtTheClose(String how, TestSockets sockets) {
        Pair pair = Pair.of(sockets, REQ);

        assertThat(end(pair.receiver.receiveAsync(), how)).isTrue();
        pair.send("answer");

        get(pair.receiver.closeAsync(Duration.ZERO));
    }
}
