package dev.zmtp.socket;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The waits of a {@link ZMTPEndpoint} that connects, between its attempts. Immutable.
 *
 * <p>The bound of the wait doubles with each failure in a row, from {@code initial} to {@code max}. The wait is a
 * random part of the bound, so that a thousand clients of one server do not come back at the same time. A row ends with
 * a connection that lives for {@code stable}, not with one that was merely accepted.
 *
 * <p>After a refusal by authentication, the bound is at least a second. After a peer that cannot fit (its type,
 * mechanism or version), it is {@code max} at once. Either may be corrected at the other end, so the connector never
 * gives up by itself.
 */
public final class ZMTPReconnect {

    /** From 100 ms to 30 s. A row of failures ends when a connection has lived for 10 s. */
    public static final ZMTPReconnect DEFAULT =
            exponential(Duration.ofMillis(100), Duration.ofSeconds(30), Duration.ofSeconds(10));

    private static final ZMTPReconnect NEVER = new ZMTPReconnect(Duration.ZERO, Duration.ZERO, Duration.ZERO, null);

    /** Decides in place of the policy. Called on the socket's event loop, so it must not block. */
    @FunctionalInterface
    public interface Listener {
        /**
         * Returns how long to wait in place of {@code wait}, or null to give up. If it throws, that is logged, and
         * {@code wait} applies.
         *
         * @param failure what ended the attempt or the connection
         * @param wait what the policy would do
         */
        @Nullable
        Duration next(Failure failure, Duration wait);
    }

    /** The kind of a failure. */
    public enum Kind {
        /** There was no connection, or it ended: refused, unreachable, reset, closed, timed out, not resolved. */
        TRANSIENT,
        /** Authentication failed at either end. */
        REFUSED,
        /** The peer's socket type, mechanism or version does not fit, or it does not speak ZMTP. */
        INCOMPATIBLE
    }

    /**
     * What ended an attempt or a connection.
     *
     * @param endpoint the endpoint that was connected to
     * @param kind the kind of failure
     * @param attempt the number of failures in a row, including this one
     * @param cause what is known about it
     */
    public record Failure(String endpoint, Kind kind, int attempt, Throwable cause) {}

    private final Duration initial;
    private final Duration max;
    private final Duration stable;
    private final @Nullable Listener listener;

    private ZMTPReconnect(Duration initial, Duration max, Duration stable, @Nullable Listener listener) {
        this.initial = initial;
        this.max = max;
        this.stable = stable;
        this.listener = listener;
    }

    /**
     * Returns a policy that waits between 0 and a bound that doubles.
     *
     * @param initial the first bound, at least 1 ms
     * @param max the greatest bound, at least {@code initial}
     * @param stable how long a connection must live so that its end counts as a first failure
     */
    public static ZMTPReconnect exponential(Duration initial, Duration max, Duration stable) {
        if (initial.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("initial: " + initial + " (expected: >= 1 ms)");
        }
        if (max.compareTo(initial) < 0) {
            throw new IllegalArgumentException("max: " + max + " (expected: >= initial, " + initial + ")");
        }
        if (stable.isNegative()) {
            throw new IllegalArgumentException("stable: " + stable + " (expected: >= 0)");
        }
        return new ZMTPReconnect(initial, max, stable, null);
    }

    /** Returns a policy that does not try again: the connector stops at the first failure, and messages for it fail. */
    public static ZMTPReconnect never() {
        return NEVER;
    }

    /** Returns the same policy with a listener that may decide otherwise. */
    public ZMTPReconnect withListener(Listener listener) {
        return new ZMTPReconnect(initial, max, stable, Objects.requireNonNull(listener, "listener"));
    }

    boolean isNever() {
        return max.isZero();
    }

    Duration initial() {
        return initial;
    }

    Duration max() {
        return max;
    }

    Duration stable() {
        return stable;
    }

    @Nullable
    Listener listener() {
        return listener;
    }
}
