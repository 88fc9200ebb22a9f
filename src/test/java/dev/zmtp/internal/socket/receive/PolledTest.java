package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Receives that do not wait. */
class PolledTest {

    private static final String ENDPOINT = "inproc://polled";

    /** More than futures that may complete in one task. */
    private static final int MANY = 3_000;

    private static ZMTPSocketException refusal(ZMTPSocket socket) {
        return catchThrowableOfType(ZMTPSocketException.class, socket::tryReceive);
    }

    /** Returns the next message, which may be on its way. */
    private static List<String> next(ZMTPSocket socket) {
        List<ZMTPMessage> got = new ArrayList<>();
        await("a message", () -> {
            ZMTPMessage message = socket.tryReceive();
            return message != null && got.add(message);
        });
        return frames(got.get(0));
    }

    @Test
    void aMessageThatWaitsIsTakenOnce(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));
        assertThat(pull.tryReceive()).isNull();

        get(push.sendAsync(message("first")));
        get(push.sendAsync(message("second")));

        assertThat(next(pull)).containsExactly("first");
        assertThat(next(pull)).containsExactly("second");
        assertThat(pull.tryReceive()).isNull();
    }

    @Test
    void theNameOfThePeerComesFirst(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).codec(c -> c.localIdentity("worker")));
        connect(dealer, bind(router, ENDPOINT));
        dealer.sendOrDrop(message("m"));

        assertThat(next(router)).containsExactly("worker", "m");
    }

    /** A receive that would wait for the next message gets that one. */
    @Test
    void aMessageThatAnotherReceiveWaitsForIsLeft(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));
        CompletableFuture<ZMTPMessage> waits = pull.receiveAsync();

        assertThat(pull.tryReceive()).isNull();
        push.sendOrDrop(message("m"));

        assertThat(frames(get(waits))).containsExactly("m");
    }

    /** It completes no future, so no task has to come in between. */
    @Test
    void onTheEventLoopAllThatWaitAreTakenInOneTask(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(2 * MANY, 1 << 30));
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));
        CompletableFuture<Void> last = new CompletableFuture<>();
        for (int i = 0; i < MANY; i++) {
            last = push.sendAsync(message("m"));
            get(last);
        }
        await("all there", () -> pull.stats().received() == MANY);

        int taken = get(CompletableFuture.supplyAsync(
                () -> {
                    int count = 0;
                    for (ZMTPMessage m = pull.tryReceive(); m != null; m = pull.tryReceive()) {
                        m.release();
                        count++;
                    }
                    return count;
                },
                pull.eventLoop()));

        assertThat(taken).isEqualTo(MANY);
    }

    @Test
    void itThrowsWhereAReceiveWouldFail(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        assertThatThrownBy(sockets.open(PUSH)::tryReceive)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("receive: not with PUSH (expected: a type that receives)");

        ZMTPRegistration handler = pull.onMessage((peer, message) -> message.release());
        assertThat(refusal(pull)).hasFieldOrPropertyWithValue("reason", ILLEGAL_STATE);
        handler.close();
        assertThat(pull.tryReceive()).isNull();

        get(pull.closeAsync(Duration.ZERO));
        assertThat(refusal(pull)).hasFieldOrPropertyWithValue("reason", CLOSED);
    }

    @Test
    void aReqAndARepKeepTheirTurns(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        assertThat(rep.tryReceive()).isNull();
        assertThat(refusal(req)).as("no request was sent").hasFieldOrPropertyWithValue("reason", ILLEGAL_STATE);

        for (int i = 0; i < 3; i++) {
            get(req.sendAsync(message("question")));
            assertThat(req.tryReceive()).as("still awaited").isNull();
            assertThat(next(rep)).containsExactly("question");
            assertThat(refusal(rep)).as("not answered").hasFieldOrPropertyWithValue("reason", ILLEGAL_STATE);
            get(rep.sendAsync(message("answer")));
            assertThat(next(req)).containsExactly("answer");
        }
    }

    /** A listener for room hears when it is the turn to send, as after any receive. */
    @Test
    void whoWaitsForItsTurnToSendHearsOfIt(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        rep.onWritable(() -> {
            if (rep.isWritable()) {
                rep.sendOrDrop(message("answer"));
            }
        });
        for (int i = 0; i < 2; i++) {
            get(req.sendAsync(message("question")));

            assertThat(next(rep)).containsExactly("question");
            assertThat(next(req)).containsExactly("answer");
        }
    }

    @Test
    void whoWasRefusedBecauseItWasNotItsTurnHearsWhenItIs(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        rep.serve(request -> request.reply(request.message()));
        Queue<ZMTPMessage> questions = new ConcurrentLinkedQueue<>(List.of(message("1"), message("2"), message("3")));
        req.onWritable(() -> {
            while (!questions.isEmpty() && req.trySend(questions.peek())) {
                questions.remove();
            }
        });

        for (int i = 1; i <= 3; i++) {
            int left = 3 - i;
            await("it has asked", () -> questions.size() == left);
            assertThat(next(req)).containsExactly(Integer.toString(i));
        }
    }

    /** One that answers would answer a question that its receiver does not have yet. */
    @Test
    void listenersForRoomAreCalledWhenTheMessageWasReturned(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        List<String> order = new ArrayList<>();
        rep.onWritable(() -> order.add("turn"));
        get(req.sendAsync(message("question")));
        await("it is there", () -> rep.stats().received() == 1);

        rep.eventLoop().execute(() -> {
            order.addAll(frames(rep.tryReceive()));
            order.add("returned");
        });
        settle(rep);
        settle(rep);

        assertThat(order).containsExactly("question", "returned", "turn");
    }

    @Test
    void theFailureOfARequestIsThrownOnce(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        String endpoint = bind(rep, "tcp://127.0.0.1:*");
        connect(req, endpoint);
        get(req.sendAsync(message("question")));
        assertThat(next(rep)).containsExactly("question");

        get(rep.closeAsync(Duration.ZERO));

        List<ZMTPSocketException> thrown = new ArrayList<>();
        await("the failure", () -> {
            ZMTPSocketException failure = refusal(req);
            return failure != null && thrown.add(failure);
        });
        assertThat(thrown.get(0)).hasFieldOrPropertyWithValue("reason", PEER_DOWN);
        assertThat(refusal(req)).as("no request was sent").hasFieldOrPropertyWithValue("reason", ILLEGAL_STATE);
    }

    @Test
    void aCloseReleasesWhatWasNotTaken(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, ENDPOINT));
        ZMTPMessage question = message("question");
        get(req.sendAsync(question));
        settle(rep);
        get(rep.closeAsync(Duration.ZERO));
        assertThat(question.refCnt()).isZero();
        assertThat(refusal(rep)).hasFieldOrPropertyWithValue("reason", CLOSED);
        settle(rep);
        assertThat(refusal(rep)).as("it is still its turn").hasFieldOrPropertyWithValue("reason", CLOSED);
    }
}
