package dev.zmtp.internal.socket;

import static dev.zmtp.internal.socket.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The messages that wait for one peer. */
class SendQueueTest {

    private final SendQueue queue = new SendQueue(new QueueLimit(8, 80));

    @AfterEach
    void release() {
        while (!queue.isEmpty()) {
            take();
        }
    }

    private void add(String text) {
        queue.add(message(text), null, 0);
    }

    private String take() {
        return TestSockets.frames(Objects.requireNonNull(queue.poll()).message())
                .get(0);
    }

    /** P7: by messages. */
    @Test
    void itIsFullWithItsMostMessages() {
        for (int i = 0; i < 8; i++) {
            assertThat(queue.hasRoom()).isTrue();
            add("m");
        }
        assertThat(queue.hasRoom()).isFalse();
        assertThat(queue.messagesLeft()).isZero();
        take();
        assertThat(queue.hasRoom()).isTrue();
    }

    /** P7: and by bytes, of which one message may go beyond. */
    @Test
    void itIsFullWithItsMostBytes() {
        add("x".repeat(79));
        assertThat(queue.hasRoom()).isTrue();
        add("x".repeat(100));
        assertThat(queue.hasRoom()).isFalse();
        assertThat(queue.bytesLeft()).isEqualTo(80 - 179);
        take();
        assertThat(queue.hasRoom()).isFalse();
        take();
        assertThat(queue.hasRoom()).isTrue();
        assertThat(queue.bytesLeft()).isEqualTo(80);
    }

    @Test
    void itIsSlowFromHalfFullUntilAQuarterFull() {
        for (int i = 0; i < 3; i++) {
            add("m" + i);
            assertThat(queue.becameSlow()).isFalse();
        }
        add("m3");
        assertThat(queue.becameSlow()).as("half full").isTrue();
        add("m4");
        assertThat(queue.becameSlow()).as("once").isFalse();
        take();
        take();
        assertThat(queue.becameSlow()).as("three are still slow").isFalse();
        add("m5");
        assertThat(queue.becameSlow()).as("not again").isFalse();
        while (queue.messages() > 1) {
            take();
        }
        assertThat(queue.becameSlow()).isFalse();
        for (int i = 0; i < 3; i++) {
            add("again");
        }
        assertThat(queue.becameSlow()).as("once more").isTrue();
    }

    @Test
    void aLowerLimitHoldsAtOnce() {
        for (int i = 0; i < 4; i++) {
            add("m" + i);
        }
        queue.limit(new QueueLimit(3, 80));
        assertThat(queue.hasRoom()).isFalse();
        assertThat(queue.messagesLeft()).isEqualTo(-1);
        queue.limit(new QueueLimit(5, 80));
        assertThat(queue.hasRoom()).isTrue();
        assertThat(take()).isEqualTo("m0");
    }
}
