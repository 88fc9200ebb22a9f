package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.send.WaitingThread.State;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.WriteGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The lines of threads that wait for a place in the queue of a peer. The event loop is the thread of the test. */
@Tag("netty-4.2-only")
class PlaceLinesTest {

    private static final String ENDPOINT = "test://places";
    private static final int LIMIT = 8;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final WriteGate gate = new WriteGate();
    private PlaceLines lines;
    private Peer peer;

    @BeforeEach
    void open() {
        ZMTPSocket router = loop.open(
                ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(LIMIT, 1 << 20).pipelineInitializer(gate));
        router.bind(ENDPOINT);
        loop.run();
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.onMessage((from, message) -> message.release());
        dealer.connect(ENDPOINT);
        loop.run();
        peer = (Peer) router.peers().iterator().next();
        lines = new PlaceLines(ClockedSockets.core(router).context());
        gate.close();
        peer.sendOrDrop(WriteGate.big("big"));
        for (int i = 0; i < LIMIT; i++) {
            assertThat(lines.reserve(peer)).isTrue();
        }
    }

    @AfterEach
    void close() {
        gate.open();
        loop.close();
    }

    private WaitingThread joined() {
        WaitingThread thread = new WaitingThread();
        lines.join(peer, thread);
        loop.run();
        return thread;
    }

    private void free(int places) {
        for (int i = 0; i < places; i++) {
            peer.queue().unreserve();
            lines.freed(peer);
        }
    }

    @Test
    void aThreadGetsAPlaceWhenAQuarterIsFree() {
        WaitingThread thread = joined();

        free(LIMIT / 4 - 1);
        assertThat(thread.state()).isEqualTo(State.WAITS);
        free(1);

        assertThat(thread.state()).isEqualTo(State.HAS_ROOM);
        assertThat(peer.queue().isAwaited()).isFalse();
    }

    @Test
    void nobodyPassesTheLine() {
        joined();
        free(1);

        assertThat(peer.queue().hasRoom()).isTrue();
        assertThat(lines.reserve(peer)).isFalse();
    }

    /** A peer that does not read would otherwise keep all that ever gave up, with their threads. */
    @Test
    void thoseThatGaveUpLeaveTheLineAlsoBehindOneThatWaits() {
        WaitingThread first = joined();
        for (int i = 0; i < 100; i++) {
            WaitingThread late = joined();
            assertThat(late.end(State.GAVE_UP)).isTrue();
            lines.left(peer);
            loop.run();
        }

        assertThat(lines.size()).isEqualTo(1);
        free(LIMIT / 4);
        assertThat(first.state()).isEqualTo(State.HAS_ROOM);
        assertThat(peer.queue().messagesLeft()).isEqualTo(LIMIT / 4 - 1);
    }

    @Test
    void theEndOfTheLastOneEndsTheLine() {
        WaitingThread only = joined();
        free(1);

        assertThat(only.end(State.GAVE_UP)).isTrue();
        lines.left(peer);
        loop.run();

        assertThat(lines.reserve(peer)).isTrue();
    }

    @Test
    void aPeerThatHasLeftEndsTheWaits() {
        WaitingThread thread = joined();
        peer.close();
        gate.open();
        loop.run();

        lines.freed(peer);

        assertThat(thread.state()).isEqualTo(State.PEER_LEFT);
    }

    @Test
    void aCloseEndsTheWaits() {
        WaitingThread thread = joined();

        lines.close();

        assertThat(thread.state()).isEqualTo(State.CLOSED);
    }

    /** Opens a publisher with a subscriber that does not read, and whose queue has no place left. */
    private ZMTPSocket fullPublisher(List<String> received) {
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .pipelineInitializer(gate)
                .sendQueueLimit(LIMIT, 1 << 20));
        gate.open();
        pub.bind("test://all");
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.onMessage((from, message) -> received.add(WriteGate.text(message)));
        sub.subscribe("");
        sub.connect("test://all");
        loop.run();
        gate.close();
        pub.sendOrDrop(WriteGate.big("big"));
        loop.run();
        Peer subscriber = (Peer) pub.peers().iterator().next();
        for (int i = 0; i < LIMIT; i++) {
            assertThat(subscriber.queue().reserve()).isTrue();
        }
        return pub;
    }

    @Test
    void aMessageForAllPeersIsSentWhenAThreadGivesItsPlaceBack() {
        List<String> received = new ArrayList<>();
        ZMTPSocket pub = fullPublisher(received);
        PlaceLines line = new PlaceLines(ClockedSockets.core(pub).context());
        CompletableFuture<Void> sent = pub.sendAsync(message("to all"));
        loop.run();
        assertThat(sent).isNotDone();

        line.giveBack((Peer) pub.peers().iterator().next());
        loop.run();

        assertThat(sent).isCompleted();
    }

    @Test
    void aMessageForAllPeersThatWaitsBehindAThreadIsSentWhenTheThreadHasStoppedWaiting() {
        List<String> received = new ArrayList<>();
        ZMTPSocket pub = fullPublisher(received);
        Peer subscriber = (Peer) pub.peers().iterator().next();
        PlaceLines line = new PlaceLines(ClockedSockets.core(pub).context());
        WaitingThread thread = new WaitingThread();
        line.join(subscriber, thread);
        loop.run();
        CompletableFuture<Void> sent = pub.sendAsync(message("to all"));
        loop.run();
        assertThat(sent).isNotDone();

        for (int i = 0; i < LIMIT; i++) {
            subscriber.queue().unreserve();
        }
        line.freed(subscriber);
        loop.run();

        assertThat(thread.state()).isEqualTo(State.HAS_ROOM);
        assertThat(sent).isCompleted();
        gate.open();
        loop.run();
        assertThat(received).containsExactly("big", "to all");
    }
}
