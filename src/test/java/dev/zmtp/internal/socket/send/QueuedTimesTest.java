package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How long a message has waited, in virtual time: the clock is looked at once for all that a handler sends in a turn.
 */
@Tag("netty-4.2-only")
class QueuedTimesTest {

    private static final Duration A_WHILE = Duration.ofSeconds(5);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket push() {
        ZMTPSocket push =
                loop.open(ZMTPSocketConfig.builder(PUSH).reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(10)));
        push.connect("test://times");
        loop.run();
        return push;
    }

    @Test
    void theOldestMessageHasWaitedSinceItsTurn() {
        ZMTPSocket push = push();
        push.sendOrDrop(TestSockets.message("first"));
        loop.advance(A_WHILE);
        push.sendOrDrop(TestSockets.message("second"));
        assertThat(push.stats().oldestAge()).isEqualTo(A_WHILE);
    }

    /** Nor has one that a proxy passes on, which is no handler's. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMessageOfALaterTurnHasNotWaitedYet(boolean byProxy) {
        ZMTPSocket push = push();
        send(push, "first", byProxy);
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((peer, message) -> message.release());
        pull.bind("test://times");
        loop.advance(A_WHILE);
        assertThat(pull.stats().received()).isEqualTo(1);
        pull.closeAsync(Duration.ZERO);
        loop.advance(A_WHILE);

        send(push, "second", byProxy);

        assertThat(push.stats().queued()).isEqualTo(1);
        assertThat(push.stats().oldestAge()).isZero();
    }

    private static void send(ZMTPSocket push, String text, boolean byProxy) {
        if (byProxy) {
            assertThat(ClockedSockets.core(push).senders().offer(TestSockets.message(text)))
                    .isNotEqualTo(Fate.REFUSED);
        } else {
            push.sendOrDrop(TestSockets.message(text));
        }
    }
}
