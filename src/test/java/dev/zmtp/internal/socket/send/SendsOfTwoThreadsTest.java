package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.OtherThread;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Handlers send on the event loop while messages of another thread are on their way there; in virtual time. */
@Tag("netty-4.2-only")
class SendsOfTwoThreadsTest {

    private static final String ENDPOINT = "test://two-threads";
    private static final Duration MAX_AGE = Duration.ofMillis(50);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final WriteGate gate = new WriteGate();
    private final List<String> received = new ArrayList<>();
    private ZMTPSocket push;

    @BeforeEach
    void connect() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> received.add(WriteGate.text(message)));
        pull.bind(ENDPOINT);
        loop.run();
        push = loop.open(ZMTPSocketConfig.builder(PUSH)
                .sendQueueLimit(1, 1 << 20)
                .maxMessageAge(MAX_AGE)
                .pipelineInitializer(gate));
        push.connect(ENDPOINT);
        loop.run();
    }

    @AfterEach
    void close() {
        gate.open();
        loop.close();
    }

    /** Its peer takes it at once, and it needs no place in the queue. */
    @Test
    void aHandlerMaySendWhileTheOtherThreadHasTheLastPlace() throws Throwable {
        OtherThread.call(() -> {
            assertThat(push.trySend(message("theirs"))).isTrue();
            assertThat(push.isWritable()).isFalse();
        });

        assertThat(push.isWritable()).isTrue();
        assertThat(push.trySend(message("ours"))).isTrue();
        loop.run();
        assertThat(received).containsExactlyInAnyOrder("theirs", "ours");
    }

    @Test
    void whatIsOnItsWayCountsAsQueued() throws Throwable {
        OtherThread.call(() -> push.sendOrDrop(message("theirs")));

        assertThat(push.stats().queued()).isEqualTo(1);
        assertThat(push.stats().sent()).isEqualTo(1);

        loop.run();
        assertThat(push.stats().queued()).isZero();
        assertThat(push.stats().sent()).isEqualTo(1);
    }

    @Test
    void whoWaitsOnAnotherThreadIsCalledWhenItsMessageHasLeft() throws Throwable {
        List<String> calls = new ArrayList<>();
        push.onWritable(() -> calls.add("called"));
        loop.run();
        calls.clear();
        OtherThread.call(() -> {
            push.sendOrDrop(message("theirs"));
            assertThat(push.isWritable()).isFalse();
        });

        loop.run();

        assertThat(calls).containsExactly("called");
    }

    @Test
    void whatIsAsOldAsItMayBeIsSent() {
        gate.close();
        push.sendOrDrop(WriteGate.big("big"));
        CompletableFuture<Void> old = push.sendAsync(message("old"));
        loop.advance(MAX_AGE);

        gate.open();
        loop.run();

        assertThat(old).isCompleted();
        assertThat(received).containsExactly("big", "old");
    }

    @Test
    void whatIsOlderFails() {
        gate.close();
        push.sendOrDrop(WriteGate.big("big"));
        CompletableFuture<Void> old = push.sendAsync(message("old"));
        loop.advance(MAX_AGE.plusMillis(1));

        gate.open();
        loop.run();

        assertThat(reason(old)).isEqualTo(EXPIRED);
        assertThat(received).containsExactly("big");
        assertThat(push.stats().dropped()).isEqualTo(1);
    }
}
