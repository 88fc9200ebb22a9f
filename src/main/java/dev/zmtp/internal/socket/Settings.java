package dev.zmtp.internal.socket;

import java.time.Duration;

/** Checks settings. The exceptions say the value and what was expected. */
public final class Settings {

    /** Longer than any process lives. */
    public static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private Settings() {}

    public static Duration positive(String name, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1 ms)");
        }
        return value;
    }

    public static Duration notNegative(String name, Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 0)");
        }
        return value;
    }

    public static int atLeast(String name, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= " + least + ")");
        }
        return value;
    }

    public static long nanos(Duration duration) {
        if (duration.isNegative()) {
            return -1; // however long ago
        }
        return duration.compareTo(FOREVER) >= 0 ? Long.MAX_VALUE : duration.toNanos();
    }
}
