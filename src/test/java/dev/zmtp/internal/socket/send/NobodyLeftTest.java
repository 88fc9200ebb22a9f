package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What waits in the queue of a socket when those that could get it leave, in virtual time. */
@Tag("netty-4.2-only")
class NobodyLeftTest {

    private static final String ENDPOINT = "test://nobody-left";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final WriteGate gate = new WriteGate();
    private ZMTPEndpoint bound;

    @AfterEach
    void close() {
        gate.open();
        loop.close();
    }

    private ZMTPSocket pull(String endpoint, List<String> received) {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> received.add(WriteGate.text(message)));
        pull.bind(endpoint);
        loop.run();
        return pull;
    }

    private ZMTPSocket push() {
        return loop.open(
                ZMTPSocketConfig.builder(PUSH).linger(Duration.ofSeconds(30)).pipelineInitializer(gate));
    }

    /** Binds, and returns a peer that is connected. */
    private ZMTPSocket peerOf(ZMTPSocket push) {
        bound = push.bind(ENDPOINT);
        loop.run();
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.connect(ENDPOINT);
        loop.run();
        return pull;
    }

    /** Fills the transport, and returns the result of a message in the queue behind it. */
    private CompletableFuture<Void> queue(ZMTPSocket push) {
        gate.close();
        push.sendAsync(WriteGate.big("transport"));
        CompletableFuture<Void> waits = push.sendAsync(message("queue"));
        loop.run();
        assertThat(push.stats().queued()).isEqualTo(1);
        return waits;
    }

    @Test
    void failsWhenTheLastPeerOfABindingThatWasClosedHasLeft() {
        ZMTPSocket push = push();
        ZMTPSocket pull = peerOf(push);
        CompletableFuture<Void> waits = queue(push);

        bound.close();
        loop.advance(Duration.ofMillis(10));
        assertThat(waits).isNotDone();
        pull.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(10));

        assertThat(reason(waits)).isEqualTo(PEER_DOWN);
        assertThat(push.stats().queued()).isZero();
    }

    @Test
    void failsWhenTheLastBindingIsClosedAndNobodyIsThere() {
        ZMTPSocket push = push();
        ZMTPSocket pull = peerOf(push);
        CompletableFuture<Void> waits = queue(push);
        push.peers().iterator().next().close();
        pull.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofSeconds(5));
        assertThat(push.peers()).isEmpty();
        assertThat(waits).isNotDone();

        bound.close();
        loop.advance(Duration.ofMillis(10));

        assertThat(reason(waits)).isEqualTo(PEER_DOWN);
    }

    /** The connector that was closed lingers for what is queued, and the other one may have it. */
    @Test
    void goesToAPeerThatComesAndNothingNewToTheOneThatWasClosed() {
        List<String> first = new ArrayList<>();
        List<String> second = new ArrayList<>();
        pull(ENDPOINT, first);
        pull("test://other", second);
        ZMTPSocket push = push();
        ZMTPEndpoint closed = push.connect(ENDPOINT);
        loop.run();
        queue(push);
        closed.close();
        loop.run();

        push.connect("test://other");
        gate.open();
        loop.advance(Duration.ofMillis(10));
        for (int i = 0; i < 10; i++) {
            push.sendOrDrop(message("new"));
            loop.run();
        }

        assertThat(first).doesNotContain("new");
        assertThat(second).contains("new");
        assertThat(closed.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
    }
}
