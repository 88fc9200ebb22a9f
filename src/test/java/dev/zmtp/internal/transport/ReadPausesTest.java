package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.runtime.LoopBudget;
import org.junit.jupiter.api.Test;

class ReadPausesTest {

    private long now = Long.MAX_VALUE - 1; // a clock may overflow
    private final ReadPauses pauses = new ReadPauses(() -> now);

    @Test
    void aPauseIsDueAfterManyMessages() {
        now += ReadPauses.INTERVAL_NANOS;
        pauses.messagesRead(LoopBudget.MESSAGES - 1);
        assertThat(pauses.isDue()).isFalse();
        pauses.messagesRead(1);
        assertThat(pauses.isDue()).isTrue();
    }

    @Test
    void noPauseIsDueSoonAfterTheLast() {
        now += ReadPauses.INTERVAL_NANOS;
        pauses.paused();
        pauses.messagesRead(100 * LoopBudget.MESSAGES);
        now += ReadPauses.INTERVAL_NANOS - 1;
        assertThat(pauses.isDue()).isFalse();
        now++;
        assertThat(pauses.isDue()).isTrue();
    }

    @Test
    void messagesAreCountedFromTheLastPause() {
        pauses.messagesRead(LoopBudget.MESSAGES);
        pauses.paused();
        now += ReadPauses.INTERVAL_NANOS;
        assertThat(pauses.isDue()).isFalse();
    }
}
