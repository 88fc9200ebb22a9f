package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A REP that receives and sends in turn. */
class StrictReplyTest {

    private static final String ENDPOINT = "inproc://strict";

    private final WriteGate gate = new WriteGate();

    /** There may be any number of askers. */
    @Test
    void eachAnswerGoesToThePeerThatAsked(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        String endpoint = bind(rep, ENDPOINT);
        List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ZMTPSocket asker = sockets.open(i % 2 == 0 ? REQ : DEALER);
            connect(asker, endpoint);
            asked.add(asker.requestAsync(message("q" + i), PATIENCE));
        }

        for (int i = 0; i < 5; i++) {
            String question = receive(rep).get(0);
            get(rep.sendAsync(message("answer to " + question)));
        }

        for (int i = 0; i < 5; i++) {
            assertThat(frames(get(asked.get(i)))).containsExactly("answer to q" + i);
        }
    }

    @Test
    void aSendBeforeTheReceiveFails(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPMessage early = message("early");
        assertThat(reason(rep.sendAsync(early))).isEqualTo(ILLEGAL_STATE);
        assertThat(early.refCnt()).isZero();
        ZMTPMessage tried = message("early");
        assertThat(rep.trySend(tried)).isFalse();
        tried.release();
        assertThat(rep.stats().dropped()).isEqualTo(1);
    }

    @Test
    void aReceiveBeforeTheAnswerFailsAndDoesNotDisturbTheRequest(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        get(req.sendAsync(message("question")));
        get(rep.receiveAsync()).release();

        assertThat(reason(rep.receiveAsync())).isEqualTo(ILLEGAL_STATE);

        get(rep.sendAsync(message("answer")));
        assertThat(receive(req)).containsExactly("answer");
    }

    /** One answer for each request. */
    @Test
    void aSecondAnswerFails(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        get(req.sendAsync(message("question")));
        get(rep.receiveAsync()).release();
        get(rep.sendAsync(message("answer")));

        assertThat(reason(rep.sendAsync(message("another")))).isEqualTo(ILLEGAL_STATE);
        assertThat(receive(req)).containsExactly("answer");
    }

    /** A frame whose bytes cannot be copied. */
    private static ByteBuf tooMuch() {
        return new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 1, 1) {
            @Override
            public byte[] array() {
                throw new OutOfMemoryError("of the test");
            }

            @Override
            public boolean hasArray() {
                throw new OutOfMemoryError("of the test");
            }
        }.setIndex(0, 1);
    }

    @Test
    void aReceiveFailsIfThereIsNoMemoryForTheEnvelopeAndTheNextIsServed(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, ENDPOINT));
        CompletableFuture<ZMTPMessage> received = rep.receiveAsync();
        ZMTPMessage lost = ZMTPMessage.from(tooMuch(), Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);

        dealer.sendOrDrop(lost);

        assertThat(TestSockets.failure(received)).isInstanceOf(OutOfMemoryError.class);
        await("its release", () -> lost.refCnt() == 0);
        get(dealer.sendAsync(message("", "question")));
        assertThat(receive(rep)).containsExactly("question");
    }

    /** Several names, as of several ROUTERs on the way. */
    @Test
    void theEnvelopeIsKeptForTheAnswer(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, ENDPOINT));

        get(dealer.sendAsync(message("id3", "id2", "id1", "", "", "data", "")));
        assertThat(receive(rep)).as("data").containsExactly("", "data", "");
        get(rep.sendAsync(message("", "reply")));
        assertThat(receive(dealer)).containsExactly("id3", "id2", "id1", "", "", "reply");

        get(dealer.sendAsync(message("", "data")));
        assertThat(receive(rep)).containsExactly("data");
        get(rep.sendAsync(message("reply")));
        assertThat(receive(dealer)).containsExactly("", "reply");
    }

    /** T14. */
    @Tag("T14")
    @Test
    void malformedRequestsAreCountedAndTheNextGoodOneIsServed(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, ENDPOINT));

        get(dealer.sendAsync(message("x")));
        get(dealer.sendAsync(message("a", "b", "c")));
        get(dealer.sendAsync(message("")));
        get(dealer.sendAsync(message("", "")));

        assertThat(receive(rep)).containsExactly("");
        assertThat(TestSockets.peer(rep).stats().malformed()).isEqualTo(3);
        get(rep.sendAsync(message("served")));
        assertThat(receive(dealer)).containsExactly("", "served");
    }

    private static void takeTheRequestOfAPeerThatLeaves(ZMTPSocket rep, TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        get(req.sendAsync(message("question")));
        get(rep.receiveAsync()).release();
        get(req.closeAsync(Duration.ZERO));
        await("nobody", () -> rep.peers().isEmpty());
    }

    @Test
    void theAnswerToAPeerThatHasLeftFails(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        takeTheRequestOfAPeerThatLeaves(rep, sockets);

        assertThat(reason(rep.sendAsync(message("answer")))).isEqualTo(PEER_DOWN);

        assertThat(rep.stats().dropped()).isEqualTo(1);
    }

    /** Nobody else would say so, because the caller has no future. */
    @Test
    void anAnswerThatIsDroppedAfterItWasAcceptedIsReported(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        TestSockets.Events events = events(rep);
        takeTheRequestOfAPeerThatLeaves(rep, sockets);

        assertThat(rep.trySend(message("answer"))).isTrue();

        assertThat(events.next(Dropped.class).reason()).isEqualTo(DropReason.PEER_DOWN);
    }

    /** An answer for which there is no room does not wait, whichever thread sends it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAnswerToAFullPeerFailsAtOnce(boolean onLoop, TestSockets sockets) {
        ZMTPSocket rep =
                sockets.open(sockets.builder(REP).sendQueueLimit(1, 1 << 20).pipelineInitializer(gate));
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, "tcp://127.0.0.1:*"));
        for (int i = 0; i < 3; i++) {
            get(dealer.sendAsync(message("", "question")));
        }
        gate.close();
        get(rep.receiveAsync()).release();
        CompletableFuture<Void> first = rep.sendAsync(WriteGate.big("transport"));
        await("on its way", () -> rep.stats().sent() == 1 && rep.stats().queued() == 0);
        get(rep.receiveAsync()).release();
        CompletableFuture<Void> second = rep.sendAsync(WriteGate.big("queue"));
        await("in the queue", () -> TestSockets.peer(rep).stats().queued() == 1);
        get(rep.receiveAsync()).release();

        CompletableFuture<Void> third = onLoop
                ? get(CompletableFuture.supplyAsync(
                        () -> rep.sendAsync(message("no room")),
                        ClockedSockets.core(rep).context().eventLoop()))
                : rep.sendAsync(message("no room"));
        assertThat(reason(third)).isEqualTo(FULL);

        gate.open();
        get(first);
        get(second);
        get(dealer.receiveAsync()).release();
        get(dealer.receiveAsync()).release();
    }

    @Test
    void theRequestOfACancelledReceiveGoesToTheNextOne(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));

        assertThat(rep.receiveAsync().cancel(false)).isTrue();
        CompletableFuture<ZMTPMessage> timedOut = rep.receiveAsync().orTimeout(1, TimeUnit.MILLISECONDS);
        await("its end", timedOut::isDone);
        get(req.sendAsync(message("question")));

        assertThat(receive(rep)).containsExactly("question");
    }

    /** T71 in part: cancelled in the moment of the request, it gets the request, or the next receive does. */
    @Tag("T71")
    @Test
    void aReceiveCancelledInTheMomentOfTheRequestLosesNothing(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));

        for (int i = 0; i < 3_000; i++) {
            CompletableFuture<ZMTPMessage> first = rep.receiveAsync();
            req.sendAsync(message("" + i));
            for (int spin = 0; spin < i % 100 * 20; spin++) {
                Thread.onSpinWait();
            }
            CompletableFuture<ZMTPMessage> got = first.cancel(false) ? rep.receiveAsync() : first;
            assertThat(frames(get(got))).containsExactly("" + i);
            get(rep.sendAsync(message("answer")));
            assertThat(receive(req)).containsExactly("answer");
        }
    }

    @Test
    void aReceiveThatWaitsFailsAtTheClose(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        CompletableFuture<ZMTPMessage> received = rep.receiveAsync();

        get(rep.closeAsync(Duration.ZERO));

        assertThat(reason(received)).isEqualTo(CLOSED);
        assertThat(reason(rep.receiveAsync())).isEqualTo(CLOSED);
    }
}
