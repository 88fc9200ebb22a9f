package dev.zmtp.socket;

import java.time.Duration;

/** Checks settings. The exceptions say the value and what was expected. */
final class Settings {

    /** Longer than any process lives. */
    static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private Settings() {}

    static Duration positive(String name, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1 ms)");
        }
        return value;
    }

    static Duration notNegative(String name, Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 0)");
        }
        return value;
    }

    static int atLeast(String name, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= " + least + ")");
        }
        return value;
    }

    static long nanos(Duration duration) {
        if (duration.isNegative()) {
            return -1; // however long ago
        }
        return duration.compareTo(FOREVER) >= 0 ? Long.MAX_VALUE : duration.toNanos();
    }
}
