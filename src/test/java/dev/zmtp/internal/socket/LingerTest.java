package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What lingers ends as soon as there is nothing to wait for, in virtual time. */
@Tag("netty-4.2-only")
class LingerTest {

    private static final String ENDPOINT = "inproc://linger";
    private static final Duration LINGER = Duration.ofSeconds(2);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void end() {
        loop.close();
    }

    /** A timer would keep the socket in memory until then. */
    @Test
    void nothingRunsAfterTheEnd() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        push.connect(ENDPOINT);
        loop.run();
        push.sendAsync(message("queued"));
        CompletableFuture<ZMTPStats> closed = push.closeAsync(LINGER);
        loop.run();
        pull.onMessage((from, message) -> message.release());
        pull.bind(ENDPOINT);
        loop.run();
        pull.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(100));
        assertThat(closed).isCompleted();

        assertThat(loop.advance(LINGER)).isZero();
    }

    /** What was last in the queue is too old, so it is not written. */
    @Test
    void aConnectorEndsWhenItsQueueIsEmptyThoughNothingWasWritten() {
        WriteGate gate = new WriteGate();
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH)
                .maxMessageAge(Duration.ofMillis(50))
                .linger(LINGER)
                .pipelineInitializer(gate));
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> message.release());
        pull.bind(ENDPOINT);
        ZMTPEndpoint connector = push.connect(ENDPOINT);
        loop.run();
        gate.close();
        push.sendAsync(WriteGate.big("transport"));
        push.sendAsync(message("old"));
        CompletableFuture<Void> closed = TestSockets.disconnect(connector);
        loop.advance(Duration.ofMillis(100));
        assertThat(closed).isNotDone();

        gate.open();
        loop.run();

        assertThat(push.stats().dropped()).isEqualTo(1);
        assertThat(closed).isCompleted();
    }

    /** Its listeners end with the close, so nobody can come for what waits. */
    @Test
    void aBoundSocketDoesNotLingerForPeersThatCannotCome() {
        WriteGate gate = new WriteGate();
        ZMTPSocket push =
                loop.open(ZMTPSocketConfig.builder(PUSH).linger(LINGER).pipelineInitializer(gate));
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        push.bind(ENDPOINT);
        pull.connect(ENDPOINT);
        loop.run();
        gate.close();
        push.sendAsync(WriteGate.big("transport"));
        CompletableFuture<Void> waits = push.sendAsync(message("waits"));
        loop.run();
        CompletableFuture<ZMTPStats> closed = push.closeAsync(LINGER);
        loop.advance(Duration.ofMillis(100));
        assertThat(closed).as("while there is a peer").isNotDone();

        pull.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(100));

        assertThat(closed).isCompleted();
        assertThat(TestSockets.reason(waits)).isEqualTo(ZMTPSocketException.Reason.CLOSED);
    }

    /** What waited for it has failed, so there is nothing more to wait for. */
    @Test
    void aSocketDoesNotLingerForAConnectorWhoseTimeIsOver() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).linger(LINGER));
        ZMTPEndpoint connector = push.connect(ENDPOINT);
        CompletableFuture<Void> waits = push.sendAsync(message("waits"));
        loop.run();
        connector.close();
        CompletableFuture<ZMTPStats> closed = push.closeAsync(LINGER.multipliedBy(10));
        loop.advance(LINGER.minusMillis(100));
        assertThat(closed).isNotDone();

        loop.advance(Duration.ofMillis(200));

        assertThat(closed).isCompleted();
        assertThat(waits).isCompletedExceptionally();
    }
}
