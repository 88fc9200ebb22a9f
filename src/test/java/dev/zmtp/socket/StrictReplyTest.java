package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.socket.TestSockets.PATIENCE;
import static dev.zmtp.socket.TestSockets.await;
import static dev.zmtp.socket.TestSockets.bind;
import static dev.zmtp.socket.TestSockets.connect;
import static dev.zmtp.socket.TestSockets.frames;
import static dev.zmtp.socket.TestSockets.get;
import static dev.zmtp.socket.TestSockets.message;
import static dev.zmtp.socket.TestSockets.reason;
import static dev.zmtp.socket.TestSockets.receive;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MUTE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.STATE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A REP that receives and sends in turn. */
class StrictReplyTest {

    private static final String ENDPOINT = "inproc://strict";

    private final WriteGate gate = new WriteGate();

    /** P23, P24, P27: any number of askers, and each answer goes to its own. */
    @Test
    void eachAnswerGoesToThePeerThatAsked() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            String endpoint = bind(rep, ENDPOINT);
            List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                ZMTPSocket asker = sockets.open(i % 2 == 0 ? REQ : DEALER);
                connect(asker, endpoint);
                asked.add(asker.request(message("q" + i), PATIENCE));
            }

            for (int i = 0; i < 5; i++) {
                String question = receive(rep).get(0);
                get(rep.send(message("answer to " + question)));
            }

            for (int i = 0; i < 5; i++) {
                assertThat(frames(get(asked.get(i)))).containsExactly("answer to q" + i);
            }
        }
    }

    /** P24. */
    @Test
    void aSendBeforeTheReceiveFails() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPMessage early = message("early");
            assertThat(reason(rep.send(early))).isEqualTo(STATE);
            assertThat(early.refCnt()).isZero();
            ZMTPMessage tried = message("early");
            assertThat(rep.trySend(tried)).isFalse();
            tried.release();
        }
    }

    /** P24. */
    @Test
    void aReceiveBeforeTheAnswerFailsAndDoesNotDisturbTheRequest() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket req = sockets.open(REQ);
            connect(req, bind(rep, ENDPOINT));
            get(req.send(message("question")));
            get(rep.receive()).release();

            assertThat(reason(rep.receive())).isEqualTo(STATE);

            get(rep.send(message("answer")));
            assertThat(receive(req)).containsExactly("answer");
        }
    }

    /** P24: one answer for each request. */
    @Test
    void aSecondAnswerFails() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket req = sockets.open(REQ);
            connect(req, bind(rep, ENDPOINT));
            get(req.send(message("question")));
            get(rep.receive()).release();
            get(rep.send(message("answer")));

            assertThat(reason(rep.send(message("another")))).isEqualTo(STATE);
            assertThat(receive(req)).containsExactly("answer");
        }
    }

    /** P25, P26, P27: several names, as of several ROUTERs on the way. */
    @Test
    void theEnvelopeIsKeptForTheAnswer() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket dealer = sockets.open(DEALER);
            connect(dealer, bind(rep, ENDPOINT));

            get(dealer.send(message("id3", "id2", "id1", "", "", "data", "")));
            assertThat(receive(rep)).as("data").containsExactly("", "data", "");
            get(rep.send(message("", "reply")));
            assertThat(receive(dealer)).containsExactly("id3", "id2", "id1", "", "", "reply");

            get(dealer.send(message("", "data")));
            assertThat(receive(rep)).containsExactly("data");
            get(rep.send(message("reply")));
            assertThat(receive(dealer)).containsExactly("", "reply");
        }
    }

    /** T14. */
    @Test
    void malformedRequestsAreCountedAndTheNextGoodOneIsServed() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket dealer = sockets.open(DEALER);
            connect(dealer, bind(rep, ENDPOINT));

            get(dealer.send(message("x")));
            get(dealer.send(message("a", "b", "c")));
            get(dealer.send(message("")));
            get(dealer.send(message("", "")));

            assertThat(receive(rep)).containsExactly("");
            assertThat(TestSockets.peer(rep).malformed()).isEqualTo(3);
            get(rep.send(message("served")));
            assertThat(receive(dealer)).containsExactly("", "served");
        }
    }

    /** P28. */
    @Test
    void theAnswerToAPeerThatHasLeftFails() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket req = sockets.open(REQ);
            connect(req, bind(rep, ENDPOINT));
            get(req.send(message("question")));
            get(rep.receive()).release();
            get(req.close(Duration.ZERO));
            await("nobody", () -> rep.peers().isEmpty());

            assertThat(reason(rep.send(message("answer")))).isEqualTo(PEER_DOWN);

            assertThat(rep.dropped()).isEqualTo(1);
        }
    }

    /** P29: an answer for which there is no room does not wait, whichever thread sends it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAnswerToAFullPeerFailsAtOnce(boolean onLoop) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(sockets.builder(REP)
                    .sendLimit(new ZMTPQueueLimit(1, 1 << 20))
                    .pipeline(gate));
            ZMTPSocket dealer = sockets.open(DEALER);
            connect(dealer, bind(rep, "tcp://127.0.0.1:*"));
            for (int i = 0; i < 3; i++) {
                get(dealer.send(message("", "question")));
            }
            gate.close();
            get(rep.receive()).release();
            CompletableFuture<Void> first = rep.send(WriteGate.big("transport"));
            await("on its way", rep::isWritable);
            get(rep.receive()).release();
            CompletableFuture<Void> second = rep.send(WriteGate.big("queue"));
            await("in the queue", () -> TestSockets.peer(rep).queuedMessages() == 1);
            get(rep.receive()).release();

            CompletableFuture<Void> third = onLoop
                    ? get(CompletableFuture.supplyAsync(
                            () -> rep.send(message("no room")), rep.core().eventLoop()))
                    : rep.send(message("no room"));
            assertThat(reason(third)).isEqualTo(MUTE);

            gate.open();
            get(first);
            get(second);
            get(dealer.receive()).release();
            get(dealer.receive()).release();
        }
    }

    @Test
    void theRequestOfACancelledReceiveGoesToTheNextOne() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket req = sockets.open(REQ);
            connect(req, bind(rep, ENDPOINT));

            assertThat(rep.receive().cancel(false)).isTrue();
            CompletableFuture<ZMTPMessage> timedOut = rep.receive().orTimeout(1, TimeUnit.MILLISECONDS);
            await("its end", timedOut::isDone);
            get(req.send(message("question")));

            assertThat(receive(rep)).containsExactly("question");
        }
    }

    /** T71 in part: cancelled in the moment of the request, it gets the request, or the next receive does. */
    @Test
    void aReceiveCancelledInTheMomentOfTheRequestLosesNothing() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket req = sockets.open(REQ);
            connect(req, bind(rep, ENDPOINT));

            for (int i = 0; i < 3_000; i++) {
                CompletableFuture<ZMTPMessage> first = rep.receive();
                req.send(message("" + i));
                for (int spin = 0; spin < i % 100 * 20; spin++) {
                    Thread.onSpinWait();
                }
                CompletableFuture<ZMTPMessage> got = first.cancel(false) ? rep.receive() : first;
                assertThat(frames(get(got))).containsExactly("" + i);
                get(rep.send(message("answer")));
                assertThat(receive(req)).containsExactly("answer");
            }
        }
    }

    @Test
    void aReceiveThatWaitsFailsAtTheClose() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            CompletableFuture<ZMTPMessage> received = rep.receive();

            get(rep.close(Duration.ZERO));

            assertThat(reason(received)).isEqualTo(CLOSED);
            assertThat(reason(rep.receive())).isEqualTo(CLOSED);
        }
    }
}
