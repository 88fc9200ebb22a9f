package dev.zmtp.internal.read;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPMemoryBudget;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

/** Limits of a decoder's messages that a mechanism encrypts. */
class MessageLimitsTest {

    private static final int BUDGET = 4 << 20;
    private static final int FRAME = 1 << 20;
    private static final int OVERHEAD = 33;

    private final ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(BUDGET);

    private MessageLimits limits(int maxFrameLength) {
        return new MessageLimits(
                ZMTPConfig.builder()
                        .socketType(ZMTPSocketType.PULL)
                        .memoryBudget(budget)
                        .maxFrameLength(maxFrameLength)
                        .maxMessageLength(10L * BUDGET)
                        .decoder(session -> Mockito.mock(ZMTPDecoder.class))
                        .build(),
                true);
    }

    @Test
    void aMessageCanBeLongerThanTheBudget() {
        MessageLimits limits = limits(FRAME);
        assertThatCode(() -> {
                    for (int i = 0; i < 12; i++) {
                        limits.checkSealed(FRAME + OVERHEAD, OVERHEAD);
                        limits.check(ZMTPFraming.MORE, FRAME);
                    }
                    limits.checkSealed(OVERHEAD, OVERHEAD);
                    limits.check(0, 0);
                })
                .doesNotThrowAnyException();
    }

    @Test
    void aFrameMustFitIntoTheBudget() {
        MessageLimits limits = limits(2 * BUDGET);
        assertThatThrownBy(() -> limits.checkSealed(BUDGET + 1, OVERHEAD))
                .hasMessageStartingWith("encrypted frame length: 4194305 (expected: <= 4194304, the memoryBudget)");
    }
}
