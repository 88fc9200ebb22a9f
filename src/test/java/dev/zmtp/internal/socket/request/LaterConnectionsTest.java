package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.UNROUTABLE;
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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests whose connection ends before they are answered, and whose peer is there again. A REQ would take their
 * answers for the answer to its next request, because its requests have no ids.
 */
class LaterConnectionsTest {

    private static final String TCP = "tcp://127.0.0.1:*";

    /** The connection of the request ends. The server connects again. */
    private static void reconnect(ZMTPSocket asker, CompletableFuture<ZMTPMessage> asked) {
        TestSockets.peer(asker).close();
        assertThat(reason(asked)).isEqualTo(PEER_DOWN);
    }

    private static CompletableFuture<ZMTPMessage> ask(ZMTPSocket asker, String text) {
        get(asker.whenPeers(1));
        return asker.requestAsync(message(text), PATIENCE);
    }

    @ParameterizedTest
    @CsvSource({"REQ, REP", "REQ, ROUTER", "DEALER, REP", "DEALER, ROUTER"})
    void aHandlersAnswerIsNotSentOverALaterConnection(
            ZMTPSocketType asking, ZMTPSocketType serving, TestSockets sockets) {
        ZMTPSocket asker = sockets.open(asking);
        ZMTPSocket server = sockets.open(serving);
        BlockingQueue<ZMTPRequest> requests = new LinkedBlockingQueue<>();
        server.serve(requests::add);
        connect(server, bind(asker, TCP));
        CompletableFuture<ZMTPMessage> first = ask(asker, "first");
        ZMTPRequest early = next(requests);
        reconnect(asker, first);
        CompletableFuture<ZMTPMessage> second = ask(asker, "second");
        ZMTPRequest late = next(requests);

        boolean hasIds = asking == DEALER && serving == ROUTER; // a DEALER can take any message from a ROUTER
        assertThat(early.reply(message("answer to the first"))).isEqualTo(hasIds);
        assertThat(late.reply(message("answer to the second"))).isTrue();

        assertThat(frames(get(second))).containsExactly("answer to the second");
    }

    private static ZMTPRequest next(BlockingQueue<ZMTPRequest> requests) {
        await("a request", () -> !requests.isEmpty());
        return requests.remove();
    }

    @Test
    void anAnswerInTurnIsNotSentOverALaterConnection(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(rep, bind(req, TCP));
        CompletableFuture<ZMTPMessage> first = ask(req, "first");
        get(rep.receiveAsync()).release();
        reconnect(req, first);
        CompletableFuture<ZMTPMessage> second = ask(req, "second");

        assertThat(reason(rep.sendAsync(message("answer to the first")))).isEqualTo(PEER_DOWN);
        assertThat(receive(rep)).containsExactly("second");
        get(rep.sendAsync(message("answer to the second")));

        assertThat(frames(get(second))).containsExactly("answer to the second");
    }

    @Test
    void aThreadThatAnswersIsToldThatTheConnectionHasEnded(TestSockets sockets) throws InterruptedException {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(rep, bind(req, TCP));
        CompletableFuture<ZMTPMessage> first = ask(req, "first");
        rep.receive().release();
        reconnect(req, first);
        CompletableFuture<ZMTPMessage> second = ask(req, "second");

        assertThatThrownBy(() -> rep.send(message("answer to the first")))
                .isInstanceOfSatisfying(
                        ZMTPSocketException.class, e -> assertThat(e.reason()).isEqualTo(PEER_DOWN));
        assertThat(frames(rep.receive())).containsExactly("second");
        rep.send(message("answer to the second"));

        assertThat(frames(get(second))).containsExactly("answer to the second");
    }

    @ParameterizedTest
    @EnumSource(names = {"REP", "ROUTER"})
    void aRequestThatWaitsAtTheEndOfItsConnectionIsDropped(ZMTPSocketType serving, TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket server = sockets.open(serving);
        TestSockets.Events events = events(server);
        connect(server, bind(req, TCP));
        CompletableFuture<ZMTPMessage> first = ask(req, "first");
        await("it waits", () -> server.stats().received() == 1);
        reconnect(req, first);
        assertThat(events.next(Dropped.class).reason()).isEqualTo(DropReason.REQUESTER_DOWN);
        CompletableFuture<ZMTPMessage> second = ask(req, "second");

        server.serve(
                request -> request.reply(message("answer to", request.message().frameUTF8(0))));

        assertThat(frames(get(second))).containsExactly("answer to", "second");
    }

    @Test
    void anAnswerThatWaitsForRoomAtTheEndOfItsConnectionIsDropped(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket server = sockets.open(sockets.builder(ROUTER).pipelineInitializer(gate));
        BlockingQueue<ZMTPRequest> requests = new LinkedBlockingQueue<>();
        server.serve(requests::add);
        connect(server, bind(req, TCP));
        CompletableFuture<ZMTPMessage> first = ask(req, "first");
        ZMTPRequest early = next(requests);
        gate.close();
        ZMTPPeer peer = TestSockets.peer(server);
        peer.sendOrDrop(WriteGate.big("fills the transport"));
        early.reply(message("answer to the first"));
        await("it waits", () -> peer.stats().queued() == 1);

        reconnect(req, first);
        gate.open();
        CompletableFuture<ZMTPMessage> second = ask(req, "second");
        next(requests).reply(message("answer to the second"));

        assertThat(frames(get(second))).containsExactly("answer to the second");
    }

    /** A connected ROUTER has taken the first request of a REQ, whose connection has ended. */
    private static ZMTPMessage takenBeforeTheEnd(ZMTPSocket req, ZMTPSocket router) {
        connect(router, bind(req, TCP));
        CompletableFuture<ZMTPMessage> first = ask(req, "first");
        ZMTPMessage taken = get(router.receiveAsync());
        reconnect(req, first);
        return taken;
    }

    @Test
    void anAnswerByNameIsNotSentOverALaterConnection(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPMessage early = takenBeforeTheEnd(req, router);
        CompletableFuture<ZMTPMessage> second = ask(req, "second");
        ZMTPMessage late = get(router.receiveAsync());

        assertThat(reason(router.sendAsync(early))).isEqualTo(UNROUTABLE);
        get(router.sendAsync(late));

        assertThat(frames(get(second))).containsExactly("second");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAnswerByNameIsNotKeptForALaterConnection(boolean onLoop, TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).reconnectDelay(PATIENCE, PATIENCE));
        connect(router, bind(req, TCP));
        CompletableFuture<ZMTPMessage> first = ask(req, "first");
        ZMTPMessage taken = get(router.receiveAsync());
        TestSockets.peer(req).close();
        assertThat(reason(first)).isEqualTo(PEER_DOWN);
        await("the end", () -> router.peers().stream().noneMatch(TestSockets::isUp));
        TestSockets.Events events = events(router);

        Runnable send = () -> assertThat(router.trySend(taken)).isTrue();
        if (onLoop) {
            get(CompletableFuture.runAsync(
                    send, ClockedSockets.core(router).context().eventLoop()));
        } else {
            send.run();
        }

        assertThat(events.next(Dropped.class).reason()).isEqualTo(DropReason.NO_PEER);
        assertThat(router.stats().queued()).isZero();
    }
}
