package dev.zmtp.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.CapturedLog;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much of the log a peer can write. */
class RateLimitedLogTest {

    private static final String NAME = "dev.zmtp.codec.RateLimitedLogTest";
    private final Exception broken = new IllegalStateException("broken");

    private final CapturedLog captured = new CapturedLog(NAME);
    private long now = Long.MAX_VALUE - 100; // the clock overflows in the middle of a test
    private final RateLimitedLog log =
            new RateLimitedLog(InternalLoggerFactory.getInstance(NAME), InternalLogLevel.WARN, () -> now);

    @AfterEach
    void close() {
        captured.close();
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void oneLineASecondIsLoggedAndTheOthersAreCounted() {
        for (int i = 0; i < 1000; i++) {
            log.log("channel " + i, "failed", broken);
        }
        pass(Duration.ofNanos(999_999_999));
        log.log("channel 1000", "failed", broken);
        pass(Duration.ofNanos(1));
        log.log("channel 1001", "failed", broken);
        pass(Duration.ofSeconds(1));
        log.log("channel 1002", "failed", broken);

        assertThat(captured.lines)
                .containsExactly(
                        "channel 0 failed",
                        "channel 1001 failed (1000 more before it): java.lang.IllegalStateException: broken",
                        "channel 1002 failed: java.lang.IllegalStateException: broken");
    }

    @Test
    void aCauseThatCannotBePrintedDoesNotReachTheCaller() {
        Exception unprintable = new IllegalStateException("of the test") {
            @Override
            public String getMessage() {
                throw new IllegalArgumentException("cannot be printed");
            }
        };
        log.log("channel 0", "failed", broken);
        pass(Duration.ofSeconds(1));

        log.log("channel 1", "failed", unprintable);

        pass(Duration.ofSeconds(1));
        log.log("channel 2", "failed", broken);
        assertThat(captured.lines)
                .containsExactly("channel 0 failed", "channel 2 failed: java.lang.IllegalStateException: broken");
    }

    @Test
    void onlyTheFirstLineHasAStackTrace() {
        for (int second = 0; second < 100; second++) {
            log.log("channel", "failed", broken);
            pass(Duration.ofSeconds(1));
        }
        assertThat(captured.lines).hasSize(100);
        assertThat(captured.traces).containsExactly(broken);
    }

    @ParameterizedTest
    @CsvSource({"PT59.999999999S, 1", "PT60S, 2"})
    void afterAQuietMinuteAStackTraceComesAgain(Duration quiet, int traces) {
        log.log("channel", "failed", broken);
        pass(quiet);
        log.log("channel", "failed", broken);
        assertThat(captured.traces).hasSize(traces);
    }

    @Test
    void aSuppressedFailureEndsTheQuiet() {
        log.log("channel", "failed", broken);
        pass(Duration.ofMillis(500));
        log.log("channel", "failed", broken);
        pass(Duration.ofMillis(59_900));
        log.log("channel", "failed", broken);
        assertThat(captured.lines).hasSize(2);
        assertThat(captured.traces).hasSize(1);
    }

    @Test
    void thereMayBeNoCause() {
        log.log("channel", "failed", null);
        assertThat(captured.lines).containsExactly("channel failed");
        assertThat(captured.traces).isEmpty();
    }
}
