package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent.FailureKind;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The delays of a connector between attempts. Each delay is between half of a bound and the whole bound, so that a
 * thousand clients of a server do not return at the same time. The bound doubles with each consecutive failure. A row
 * of failures ends with a connection that lasted, not with a connection that was merely accepted.
 */
final class Backoff {

    /** Minimum lifetime of a connection whose end counts as a first failure. */
    static final Duration STABLE = Duration.ofSeconds(10);

    /**
     * Minimum of the first bound after a refusal, in nanoseconds. The next constant is the minimum of the last bound,
     * and of the bound after a peer that cannot fit. Either cause can be fixed at the other end.
     */
    private static final long AFTER_REFUSAL = Duration.ofSeconds(1).toNanos();

    private static final long MOST_AFTER_REFUSAL = Duration.ofSeconds(30).toNanos();

    private final long first;
    private final long most;
    private final RandomGenerator random;

    /** Number of consecutive failures. */
    private int failures;

    Backoff(ZMTPSocketConfig config, RandomGenerator random) {
        this.first = Settings.nanos(config.initialReconnectDelay());
        this.most = Settings.nanos(config.maxReconnectDelay());
        this.random = random;
    }

    /** Called when a connection that was up has ended after {@code nanos}. */
    void lived(long nanos) {
        if (nanos >= STABLE.toNanos()) {
            reset();
        }
    }

    void reset() {
        failures = 0;
    }

    int failures() {
        return failures;
    }

    /** Returns the delay in nanoseconds, or a negative number to give up. */
    long next(FailureKind kind) {
        failures++;
        if (most == 0) {
            return -1;
        }
        long bound = bound(kind);
        return bound - random.nextLong(bound / 2 + 1);
    }

    /** Returns the maximum delay after this failure. */
    long bound(FailureKind kind) {
        return switch (kind) {
            case TRANSIENT, NOT_ZMTP -> doubled(first, most);
            case REJECTED -> doubled(Math.max(first, AFTER_REFUSAL), Math.max(most, MOST_AFTER_REFUSAL));
            case INCOMPATIBLE -> Math.max(most, MOST_AFTER_REFUSAL);
        };
    }

    private long doubled(long start, long end) {
        long bound = start;
        for (int i = 1; i < failures && bound < end; i++) {
            bound = bound > end / 2 ? end : 2 * bound;
        }
        return Math.min(bound, end);
    }

    static FailureKind kindOf(Throwable cause) {
        if (cause instanceof ZMTPException e) {
            return switch (e.code()) {
                case AUTHENTICATION, PEER_ERROR -> FailureKind.REJECTED;
                case MALFORMED -> FailureKind.NOT_ZMTP;
                case UNEXPECTED, VERSION, MECHANISM, SOCKET_TYPE -> FailureKind.INCOMPATIBLE;
                case TOO_LARGE, HANDSHAKE_TIMEOUT, HEARTBEAT_TIMEOUT, MEMORY_BUDGET, CLOSED -> FailureKind.TRANSIENT;
            };
        }
        FailureKind ofTls = TlsFailures.kindOf(cause);
        return ofTls == null ? FailureKind.TRANSIENT : ofTls;
    }
}
