package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What waits for one peer that does not read, in virtual time: how long, how much, and what becomes of it. */
@Tag("netty-4.2-only")
class PeerQueueTest {

    private static final String ENDPOINT = "test://peer-queue";
    private static final Duration MAX_AGE = Duration.ofMillis(50);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final WriteGate gate = new WriteGate();
    private final List<String> received = new ArrayList<>();
    private ZMTPSocket router;
    private ZMTPSocket dealer;
    private ZMTPPeer peer;

    /** The transport has as much as it takes. */
    @BeforeEach
    void fillTheTransport() {
        router = loop.open(ZMTPSocketConfig.builder(ROUTER)
                .maxMessageAge(MAX_AGE)
                .sendQueueLimit(2, 1 << 20)
                .pipelineInitializer(gate));
        router.bind(ENDPOINT);
        loop.run();
        dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.onMessage((from, message) -> received.add(WriteGate.text(message)));
        dealer.connect(ENDPOINT);
        loop.run();
        peer = router.peers().iterator().next();
        gate.close();
        peer.sendOrDrop(WriteGate.big("big"));
        loop.run();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private CompletableFuture<Void> send(String text) {
        CompletableFuture<Void> sent = peer.sendAsync(message(text));
        loop.run();
        return sent;
    }

    private void read() {
        gate.open();
        loop.run();
    }

    @Test
    void whatIsAsOldAsItMayBeIsSent() {
        CompletableFuture<Void> sent = send("old");
        loop.advance(MAX_AGE);

        read();

        assertThat(sent).isCompleted();
        assertThat(received).containsExactly("big", "old");
    }

    @Test
    void whatIsOlderIsDropped() {
        CompletableFuture<Void> sent = send("too old");
        loop.advance(MAX_AGE);
        CompletableFuture<Void> next = send("next");
        loop.advance(Duration.ofMillis(1));

        read();

        assertThat(reason(sent)).isEqualTo(EXPIRED);
        assertThat(next).isCompleted();
        assertThat(received).containsExactly("big", "next");
        assertThat(peer.stats().dropped()).isEqualTo(1);
    }

    @Test
    void whatWaitsIsCountedUntilItLeaves() {
        send("123");
        loop.advance(Duration.ofMillis(7));
        send("45");

        assertThat(peer.stats().queued()).isEqualTo(2);
        assertThat(peer.stats().queuedBytes()).isEqualTo(5);
        assertThat(peer.stats().oldestAge()).isEqualTo(Duration.ofMillis(7));
        assertThat(peer.stats().sent()).isEqualTo(3);

        read();

        assertThat(peer.stats().queued()).isZero();
        assertThat(peer.stats().queuedBytes()).isZero();
        assertThat(peer.stats().oldestAge()).isZero();
    }

    @Test
    void itTakesAsManyAsMayWait() {
        send("1");
        assertThat(peer.isWritable()).isTrue();
        send("2");
        ZMTPMessage third = message("3");

        assertThat(peer.isWritable()).isFalse();
        assertThat(peer.trySend(third)).isFalse();

        read();
        assertThat(peer.isWritable()).isTrue();
        assertThat(peer.trySend(third)).isTrue();
        loop.run();
        assertThat(received).containsExactly("big", "1", "2", "3");
    }

    @Test
    void whatItHasNoRoomForIsDroppedForIt() {
        List<ZMTPSocketEvent> events = new ArrayList<>();
        router.onEvent(Runnable::run, events::add);
        send("1");
        send("2");

        peer.sendOrDrop(message("3"));
        assertThat(reason(send("4"))).isEqualTo(FULL);

        assertThat(peer.stats().dropped()).isEqualTo(2);
        assertThat(peer.stats().sent()).isEqualTo(5);
        assertThat(router.stats().dropped()).isEqualTo(2);
        assertThat(events).contains(new Dropped(peer, DropReason.FULL, 1));
    }

    @Test
    void aRaisedLimitHoldsForAPeerThatIsThere() {
        send("1");
        send("2");

        router.resizeSendQueue(3, 1 << 20);
        loop.run();

        assertThat(peer.isWritable()).isTrue();
        send("3");
        assertThat(peer.isWritable()).isFalse();
    }

    @Test
    void whatWaitsForOneThatLeavesFails() {
        CompletableFuture<Void> waits = send("waits");

        dealer.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(reason(waits)).isEqualTo(PEER_DOWN);
        assertThat(TestSockets.failure(waits)).hasMessage("PEER_DOWN: connection to " + ENDPOINT + " ended");
        assertThat(peer.stats().dropped()).isEqualTo(1);
        assertThat(router.peers()).isEmpty();
        assertThat(reason(peer.sendAsync(message("late")))).isEqualTo(PEER_DOWN);
    }
}
