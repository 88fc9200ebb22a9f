package dev.zmtp.internal.socket.peer;

import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

    /** One message may go beyond the limit. */
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
    void itIsSlowByItsBytesToo() {
        add("x".repeat(39));
        assertThat(queue.becameSlow()).isFalse();
        add("x");
        assertThat(queue.becameSlow()).as("half full").isTrue();
        take();
        add("x".repeat(19));
        assertThat(queue.becameSlow()).as("a quarter is still slow").isFalse();
        add("x".repeat(20));
        assertThat(queue.becameSlow()).as("not again").isFalse();
    }

    @Test
    void aPlaceIsReservedUntilAllPlacesAreTaken() {
        for (int i = 0; i < 7; i++) {
            add("m" + i);
        }
        assertThat(queue.reserve()).isTrue();
        assertThat(queue.hasRoom()).isFalse();
        assertThat(queue.reserve()).isFalse();
        queue.unreserve();
        assertThat(queue.messagesLeft()).isEqualTo(1);
    }

    @Test
    void noPlaceIsReservedOnceTheBytesAreUsedUp() {
        add("x".repeat(80));
        assertThat(queue.reserve()).isFalse();
        assertThat(queue.messagesLeft()).isEqualTo(7);
    }

    @Test
    void itTellsHowLongTheOldestMessageHasWaited() {
        assertThat(queue.oldestAge(5_000)).isZero();
        queue.add(message("first"), null, 1_000);
        queue.add(message("second"), null, 3_000);
        assertThat(queue.oldestAge(5_000)).isEqualTo(Duration.ofNanos(4_000));
        take();
        assertThat(queue.oldestAge(5_000)).isEqualTo(Duration.ofNanos(2_000));
        take();
        assertThat(queue.oldestAge(5_000)).isZero();
    }

    @Test
    void aRequestThatEndsInItsMiddleLeavesNoTrace() {
        RecordedOutgoing request = new RecordedOutgoing(message("x".repeat(60)));
        queue.add(message("before"), null, 1_000);
        queue.add(request.message(), null, request, request.bytes(), 2_000);
        queue.add(message("after"), null, 3_000);

        request.message().release();
        queue.forget(Objects.requireNonNull(request.queued()));

        assertThat(request.queued()).isNull();
        assertThat(queue.requests()).isEmpty();
        assertThat(queue.messages()).isEqualTo(2);
        assertThat(queue.bytes()).isEqualTo("before".length() + "after".length());
        assertThat(take()).isEqualTo("before");
        assertThat(queue.oldestAge(5_000)).isEqualTo(Duration.ofNanos(2_000));
        assertThat(take()).isEqualTo("after");
    }

    /** More than are worth a pass over the queue. */
    @Test
    void manyRequestsThatEndInItsMiddleLeaveTheOthers() {
        add("before");
        List<RecordedOutgoing> ended = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            RecordedOutgoing request = new RecordedOutgoing(message("?"));
            queue.add(request.message(), null, request, request.bytes(), 0);
            ended.add(request);
        }
        add("after");

        for (RecordedOutgoing request : ended) {
            request.message().release();
            queue.forget(Objects.requireNonNull(request.queued()));
        }

        assertThat(queue.messages()).isEqualTo(2);
        assertThat(take()).isEqualTo("before");
        assertThat(take()).isEqualTo("after");
        assertThat(queue.poll()).isNull();
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
