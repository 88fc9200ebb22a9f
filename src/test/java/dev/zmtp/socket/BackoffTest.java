package dev.zmtp.socket;

import static dev.zmtp.socket.ZMTPReconnect.Kind.INCOMPATIBLE;
import static dev.zmtp.socket.ZMTPReconnect.Kind.REFUSED;
import static dev.zmtp.socket.ZMTPReconnect.Kind.TRANSIENT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The arithmetic of waits; it has no clock. */
class BackoffTest {

    private static final Duration STABLE = Duration.ofSeconds(10);
    private static final ZMTPReconnect POLICY =
            ZMTPReconnect.exponential(Duration.ofMillis(100), Duration.ofSeconds(30), STABLE);
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE);
    private final Throwable cause = new IOException("refused");

    private static Backoff backoff(ZMTPReconnect policy) {
        return new Backoff(policy, new Random(1));
    }

    private long next(Backoff backoff, ZMTPReconnect.Kind kind) {
        return backoff.next("tcp://there:1", kind, cause);
    }

    /** The bounds of so many waits in a row, in ms. */
    private List<Long> bounds(Backoff backoff, ZMTPReconnect.Kind kind, int waits) {
        List<Long> bounds = new ArrayList<>();
        for (int i = 0; i < waits; i++) {
            next(backoff, kind);
            bounds.add(Duration.ofNanos(backoff.bound(kind)).toMillis());
        }
        return bounds;
    }

    /** T43. */
    @Test
    void theBoundDoublesUpToTheMaximum() {
        assertThat(bounds(backoff(POLICY), TRANSIENT, 11))
                .containsExactly(100L, 200L, 400L, 800L, 1600L, 3200L, 6400L, 12800L, 25600L, 30000L, 30000L);
    }

    @Test
    void theBoundDoesNotOverflow() {
        Backoff backoff = backoff(ZMTPReconnect.exponential(Duration.ofDays(1), LONGEST, LONGEST));

        for (int i = 0; i < 100; i++) {
            assertThat(next(backoff, TRANSIENT)).isPositive();
            backoff.lived(0);
        }

        assertThat(backoff.bound(TRANSIENT)).isEqualTo(Long.MAX_VALUE);
    }

    /** T43. */
    @Test
    void theWaitIsAnyPartOfTheBound() {
        long bound = Duration.ofMillis(100).toNanos();

        assertThat(next(new Backoff(POLICY, always(0)), TRANSIENT)).isEqualTo(1);
        assertThat(next(new Backoff(POLICY, always(bound - 1)), TRANSIENT)).isEqualTo(bound);
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
    @Test
    void aConnectionThatHasLivedEndsTheRow() {
        Backoff backoff = backoff(POLICY);
        bounds(backoff, TRANSIENT, 5);

        backoff.lived(STABLE.toNanos());

        assertThat(backoff.failures()).isZero();
        assertThat(bounds(backoff, TRANSIENT, 2)).containsExactly(100L, 200L);
    }

    /** T43. */
    @Test
    void aConnectionThatHasNotLivedDoesNotEndTheRow() {
        Backoff backoff = backoff(POLICY);
        bounds(backoff, TRANSIENT, 2);

        backoff.lived(STABLE.toNanos() - 1);

        assertThat(bounds(backoff, TRANSIENT, 1)).containsExactly(400L);
    }

    /** T44. */
    @Test
    void aRefusalWaitsForAPartOfASecondAtLeast() {
        assertThat(bounds(backoff(POLICY), REFUSED, 6)).containsExactly(1000L, 1000L, 1000L, 1000L, 1600L, 3200L);
    }

    @Test
    void aRefusalStaysBelowTheMaximum() {
        Backoff backoff = backoff(ZMTPReconnect.exponential(Duration.ofMillis(1), Duration.ofMillis(10), STABLE));

        assertThat(bounds(backoff, REFUSED, 1)).containsExactly(10L);
    }

    /** T44. */
    @Test
    void aPeerThatCannotFitIsAskedWithTheMaximumAtOnce() {
        assertThat(bounds(backoff(POLICY), INCOMPATIBLE, 2)).containsExactly(30000L, 30000L);
    }

    @Test
    void withoutReconnectsItGivesUpAtOnce() {
        assertThat(next(backoff(ZMTPReconnect.never()), TRANSIENT)).isNegative();
    }

    @Test
    void aListenerSeesTheFailureAndDecides() {
        List<ZMTPReconnect.Failure> failures = new ArrayList<>();
        Backoff backoff = backoff(POLICY.withListener((failure, wait) -> {
            failures.add(failure);
            return failures.size() < 2 ? Duration.ofMillis(7) : null;
        }));

        assertThat(next(backoff, TRANSIENT)).isEqualTo(Duration.ofMillis(7).toNanos());
        assertThat(next(backoff, REFUSED)).isNegative();
        assertThat(failures)
                .containsExactly(
                        new ZMTPReconnect.Failure("tcp://there:1", TRANSIENT, 1, cause),
                        new ZMTPReconnect.Failure("tcp://there:1", REFUSED, 2, cause));
    }

    @Test
    void aListenerMayGoOnWhereThePolicyWouldNot() {
        Backoff backoff = backoff(ZMTPReconnect.never().withListener((failure, wait) -> Duration.ofSeconds(1)));

        assertThat(next(backoff, TRANSIENT)).isEqualTo(Duration.ofSeconds(1).toNanos());
    }

    @Test
    void aWaitThatIsNegativeIsNone() {
        Backoff backoff = backoff(POLICY.withListener((failure, wait) -> Duration.ofSeconds(-1)));

        assertThat(next(backoff, TRANSIENT)).isZero();
    }

    @Test
    void aWaitOfAListenerMayBeOfAnyLength() {
        Backoff backoff = backoff(POLICY.withListener((failure, wait) -> LONGEST));

        assertThat(next(backoff, TRANSIENT)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theWaitStaysIfTheListenerThrows() {
        Backoff backoff = backoff(POLICY.withListener((failure, wait) -> {
            throw new IllegalStateException("of the test's listener");
        }));

        assertThat(next(backoff, TRANSIENT))
                .isBetween(1L, Duration.ofMillis(100).toNanos());
    }

    /** T44. */
    @ParameterizedTest
    @CsvSource({
        "AUTHENTICATION, REFUSED",
        "PEER_ERROR, REFUSED",
        "MALFORMED, INCOMPATIBLE",
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
    void eachFailureOfTheProtocolHasItsKind(ZMTPException.Code code, ZMTPReconnect.Kind kind) {
        assertThat(Backoff.kindOf(new ZMTPException(code, "any"))).isEqualTo(kind);
    }

    @Test
    void failuresOfTheNetworkAreTransient() {
        assertThat(Backoff.kindOf(cause)).isEqualTo(TRANSIENT);
    }
}
