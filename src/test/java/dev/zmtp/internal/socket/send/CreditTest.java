package dev.zmtp.internal.socket.send;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.TestSockets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How many more messages and bytes may be accepted. */
class CreditTest {

    private final Credit credit = new Credit();

    @Test
    void thereIsNothingAtFirst() {
        assertThat(credit.isOpen()).isFalse();
        assertThat(credit.take(0)).isFalse();
    }

    @Test
    void messagesAreTakenUntilNoneIsLeft() {
        credit.give(2, 100);
        assertThat(credit.take(1)).isTrue();
        assertThat(credit.take(1)).isTrue();
        assertThat(credit.isOpen()).isFalse();
        assertThat(credit.take(1)).isFalse();
    }

    @Test
    void oneMessageGoesBeyondTheBytes() {
        credit.give(10, 100);
        assertThat(credit.take(99)).isTrue();
        assertThat(credit.take(1_000)).isTrue();
        assertThat(credit.isOpen()).isFalse();
        assertThat(credit.take(0)).isFalse();
    }

    @Test
    void nothingIsTakenOnceTheBytesAreUsedUp() {
        credit.give(10, 100);
        assertThat(credit.take(100)).isTrue();
        assertThat(credit.isOpen()).isFalse();
        assertThat(credit.take(0)).isFalse();
    }

    @Test
    void whatIsRefusedTakesNothing() {
        credit.give(1, 100);
        assertThat(credit.take(50)).isTrue();
        assertThat(credit.take(50)).isFalse();

        credit.give(1, 0);

        assertThat(credit.take(50)).isTrue();
        assertThat(credit).hasToString("0 messages, 0 bytes");
    }

    @Test
    void itMayBeOwed() {
        credit.give(1, 10);
        assertThat(credit.take(10)).isTrue();
        credit.give(-1, -10);

        credit.give(1, 10);
        assertThat(credit.isOpen()).isFalse();
        credit.give(1, 10);
        assertThat(credit.isOpen()).isTrue();
    }

    /** Whatever the threads do, what was given and not taken is what is left. */
    @Test
    void threadsTakeNoMoreThanThereIs() {
        int threads = 4;
        long given = 20_000;
        AtomicLong taken = new AtomicLong();
        List<CompletableFuture<Void>> takers = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            takers.add(CompletableFuture.runAsync(
                    () -> {
                        while (taken.get() < given) {
                            if (credit.take(3)) {
                                taken.incrementAndGet();
                            }
                        }
                    },
                    task -> new Thread(task).start()));
        }

        for (long i = 0; i < given; i++) {
            credit.give(1, 3);
        }

        takers.forEach(TestSockets::get);
        assertThat(taken).hasValue(given);
        assertThat(credit).hasToString("0 messages, 0 bytes");
    }
}
