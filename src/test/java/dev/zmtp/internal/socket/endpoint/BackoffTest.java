package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketEvent.FailureKind.INCOMPATIBLE;
import static dev.zmtp.socket.ZMTPSocketEvent.FailureKind.REJECTED;
import static dev.zmtp.socket.ZMTPSocketEvent.FailureKind.TRANSIENT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.FailureKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The arithmetic of waits; it has no clock. */
class BackoffTest {

    private static final Duration FIRST = Duration.ofMillis(100);
    private static final Duration MOST = Duration.ofSeconds(30);
    private static final Duration STABLE = Backoff.STABLE;
    private final Throwable cause = new IOException("refused");

    private static Backoff backoff(Duration first, Duration most) {
        return backoff(first, most, new Random(1));
    }

    private static Backoff backoff(Duration first, Duration most, RandomGenerator random) {
        return new Backoff(
                ZMTPSocketConfig.builder(PUSH).reconnectDelay(first, most).build(), random);
    }

    /** The bounds of so many waits in a row, in ms. */
    private List<Long> bounds(Backoff backoff, FailureKind kind, int waits) {
        List<Long> bounds = new ArrayList<>();
        for (int i = 0; i < waits; i++) {
            backoff.next(kind);
            bounds.add(Duration.ofNanos(backoff.bound(kind)).toMillis());
        }
        return bounds;
    }

    @Test
    void theGreatestWaitIsTaken() {
        Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(DEALER)
                .reconnectDelay(Duration.ofMillis(1), forever)
                .build();
        Backoff backoff = new Backoff(config, () -> 0);

        backoff.lived(Long.MAX_VALUE - 1);

        assertThat(backoff.bound(ZMTPSocketEvent.FailureKind.INCOMPATIBLE)).isEqualTo(Long.MAX_VALUE);
        assertThat(backoff.next(ZMTPSocketEvent.FailureKind.TRANSIENT)).isPositive();
    }

    /** T43. */
    @Tag("T43")
    @Test
    void theBoundDoublesUpToTheMaximum() {
        assertThat(bounds(backoff(FIRST, MOST), TRANSIENT, 11))
                .containsExactly(100L, 200L, 400L, 800L, 1600L, 3200L, 6400L, 12800L, 25600L, 30000L, 30000L);
    }

    @Test
    void theBoundDoesNotOverflow() {
        Backoff backoff = backoff(Duration.ofDays(1), Duration.ofSeconds(Long.MAX_VALUE));

        for (int i = 0; i < 100; i++) {
            assertThat(backoff.next(TRANSIENT)).isPositive();
            backoff.lived(0);
        }

        assertThat(backoff.bound(TRANSIENT)).isEqualTo(Long.MAX_VALUE);
    }

    /** T43. */
    @Tag("T43")
    @Test
    void theWaitIsBetweenHalfOfTheBoundAndAllOfIt() {
        long bound = FIRST.toNanos();

        assertThat(backoff(FIRST, MOST, always(0)).next(TRANSIENT)).isEqualTo(bound);
        assertThat(backoff(FIRST, MOST, always(bound / 2)).next(TRANSIENT)).isEqualTo(bound / 2);
    }

    /** A generator whose every number below any bound is this one. */
    private static RandomGenerator always(long value) {
        return new RandomGenerator() {
            @Override
            public long nextLong() {
                throw new UnsupportedOperationException("nextLong: without a bound (expected: with one)");
            }

            @Override
            public long nextLong(long bound) {
                assertThat(value).isLessThan(bound);
                return value;
            }
        };
    }

    /** T43. */
    @Tag("T43")
    @Test
    void aConnectionThatHasLivedEndsTheRow() {
        Backoff backoff = backoff(FIRST, MOST);
        bounds(backoff, TRANSIENT, 5);
        assertThat(backoff.failures()).isEqualTo(5);

        backoff.lived(STABLE.toNanos());

        assertThat(backoff.failures()).isZero();
        assertThat(bounds(backoff, TRANSIENT, 2)).containsExactly(100L, 200L);
    }

    /** T43. */
    @Tag("T43")
    @Test
    void aConnectionThatHasNotLivedDoesNotEndTheRow() {
        Backoff backoff = backoff(FIRST, MOST);
        bounds(backoff, TRANSIENT, 2);

        backoff.lived(STABLE.toNanos() - 1);

        assertThat(bounds(backoff, TRANSIENT, 1)).containsExactly(400L);
    }

    /** T44. */
    @Tag("T44")
    @Test
    void aRefusalWaitsForASecondToThirtyHoweverShortTheOtherWaitsAre() {
        assertThat(bounds(backoff(Duration.ofMillis(1), Duration.ofMillis(10)), REJECTED, 7))
                .containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L);
    }

    /** T44. */
    @Tag("T44")
    @Test
    void aPeerThatCannotFitIsAskedAfterHalfAMinute() {
        assertThat(bounds(backoff(Duration.ofMillis(1), Duration.ofMillis(10)), INCOMPATIBLE, 2))
                .containsExactly(30_000L, 30_000L);
    }

    @Test
    void withoutReconnectsItGivesUpAtOnce() {
        assertThat(backoff(Duration.ZERO, Duration.ZERO).next(TRANSIENT)).isNegative();
    }

    /** T44. */
    @Tag("T44")
    @ParameterizedTest
    @CsvSource({
        "AUTHENTICATION, REJECTED",
        "PEER_ERROR, REJECTED",
        "MALFORMED, NOT_ZMTP",
        "UNEXPECTED, INCOMPATIBLE",
        "VERSION, INCOMPATIBLE",
        "MECHANISM, INCOMPATIBLE",
        "SOCKET_TYPE, INCOMPATIBLE",
        "TOO_LARGE, TRANSIENT",
        "HANDSHAKE_TIMEOUT, TRANSIENT",
        "HEARTBEAT_TIMEOUT, TRANSIENT",
        "MEMORY_BUDGET, TRANSIENT",
        "CLOSED, TRANSIENT",
    })
    void eachFailureOfTheProtocolHasItsKind(ZMTPException.Code code, FailureKind kind) {
        assertThat(Backoff.kindOf(new ZMTPException(code, "any"))).isEqualTo(kind);
    }

    @Test
    void failuresOfTheNetworkAreTransient() {
        assertThat(Backoff.kindOf(cause)).isEqualTo(TRANSIENT);
    }
}
