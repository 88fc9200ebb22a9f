package dev.zmtp.socket;

import dev.zmtp.ZMTPException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The waits of one connector. It has no clock of its own: its caller reports how long a connection lived. */
final class Backoff {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Backoff.class);

    private static final long AFTER_REFUSAL = Duration.ofSeconds(1).toNanos();

    private final ZMTPReconnect policy;
    private final RandomGenerator random;

    /** How many have failed in a row. */
    private int failures;

    Backoff(ZMTPReconnect policy, RandomGenerator random) {
        this.policy = policy;
        this.random = random;
    }

    /** A connection that was up has ended after {@code nanos}. */
    void lived(long nanos) {
        if (nanos >= Settings.nanos(policy.stable())) {
            failures = 0;
        }
    }

    int failures() {
        return failures;
    }

    /** Returns the nanoseconds to wait, or a negative number to give up. */
    long next(String endpoint, ZMTPReconnect.Kind kind, Throwable cause) {
        failures++;
        if (policy.isNever() && policy.listener() == null) {
            return -1;
        }
        long wait = policy.isNever() ? -1 : random.nextLong(bound(kind)) + 1;
        ZMTPReconnect.Listener listener = policy.listener();
        return listener == null
                ? wait
                : ask(listener, new ZMTPReconnect.Failure(endpoint, kind, failures, cause), wait);
    }

    private static long ask(ZMTPReconnect.Listener listener, ZMTPReconnect.Failure failure, long wait) {
        try {
            @Nullable Duration chosen = listener.next(failure, Duration.ofNanos(Math.max(wait, 0)));
            return chosen == null ? -1 : Math.max(Settings.nanos(chosen), 0);
        } catch (Throwable e) {
            logger.warn("{}: the listener of reconnects failed", failure.endpoint(), e);
            return wait;
        }
    }

    /** Returns the bound of the wait, which is a random part of it. */
    long bound(ZMTPReconnect.Kind kind) {
        long max = Settings.nanos(policy.max());
        long bound = Settings.nanos(policy.initial());
        for (int i = 1; i < failures && bound < max; i++) {
            bound = bound > max / 2 ? max : 2 * bound;
        }
        return switch (kind) {
            case TRANSIENT -> Math.min(bound, max);
            case REFUSED -> Math.min(Math.max(bound, AFTER_REFUSAL), max);
            case INCOMPATIBLE -> max;
        };
    }

    static ZMTPReconnect.Kind kindOf(Throwable cause) {
        if (cause instanceof ZMTPException e) {
            return switch (e.code()) {
                case AUTHENTICATION, PEER_ERROR -> ZMTPReconnect.Kind.REFUSED;
                case MALFORMED, UNEXPECTED, VERSION, MECHANISM, SOCKET_TYPE -> ZMTPReconnect.Kind.INCOMPATIBLE;
                case TOO_LARGE, HANDSHAKE_TIMEOUT, HEARTBEAT_TIMEOUT, MEMORY_BUDGET, CLOSED ->
                    ZMTPReconnect.Kind.TRANSIENT;
            };
        }
        return ZMTPReconnect.Kind.TRANSIENT;
    }
}
