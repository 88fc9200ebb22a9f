package dev.zmtp.large;

import java.time.Duration;

/** The size of the tests in the large: the whole one with {@code -Plarge}, otherwise one that takes seconds. */
final class Size {

    /** Far more than anything takes that is not said to take minutes: only a failing test waits so long. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final boolean IS_WHOLE = Boolean.getBoolean("large");

    private Size() {}

    /** Returns the value for this run. */
    static <T> T of(T small, T whole) {
        return IS_WHOLE ? whole : small;
    }

    /** Prints what a test has measured, for {@code docs/soak.md}. */
    @SuppressWarnings("SystemOut") // Nothing else keeps it.
    static void report(long startNanos, String what) {
        if (IS_WHOLE) {
            double seconds = (System.nanoTime() - startNanos) / 1e9;
            System.out.printf("In the large: %s, in %.1f s%n", what, seconds);
        }
    }
}
