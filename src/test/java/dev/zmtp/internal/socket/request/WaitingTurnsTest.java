package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Threads that send with a REQ or REP, and wait. */
class WaitingTurnsTest {

    private final WriteGate gate = new WriteGate();

    @AfterEach
    void open() {
        gate.open();
    }

    private static void assertFails(ZMTPSocketException.Reason reason, ZMTPSocket socket, ZMTPMessage message) {
        assertThatThrownBy(() -> socket.send(message))
                .isInstanceOf(ZMTPSocketException.class)
                .hasFieldOrPropertyWithValue("reason", reason);
        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aRequestWaitsForItsPeerAfterTheSend(TestSockets sockets) throws InterruptedException {
        ZMTPSocket req = sockets.open(REQ);
        req.send(message("question"));
        assertFails(ILLEGAL_STATE, req, message("another"));
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));

        req.connect(bind(rep, "tcp://127.0.0.1:*"));

        assertThat(frames(req.receive(PATIENCE))).containsExactly("question");
    }

    @Test
    void anInterruptedThreadSendsNoRequest(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        AtomicInteger requests = new AtomicInteger();
        rep.serve(request -> {
            requests.incrementAndGet();
            request.reply(request.message());
        });
        ZMTPSocket req = sockets.open(REQ);
        connect(req, bind(rep, "tcp://127.0.0.1:*"));
        ZMTPMessage message = message("late");

        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> req.request(message, PATIENCE)).isInstanceOf(InterruptedException.class);

        assertThat(message.refCnt()).isZero();
        assertThat(frames(get(req.requestAsync(message("next"), PATIENCE)))).containsExactly("next");
        assertThat(requests).hasValue(1);
    }

    @Test
    void anAnswerIsSentInTurn(TestSockets sockets) throws InterruptedException {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        req.connect(bind(rep, "tcp://127.0.0.1:*"));
        assertFails(ILLEGAL_STATE, rep, message("unasked"));
        for (int i = 0; i < 3; i++) {
            req.send(message("question"));
            rep.receive().release();
            rep.send(message("answer"));
            assertThat(frames(req.receive())).containsExactly("answer");
        }
        req.send(message("last"));
        rep.receive().release();
        req.close();
        await("it has left", () -> rep.peers().isEmpty());

        assertFails(PEER_DOWN, rep, message("late"));
    }

    /** One that asks and never reads must not keep a REP from answering the others. */
    @Test
    void anAnswerDoesNotWaitForItsPeer(TestSockets sockets) throws InterruptedException {
        ZMTPSocket rep =
                sockets.open(sockets.builder(REP).pipelineInitializer(gate).sendQueueLimit(1, 1 << 20));
        ZMTPSocket mute = sockets.open(DEALER);
        String endpoint = bind(rep, "tcp://127.0.0.1:*");
        connect(mute, endpoint);
        for (int i = 0; i < 4; i++) {
            mute.send(message("", "question"));
        }
        await("all have arrived", () -> rep.stats().received() == 4);
        gate.close();

        List<ZMTPSocketException.Reason> refused = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            rep.receive(PATIENCE).release();
            try {
                rep.send(WriteGate.big("" + i), PATIENCE);
            } catch (ZMTPSocketException e) {
                refused.add(e.reason());
            }
            settle(rep);
        }
        assertThat(refused)
                .as("the first is with the transport, and one is queued")
                .containsExactly(FULL, FULL);

        gate.open();
        assertThat(WriteGate.text(mute.receive(PATIENCE))).isEqualTo("0");
        assertThat(WriteGate.text(mute.receive(PATIENCE))).isEqualTo("1");
    }

    @Test
    void afterASendThatFailsItIsTheTurnOfARepToSendAgain(TestSockets sockets) throws InterruptedException {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket req = sockets.open(REQ);
        req.connect(bind(rep, "tcp://127.0.0.1:*"));
        req.send(message("question"));
        rep.receive().release();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> rep.send(message("lost"))).isInstanceOf(InterruptedException.class);

        rep.send(message("answer"));

        assertThat(frames(req.receive(PATIENCE))).containsExactly("answer");
    }

    @Test
    void aRepWhoseAskerHasLeftReceivesTheNextQuestion(TestSockets sockets) throws InterruptedException {
        ZMTPSocket rep = sockets.open(REP);
        String endpoint = bind(rep, "tcp://127.0.0.1:*");
        ZMTPSocket first = sockets.open(REQ);
        first.connect(endpoint);
        first.send(message("first"));
        rep.receive().release();
        first.close();
        await("it has left", () -> rep.peers().isEmpty());
        assertFails(PEER_DOWN, rep, message("late"));
        ZMTPSocket second = sockets.open(REQ);
        second.connect(endpoint);

        second.send(message("second"));

        assertThat(frames(rep.receive(PATIENCE))).containsExactly("second");
    }
}
