package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
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
import static dev.zmtp.socket.ZMTPSocketException.Reason.DROPPED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MALFORMED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.STATE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A REQ that sends and receives in turn. */
class StrictRequestTest {

    private static final String ENDPOINT = "inproc://strict";

    /** P15. */
    @Test
    void requestsAndAnswersComeInTurn() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            connect(req, bind(rep, ENDPOINT));

            for (int i = 0; i < 3; i++) {
                get(req.send(message("question", "" + i)));
                assertThat(receive(rep)).containsExactly("question", "" + i);
                get(rep.send(message("answer", "" + i)));
                assertThat(receive(req)).containsExactly("answer", "" + i);
            }
        }
    }

    /** T20. */
    @Test
    void aSecondSendFailsAndDoesNotDisturbTheFirst() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            connect(req, bind(rep, ENDPOINT));
            get(req.send(message("first")));

            ZMTPMessage second = message("second");
            assertThat(reason(req.send(second))).isEqualTo(STATE);
            assertThat(second.refCnt()).isZero();
            ZMTPMessage third = message("third");
            assertThat(req.trySend(third)).isFalse();
            assertThat(third.release()).isTrue();

            assertThat(receive(rep)).containsExactly("first");
            get(rep.send(message("answer")));
            assertThat(receive(req)).containsExactly("answer");
        }
    }

    /** P15. */
    @Test
    void aReceiveBeforeTheSendFails() {
        try (TestSockets sockets = new TestSockets()) {
            assertThat(reason(sockets.open(REQ).receive())).isEqualTo(STATE);
        }
    }

    @Test
    void aSecondReceiveFailsAndDoesNotDisturbTheFirst() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            connect(req, bind(rep, ENDPOINT));
            get(req.send(message("question")));
            CompletableFuture<ZMTPMessage> first = req.receive();

            assertThat(reason(req.receive())).isEqualTo(STATE);

            get(rep.receive()).release();
            get(rep.send(message("answer")));
            assertThat(frames(get(first))).containsExactly("answer");
        }
    }

    /** P16, P17: the delimiter is the socket's, and empty data frames are the application's. */
    @Test
    void theApplicationSeesTheDataOnly() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket router = sockets.open(ROUTER);
            connect(req, bind(router, ENDPOINT));

            get(req.send(message("", "data", "")));
            ZMTPMessage question = get(router.receive());

            assertThat(question.size()).as("name, delimiter, data").isEqualTo(5);
            get(router.send(question));
            assertThat(receive(req)).containsExactly("", "data", "");
        }
    }

    /** P14, P18. */
    @Test
    void requestsGoToThePeersInTurn() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            for (int i = 0; i < 3; i++) {
                String name = "rep" + i;
                ZMTPSocket rep = sockets.open(REP);
                rep.serve(request -> CompletableFuture.completedFuture(message(name)));
                connect(req, bind(rep, ENDPOINT + i));
            }

            for (int i = 0; i < 9; i++) {
                get(req.send(message("who")));
                assertThat(receive(req)).containsExactly("rep" + i % 3);
            }
        }
    }

    /** P21, P22. */
    @Test
    void messagesOfOtherPeersAreDiscarded() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket asked = sockets.open(ROUTER);
            ZMTPSocket other = sockets.open(ROUTER);
            connect(req, bind(asked, ENDPOINT));
            ZMTPPeer from = connect(req, bind(other, ENDPOINT + "2"));
            await("the other", () -> other.peers().stream().anyMatch(ZMTPPeer::isUp));
            get(req.send(message("question")));

            get(other.sendTo(TestSockets.peer(other), message("", "wrong")));
            await("discarded", () -> from.late() == 1);
            get(asked.send(get(asked.receive())));

            assertThat(receive(req)).containsExactly("question");
        }
    }

    /** U10, 0.9: and not from anybody else, either. */
    @Test
    void theReceiveFailsWhenThePeerLeavesAndTheNextSendWorks() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            ZMTPPeer peer = connect(req, bind(rep, ENDPOINT));
            get(req.send(message("question")));
            CompletableFuture<ZMTPMessage> received = req.receive();
            await("written", () -> peer.written() == 1);

            get(rep.close(Duration.ZERO));

            assertThat(reason(received)).isEqualTo(PEER_DOWN);
            ZMTPSocket next = sockets.open(REP);
            next.serve(request -> CompletableFuture.completedFuture(message("answer")));
            bind(next, ENDPOINT);
            get(req.send(message("again")));
            assertThat(receive(req)).containsExactly("answer");
        }
    }

    @Test
    void aMalformedAnswerFailsTheReceive() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket router = sockets.open(ROUTER);
            ZMTPPeer peer = connect(req, bind(router, ENDPOINT));
            get(req.send(message("question")));
            get(router.receive()).release();

            get(router.sendTo(TestSockets.peer(router), message("answer")));

            assertThat(reason(req.receive())).isEqualTo(MALFORMED);
            assertThat(peer.malformed()).isEqualTo(1);
            get(req.send(message("again")));
            get(router.send(get(router.receive())));
            assertThat(receive(req)).containsExactly("again");
        }
    }

    @Test
    void theReceiveFailsIfTheRequestWasTooOldToBeSent() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(sockets.builder(REQ).maxAge(Duration.ofMillis(1)));
            ZMTPConnector connector = req.connect(ENDPOINT);
            CompletableFuture<Void> sent = req.send(message("question"));
            await("too old", () -> connector.peer().oldest().toMillis() > 1);
            ZMTPSocket rep = sockets.open(REP);

            bind(rep, ENDPOINT);

            assertThat(reason(sent)).isEqualTo(DROPPED);
            assertThat(reason(req.receive())).isEqualTo(DROPPED);
        }
    }

    @Test
    void theAnswerThatNobodyHasReceivedIsReleasedAtTheClose() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            ZMTPPeer peer = connect(req, bind(rep, "tcp://127.0.0.1:*"));
            rep.serve(request -> CompletableFuture.completedFuture(message("x".repeat(2_000)))); // of a tracked buffer
            get(req.send(message("question")));
            await("the answer", () -> peer.received() == 1);

            get(req.close(Duration.ZERO));
        }
    }

    @Test
    void aReceiveThatWaitsFailsAtTheClose() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            req.send(message("question"));
            CompletableFuture<ZMTPMessage> received = req.receive();

            get(req.close(Duration.ZERO));

            assertThat(reason(received)).isEqualTo(CLOSED);
            assertThat(reason(req.receive())).isEqualTo(CLOSED);
        }
    }

    @Test
    void theAnswerToACancelledReceiveGoesToTheNextOne() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            connect(req, bind(rep, ENDPOINT));
            get(req.send(message("question")));

            assertThat(req.receive().cancel(false)).isTrue();
            CompletableFuture<ZMTPMessage> timedOut = req.receive().orTimeout(1, TimeUnit.MILLISECONDS);
            await("its end", timedOut::isDone);
            get(rep.receive()).release();
            get(rep.send(message("answer")));

            assertThat(receive(req)).containsExactly("answer");
        }
    }

    /** T71 in part: cancelled in the moment of the answer, it gets the answer, or the next receive does. */
    @Test
    void aReceiveCancelledInTheMomentOfTheAnswerLosesNothing() throws InterruptedException {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            rep.serve(request ->
                    CompletableFuture.completedFuture(request.message().retain()));
            connect(req, bind(rep, ENDPOINT));

            for (int i = 0; i < 3_000; i++) {
                get(req.send(message("" + i)));
                CompletableFuture<ZMTPMessage> first = req.receive();
                for (int spin = 0; spin < i % 100 * 20; spin++) {
                    Thread.onSpinWait();
                }
                CompletableFuture<ZMTPMessage> got = first.cancel(false) ? req.receive() : first;
                assertThat(frames(get(got))).containsExactly("" + i);
            }
        }
    }

    /** What is queued has time to leave, although its answer is no longer awaited. */
    @Test
    void aRequestThatLeavesAfterTheCloseHasBeenSent() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket router = sockets.open(ROUTER);
            ZMTPPeer peer = req.connect(ENDPOINT).peer();
            CompletableFuture<Void> sent = req.send(message("question"));
            await("in the queue", () -> peer.queuedMessages() == 1);
            CompletableFuture<ZMTPMessage> answer = req.receive();

            CompletableFuture<ZMTPSocket.CloseReport> closed = req.close(PATIENCE);
            assertThat(reason(answer)).isEqualTo(CLOSED);
            bind(router, ENDPOINT);

            get(sent);
            get(router.receive()).release();
            assertThat(get(closed).undelivered()).isZero();
        }
    }

    /** A request that was given to the blocking calls. */
    @Test
    void theBlockingReceiveReturnsTheAnswer() throws InterruptedException {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket req = sockets.open(REQ);
            ZMTPSocket rep = sockets.open(REP);
            connect(req, bind(rep, ENDPOINT));
            rep.serve(request -> CompletableFuture.completedFuture(message("answer")));

            req.send(message("question"), PATIENCE);

            assertThat(frames(req.receive(PATIENCE))).containsExactly("answer");
        }
    }
}
