package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MALFORMED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.OUTCOME_UNKNOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A REQ that sends and receives in turn. */
class StrictRequestTest {

    private static final String ENDPOINT = "inproc://strict";

    @Test
    void requestsAndAnswersComeInTurn(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, ENDPOINT));

        for (int i = 0; i < 3; i++) {
            get(req.sendAsync(message("question", "" + i)));
            assertThat(receive(rep)).containsExactly("question", "" + i);
            get(rep.sendAsync(message("answer", "" + i)));
            assertThat(receive(req)).containsExactly("answer", "" + i);
        }
    }

    /** T20. */
    @Tag("T20")
    @Test
    void aSecondSendFailsAndDoesNotDisturbTheFirst(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, ENDPOINT));
        get(req.sendAsync(message("first")));

        ZMTPMessage second = message("second");
        assertThat(reason(req.sendAsync(second))).isEqualTo(ILLEGAL_STATE);
        assertThat(second.refCnt()).isZero();
        ZMTPMessage third = message("third");
        assertThat(req.trySend(third)).isFalse();
        assertThat(third.release()).isTrue();

        assertThat(receive(rep)).containsExactly("first");
        get(rep.sendAsync(message("answer")));
        assertThat(receive(req)).containsExactly("answer");
    }

    @Test
    void aReceiveBeforeTheSendFails(TestSockets sockets) {
        assertThat(failure(sockets.open(REQ).receiveAsync())).hasMessage("ILLEGAL_STATE: receive: no request was sent");
    }

    @Test
    void aSecondReceiveFailsAndDoesNotDisturbTheFirst(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, ENDPOINT));
        get(req.sendAsync(message("question")));
        CompletableFuture<ZMTPMessage> first = req.receiveAsync();

        assertThat(failure(req.receiveAsync())).hasMessage("ILLEGAL_STATE: receive: another receive waits");

        get(rep.receiveAsync()).release();
        get(rep.sendAsync(message("answer")));
        assertThat(frames(get(first))).containsExactly("answer");
    }

    /** The delimiter is the socket's, and empty data frames are the application's. */
    @Test
    void theApplicationSeesTheDataOnly(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(ROUTER);
        connect(req, bind(router, ENDPOINT));

        get(req.sendAsync(message("", "data", "")));
        ZMTPMessage question = get(router.receiveAsync());

        assertThat(question.size()).as("name, delimiter, data").isEqualTo(5);
        get(router.sendAsync(question));
        assertThat(receive(req)).containsExactly("", "data", "");
    }

    @Test
    void requestsGoToThePeersInTurn(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        for (int i = 0; i < 3; i++) {
            String name = "rep" + i;
            ZMTPSocket rep = sockets.open(REP);
            rep.serve(request -> request.reply(message(name)));
            connect(req, bind(rep, ENDPOINT + i));
        }

        for (int i = 0; i < 9; i++) {
            get(req.sendAsync(message("who")));
            assertThat(receive(req)).containsExactly("rep" + i % 3);
        }
    }

    @Test
    void messagesOfOtherPeersAreDiscarded(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket asked = sockets.open(ROUTER);
        ZMTPSocket other = sockets.open(ROUTER);
        connect(req, bind(asked, ENDPOINT));
        ZMTPPeer from = connect(req, bind(other, ENDPOINT + "2"));
        await("the other", () -> other.peers().stream().anyMatch(TestSockets::isUp));
        get(req.sendAsync(message("question")));

        get(TestSockets.peer(other).sendAsync(message("", "wrong")));
        await("discarded", () -> from.stats().lateReplies() == 1);
        get(asked.sendAsync(get(asked.receiveAsync())));

        assertThat(receive(req)).containsExactly("question");
    }

    @Test
    void theReceiveFailsWhenThePeerLeavesAndTheNextSendWorks(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        ZMTPPeer peer = connect(req, bind(rep, ENDPOINT));
        get(req.sendAsync(message("question")));
        CompletableFuture<ZMTPMessage> received = req.receiveAsync();
        await("written", () -> peer.stats().written() == 1);

        get(rep.closeAsync(Duration.ZERO));

        assertThat(reason(received)).isEqualTo(PEER_DOWN);
        ZMTPSocket next = sockets.open(REP);
        next.serve(request -> request.reply(message("answer")));
        bind(next, ENDPOINT);
        get(req.sendAsync(message("again")));
        assertThat(receive(req)).containsExactly("answer");
    }

    @Test
    void aMalformedAnswerFailsTheReceive(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPPeer peer = connect(req, bind(router, ENDPOINT));
        get(req.sendAsync(message("question")));
        get(router.receiveAsync()).release();

        get(TestSockets.peer(router).sendAsync(message("answer")));

        assertThat(reason(req.receiveAsync())).isEqualTo(MALFORMED);
        assertThat(peer.stats().malformed()).isEqualTo(1);
        get(req.sendAsync(message("again")));
        get(router.sendAsync(get(router.receiveAsync())));
        assertThat(receive(req)).containsExactly("again");
    }

    @Test
    void theReceiveFailsIfTheRequestWasTooOldToBeSent(TestSockets sockets) {
        ZMTPSocket req = sockets.open(sockets.builder(REQ).maxMessageAge(Duration.ofMillis(1)));
        req.connect(ENDPOINT);
        CompletableFuture<Void> sent = req.sendAsync(message("question"));

        assertThat(reason(sent)).isEqualTo(EXPIRED);
        assertThat(reason(req.receiveAsync())).isEqualTo(EXPIRED);
    }

    @Test
    void theNextRequestMayBeSentAfterOneThatCouldNot(TestSockets sockets) {
        ZMTPSocket req = sockets.open(sockets.builder(REQ).maxMessageAge(Duration.ofMillis(1)));
        req.connect(ENDPOINT);
        CompletableFuture<Void> first = req.sendAsync(message("too old"));
        assertThat(reason(first)).isEqualTo(EXPIRED);
        assertThat(req.isWritable()).isTrue();
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        bind(rep, ENDPOINT);
        get(req.whenPeers(1)); // so that the next does not wait

        get(req.sendAsync(message("again")));

        assertThat(reason(req.sendAsync(message("not its turn")))).isEqualTo(ILLEGAL_STATE);
        assertThat(req.stats().dropped()).isEqualTo(2);
        assertThat(receive(req)).containsExactly("again");
    }

    /** One that cannot be encoded leaves its connection as it is. */
    @Test
    void aPeerMayBeAskedAgainAfterARequestThatCouldNotBeWritten(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        ZMTPPeer peer = connect(req, bind(rep, "tcp://127.0.0.1:*"));
        ByteBuf unreadable = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 1, 1) {
            @Override
            public ByteBuf getBytes(int index, ByteBuf to, int toIndex, int length) {
                throw new IllegalStateException("planned");
            }
        };
        ZMTPMessage broken = ZMTPMessage.from(Unpooled.copyInt(1), unreadable.writerIndex(1));
        TestSockets.Events events = TestSockets.events(req);

        assertThat(failure(req.sendAsync(broken))).hasStackTraceContaining("planned");

        get(req.sendAsync(message("again")));
        assertThat(receive(req)).containsExactly("again");
        assertThat(TestSockets.isUp(peer)).isTrue();
        assertThat(events.drain()).isEmpty();
        assertThat(peer.stats().dropped()).isEqualTo(1);
    }

    /** The connection ends with the request in it: its answer will not come, and nobody knows whether it was heard. */
    @Test
    void bothFailWhenThePeerLeavesInTheMiddleOfARequest(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket req = sockets.open(sockets.builder(REQ).pipelineInitializer(gate));
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, ENDPOINT));
        gate.close();
        CompletableFuture<Void> sent = req.sendAsync(WriteGate.big("question"));
        CompletableFuture<ZMTPMessage> received = req.receiveAsync();
        await("on its way", () -> req.stats().sent() == 1 && req.stats().queued() == 0);

        get(rep.closeAsync(Duration.ZERO));

        assertThat(reason(received)).isEqualTo(PEER_DOWN);
        assertThat(reason(sent)).isEqualTo(OUTCOME_UNKNOWN);
        gate.open();
    }

    @Test
    void aReqThatIsClosedDoesNotTakeAMessage(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        req.connect(ENDPOINT);
        get(req.closeAsync(Duration.ZERO));
        ZMTPMessage message = message("late");

        assertThat(req.trySend(message)).isFalse();

        message.release();
    }

    @Test
    void theAnswerThatNobodyHasReceivedIsReleasedAtTheClose(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        ZMTPPeer peer = connect(req, bind(rep, "tcp://127.0.0.1:*"));
        rep.serve(request -> request.reply(message("x".repeat(2_000)))); // of a tracked buffer
        get(req.sendAsync(message("question")));
        await("the answer", () -> peer.stats().received() == 1);

        get(req.closeAsync(Duration.ZERO));
    }

    @Test
    void aReceiveThatWaitsFailsAtTheClose(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        req.sendAsync(message("question"));
        CompletableFuture<ZMTPMessage> received = req.receiveAsync();

        get(req.closeAsync(Duration.ZERO));

        assertThat(reason(received)).isEqualTo(CLOSED);
        assertThat(reason(req.receiveAsync())).isEqualTo(CLOSED);
    }

    @Test
    void theAnswerToACancelledReceiveGoesToTheNextOne(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, ENDPOINT));
        get(req.sendAsync(message("question")));

        assertThat(req.receiveAsync().cancel(false)).isTrue();
        CompletableFuture<ZMTPMessage> timedOut = req.receiveAsync().orTimeout(1, TimeUnit.MILLISECONDS);
        await("its end", timedOut::isDone);
        get(rep.receiveAsync()).release();
        get(rep.sendAsync(message("answer")));

        assertThat(receive(req)).containsExactly("answer");
    }

    /** T71 in part: cancelled in the moment of the answer, it gets the answer, or the next receive does. */
    @Tag("T71")
    @Test
    void aReceiveCancelledInTheMomentOfTheAnswerLosesNothing(TestSockets sockets) throws InterruptedException {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        connect(req, bind(rep, ENDPOINT));

        for (int i = 0; i < 3_000; i++) {
            get(req.sendAsync(message("" + i)));
            CompletableFuture<ZMTPMessage> first = req.receiveAsync();
            for (int spin = 0; spin < i % 100 * 20; spin++) {
                Thread.onSpinWait();
            }
            CompletableFuture<ZMTPMessage> got = first.cancel(false) ? req.receiveAsync() : first;
            assertThat(frames(get(got))).containsExactly("" + i);
        }
    }

    /** What is queued has time to leave, although its answer is no longer awaited. */
    @Test
    void aRequestThatLeavesAfterTheCloseHasBeenSent(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(ROUTER);
        req.connect(ENDPOINT);
        CompletableFuture<Void> sent = req.sendAsync(message("question"));
        await("in the queue", () -> req.stats().queued() == 1);
        CompletableFuture<ZMTPMessage> answer = req.receiveAsync();

        CompletableFuture<ZMTPStats> closed = req.closeAsync(PATIENCE);
        assertThat(reason(answer)).isEqualTo(CLOSED);
        bind(router, ENDPOINT);

        get(sent);
        assertThat(receive(router)).endsWith("", "question");
        assertThat(get(closed).dropped()).isZero();
    }

    /** A request that was given to the blocking calls. */
    @Test
    void theBlockingReceiveReturnsTheAnswer(TestSockets sockets) throws InterruptedException {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, ENDPOINT));
        rep.serve(request -> request.reply(message("answer")));

        req.send(message("question"));

        assertThat(frames(req.receive(PATIENCE))).containsExactly("answer");
    }

    @Test
    void ofTwoThreadsThatSendAtOnceOneKeepsItsMessage(TestSockets sockets) throws Exception {
        for (int round = 0; round < 100; round++) {
            ZMTPSocket req = sockets.open(REQ);
            req.connect("inproc://nobody");
            List<ZMTPMessage> kept = new CopyOnWriteArrayList<>();
            CyclicBarrier start = new CyclicBarrier(2);
            Callable<Boolean> send = () -> {
                ZMTPMessage mine = message("mine");
                start.await();
                boolean taken = req.trySend(mine);
                if (!taken) {
                    kept.add(mine);
                }
                return taken;
            };
            FutureTask<Boolean> first = new FutureTask<>(send);
            new Thread(first).start();
            boolean second = send.call();

            assertThat(first.get()).isNotEqualTo(second);
            assertThat(kept).hasSize(1).allMatch(ZMTPMessage::release);
        }
    }
}
