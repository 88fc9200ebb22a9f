package dev.zmtp.internal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How many commands a second holds, on a clock of the test's. */
class CommandRateTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Near the end of what a long holds: System.nanoTime may start anywhere. */
    private long now = Long.MAX_VALUE - SECOND / 2;

    private int looks;

    private final CommandRate rate = new CommandRate(3, () -> {
        looks++;
        return now;
    });

    private void count(int commands) {
        for (int i = 0; i < commands; i++) {
            rate.count();
        }
    }

    private void assertNoMore() {
        assertThatThrownBy(rate::count)
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        failure -> assertThat(failure.code()).isEqualTo(ZMTPException.Code.TOO_LARGE))
                .hasMessage("commands within a second: 4 (expected: <= 3)");
    }

    @Test
    void oneMoreThanTheLimitWithinASecondIsTooMany() {
        count(3);
        now += SECOND - 1;
        assertNoMore();
    }

    @Test
    void theNextSecondAllowsAsManyAgain() {
        count(3);
        now += SECOND;
        assertThatCode(() -> count(3)).doesNotThrowAnyException();
        assertNoMore();
    }

    @Test
    void aSlowPeerMayContinueForever() {
        for (int i = 0; i < 1000; i++) {
            count(1);
            now += SECOND / 3 + 1;
        }
    }

    @Test
    void theClockIsReadOnceForEachSecondsWorthOfCommands() {
        count(3);
        assertThat(looks).isOne();
        now += SECOND;
        count(3);
        assertThat(looks).isEqualTo(2);
    }
}
