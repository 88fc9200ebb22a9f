package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Peers whose connector is being closed: they get what is queued, and nothing that is sent from then on. */
class LeavingPeersTest {

    private static final String ENDPOINT = "inproc://leaving";

    private final WriteGate gate = new WriteGate();

    @ParameterizedTest
    @CsvSource({"PUB, SUB", "XSUB, XPUB"})
    void whatIsPublishedNoLongerGoesToAPeerThatLeaves(ZMTPSocketType type, ZMTPSocketType other, TestSockets sockets) {
        ZMTPSocket leaving = sockets.open(sockets.builder(type).pipelineInitializer(gate));
        ZMTPSocket there = sockets.open(other);
        if (other == SUB) {
            there.subscribe("");
        }
        ZMTPEndpoint connector = leaving.connect(bind(there, "tcp://127.0.0.1:*"));
        ZMTPPeer peer = TestSockets.peerOf(get(connector.readyFuture()));
        if (type == PUB) {
            get(leaving.whenPeers(1));
        }
        gate.close();
        get(leaving.sendAsync(WriteGate.big("transport")));
        get(leaving.sendAsync(message("queue")));

        CompletableFuture<Void> closed = TestSockets.disconnect(connector);
        get(CompletableFuture.runAsync(
                () -> {}, ClockedSockets.core(leaving).context().eventLoop())); // which closes it before this
        get(leaving.sendAsync(message("late")));

        assertThat(peer.stats().queued()).isEqualTo(1);
        gate.open();
        assertThat(WriteGate.text(get(there.receiveAsync()))).isEqualTo("transport");
        assertThat(receive(there)).containsExactly("queue");
        get(closed);
    }

    @Test
    void answersNoLongerGoToAPeerThatLeaves(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(sockets.builder(REP).pipelineInitializer(gate));
        ZMTPSocket dealer = sockets.open(DEALER);
        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        rep.serve(TestSockets.answering(request -> {
            CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
            answers.add(answer);
            return answer;
        }));
        ZMTPEndpoint connector = rep.connect(bind(dealer, "tcp://127.0.0.1:*"));
        ZMTPPeer peer = TestSockets.peerOf(get(connector.readyFuture()));
        get(dealer.whenPeers(1));
        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(message("1"), TestSockets.PATIENCE);
        CompletableFuture<ZMTPMessage> second = dealer.requestAsync(message("2"), TestSockets.PATIENCE);
        await("both", () -> peer.stats().received() == 2);
        gate.close();
        ClockedSockets.core(rep).context().executeHere(() -> answers.get(0).complete(WriteGate.big("transport")));

        CompletableFuture<Void> closed = TestSockets.disconnect(connector);
        ClockedSockets.core(rep).context().executeHere(() -> answers.get(1).complete(message("late")));

        await("dropped", () -> rep.stats().dropped() == 1);
        assertThat(peer.stats().queued()).isZero();
        gate.open();
        assertThat(WriteGate.text(get(first))).isEqualTo("transport");
        get(closed);
        assertThat(reason(second)).isEqualTo(ZMTPSocketException.Reason.PEER_DOWN);
    }

    /** The connector was closed while its peer was away, and waits for it with what is queued. */
    @Test
    void aPeerThatReturnsToLeaveHasNoNameAnyMore(TestSockets sockets) {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).pipelineInitializer(gate));
        ZMTPEndpoint connector = router.connect(ENDPOINT);
        ZMTPSocket gone = sockets.open(named("A", sockets));
        bind(gone, ENDPOINT);
        ZMTPPeer peer = TestSockets.peerOf(get(connector.readyFuture()));
        get(gone.closeAsync(Duration.ZERO));
        await("away", () -> !TestSockets.isUp(peer));
        CompletableFuture<Void> queued = router.sendAsync(named("A", WriteGate.big("queued")));
        await("queued", () -> peer.stats().queued() == 1);
        CompletableFuture<Void> closed = TestSockets.disconnect(connector);

        gate.close();
        ZMTPSocket back = sockets.open(named("A", sockets));
        bind(back, ENDPOINT);
        await("back", () -> TestSockets.isUp(peer) && peer.stats().queued() == 0);

        assertThat(reason(router.sendAsync(message("A", "late")))).isEqualTo(ZMTPSocketException.Reason.UNROUTABLE);
        gate.open();
        get(queued);
        get(closed);
        assertThat(WriteGate.text(get(back.receiveAsync()))).isEqualTo("queued");
    }

    private static ZMTPSocketConfig.Builder named(String name, TestSockets sockets) {
        return sockets.builder(DEALER).codec(codec -> codec.localIdentity(name));
    }

    private static ZMTPMessage named(String name, ZMTPMessage message) {
        ZMTPMessage named = message.push(Unpooled.copiedBuffer(name, StandardCharsets.UTF_8));
        message.release();
        return named;
    }
}
