package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent.Kind;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The waits of a connector before it tries again. Each wait is between half of a bound and the whole of it, so that a
 * thousand clients of one server do not come back at the same time. The bound doubles with each failure in a row. A row
 * ends with a connection that lived, not with one that was merely accepted.
 */
final class Backoff {

    /** How long a connection must live so that its end counts as a first failure. */
    static final Duration STABLE = Duration.ofSeconds(10);

    /** After a refusal, and the least of what follows a peer that cannot fit. Either may be mended at the other end. */
    private static final long AFTER_REFUSAL = Duration.ofSeconds(1).toNanos();

    private static final long MOST_AFTER_REFUSAL = Duration.ofSeconds(30).toNanos();

    private final long first;
    private final long most;
    private final RandomGenerator random;

    /** How many have failed in a row. */
    private int failures;

    Backoff(ZMTPSocketConfig config, RandomGenerator random) {
        this.first = Settings.nanos(config.reconnectFirst());
        this.most = Settings.nanos(config.reconnectMost());
        this.random = random;
    }

    /** A connection that was up has ended after {@code nanos}. */
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

    /** Returns the nanoseconds to wait, or a negative number to give up. */
    long next(Kind kind) {
        failures++;
        if (most == 0) {
            return -1;
        }
        long bound = bound(kind);
        return bound - random.nextLong(bound / 2 + 1);
    }

    /** Returns the greatest wait after this failure. */
    long bound(Kind kind) {
        return switch (kind) {
            case TRANSIENT, NOT_ZMTP -> doubled(first, most);
            case REFUSED -> doubled(Math.max(first, AFTER_REFUSAL), Math.max(most, MOST_AFTER_REFUSAL));
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

    static Kind kindOf(Throwable cause) {
        if (cause instanceof ZMTPException e) {
            return switch (e.code()) {
                case AUTHENTICATION, PEER_ERROR -> Kind.REFUSED;
                case MALFORMED -> Kind.NOT_ZMTP;
                case UNEXPECTED, VERSION, MECHANISM, SOCKET_TYPE -> Kind.INCOMPATIBLE;
                case TOO_LARGE, HANDSHAKE_TIMEOUT, HEARTBEAT_TIMEOUT, MEMORY_BUDGET, CLOSED -> Kind.TRANSIENT;
            };
        }
        Kind ofTls = TlsFailures.kindOf(cause);
        return ofTls == null ? Kind.TRANSIENT : ofTls;
    }
}
