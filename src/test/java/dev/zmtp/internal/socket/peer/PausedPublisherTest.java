package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A publisher whose event loop stands still, as in a garbage collection. */
class PausedPublisherTest {

    private static final Duration TIMEOUT = Duration.ofMillis(300);

    private final WriteGate gate = new WriteGate();

    private ZMTPSocket publisher(TestSockets sockets) {
        return sockets.open(sockets.builder(PUB)
                .overflowPolicy(OverflowPolicy.DISCONNECT)
                .slowPeerTimeout(TIMEOUT)
                .sendQueueLimit(100, 16 << 20)
                .pipelineInitializer(gate));
    }

    /** Makes a subscriber slow. */
    private void publish(ZMTPSocket pub) {
        gate.close();
        pub.sendOrDrop(WriteGate.big("0"));
        for (int i = 1; i < 80; i++) {
            pub.sendOrDrop(message("" + i));
        }
    }

    /** Nothing was sent in the meantime. */
    @ParameterizedTest
    @ValueSource(ints = {2, 5})
    void doesNotDisconnectASubscriberForItsOwnPause(int timeouts, TestSockets sockets) {
        ZMTPSocket pub = publisher(sockets);
        ZMTPSocket sub = sockets.open(SUB);
        sub.subscribe("");
        connect(sub, bind(pub, "tcp://127.0.0.1:*"));
        get(pub.whenPeers(1));
        Queue<ZMTPSocketEvent.PeerDown> downs = new ConcurrentLinkedQueue<>();
        pub.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.PeerDown down) {
                downs.add(down);
            }
        });
        publish(pub);
        await("they wait", () -> pub.stats().queued() >= 79);

        get(CompletableFuture.runAsync(() -> spin(TIMEOUT.multipliedBy(timeouts)), pub.eventLoop()));
        TestSockets.settle(pub);
        gate.open();

        await("all arrive", () -> sub.stats().received() == 80);
        assertThat(downs).isEmpty();
    }

    /** Or it would be excused for ever. */
    @Test
    void disconnectsASubscriberThatDoesNotReadAlthoughItIsAlwaysLate(TestSockets sockets) {
        ZMTPSocket pub = publisher(sockets);
        ZMTPSocket sub = sockets.open(SUB);
        sub.subscribe("");
        connect(sub, bind(pub, "tcp://127.0.0.1:*"));
        get(pub.whenPeers(1));
        publish(pub);

        for (int i = 0; i < 40 && !pub.peers().isEmpty(); i++) {
            get(CompletableFuture.runAsync(() -> spin(TIMEOUT), pub.eventLoop()));
        }

        assertThat(pub.peers()).isEmpty();
    }

    private static void spin(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < end) {
            // again
        }
    }
}
