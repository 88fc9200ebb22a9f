package dev.zmtp.compare;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * What a comparison prints while it runs: results, and between them how far it is. Windows are shorter than the time in
 * which one reads a line, so there is at most one such line in {@link #INTERVAL}.
 */
final class CellProgress {

    /** The least time between two lines that say how far it is. */
    static final Duration INTERVAL = Duration.ofSeconds(5);

    private final PrintWriter out;
    private final LongSupplier nanoTime;
    private long last;

    /** To {@code out}, by the clock {@code nanoTime}. */
    CellProgress(PrintWriter out, LongSupplier nanoTime) {
        this.out = out;
        this.nanoTime = nanoTime;
        this.last = nanoTime.getAsLong();
    }

    /** Prints a result. */
    void result(String line) {
        out.println(line);
        out.flush();
    }

    /** Prints how far the comparison is, unless it did so a moment ago. */
    void at(String place) {
        long now = nanoTime.getAsLong();
        if (now - last >= INTERVAL.toNanos()) {
            last = now;
            result(place);
        }
    }
}
