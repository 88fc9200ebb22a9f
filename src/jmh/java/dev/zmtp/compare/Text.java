package dev.zmtp.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.DoubleFunction;
import java.util.function.Function;

/** Figures as a reader sees them: three significant digits, and a unit. */
final class Text {

    private Text() {}

    /** A number of things, such as {@code 6.12 M}. */
    static String count(double value) {
        if (value >= 1e6) {
            return digits(value / 1e6) + " M";
        }
        return value >= 1e4 ? digits(value / 1e3) + " k" : digits(value);
    }

    /** As {@link #count}, at the tick of an axis: {@code 2 M}. */
    static String axis(double value) {
        return count(value).replaceFirst("\\.0+(?= |$)", "");
    }

    /** Nanoseconds, such as {@code 18.2 µs}. */
    static String nanos(double value) {
        return value >= 1e7 ? digits(value / 1e6) + " ms" : digits(value / 1e3) + " µs";
    }

    /** An amount of memory in bytes, such as {@code 4.12 KiB}. */
    static String bytes(double value) {
        if (Math.abs(value) >= 1 << 20) {
            return digits(value / (1 << 20)) + " MiB";
        }
        return Math.abs(value) >= 1 << 10 ? digits(value / (1 << 10)) + " KiB" : digits(value) + " B";
    }

    /** The size of a message, such as {@code 1,000 bytes} or {@code 64 KiB}. */
    static String size(long bytes) {
        if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes >= 1 << 14 && bytes % (1 << 10) == 0
                ? (bytes >> 10) + " KiB"
                : String.format(Locale.ROOT, "%,d bytes", bytes);
    }

    /** A figure of {@code metric} with its unit, such as {@code 6.12 M/s}. */
    static String figure(Metric metric, double value) {
        return switch (metric) {
            case PER_SECOND -> count(value) + "/s";
            case RSS_PER_CONNECTION, HEAP_PER_CONNECTION -> bytes(value);
            default -> nanos(value);
        };
    }

    /** A share of one, such as {@code 12.5 %}. */
    static String percent(double value) {
        return digits(value * 100) + " %";
    }

    /** Three significant digits, and all digits before the point; small amounts lose their end, not their beginning. */
    static String digits(double value) {
        double size = Math.abs(value);
        if (size < 0.005) {
            return "0";
        }
        return String.format(Locale.ROOT, size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f", value);
    }

    /** A median with its quartiles, such as {@code 6.12 M (5.9 M to 6.3 M)}; without them if there was one window. */
    static String spread(Spread spread, DoubleFunction<String> unit) {
        String median = unit.apply(spread.median());
        return spread.count() < 2
                ? median
                : median + " (" + unit.apply(spread.lower()) + " to " + unit.apply(spread.upper()) + ")";
    }

    /** A ratio with its interval, such as {@code 1.60 × (1.52 to 1.71)}; marked if neither is ahead for certain. */
    static String ratio(Ratio ratio) {
        String text = String.format(Locale.ROOT, "%.2f × (%.2f to %.2f)", ratio.median(), ratio.low(), ratio.high());
        return ratio.isClear() ? text : "≈ " + text;
    }

    /** What was measured, in one line. */
    static String summary(Function<Metric, Optional<Spread>> figures) {
        List<String> parts = new ArrayList<>();
        figures.apply(Metric.PER_SECOND).ifPresent(rate -> parts.add(spread(rate, Text::count) + " messages/s"));
        figures.apply(Metric.P50).ifPresent(time -> parts.add("p50 " + spread(time, Text::nanos)));
        figures.apply(Metric.P99).ifPresent(time -> parts.add("p99 " + spread(time, Text::nanos)));
        figures.apply(Metric.RSS_PER_CONNECTION)
                .ifPresent(size -> parts.add(spread(size, Text::bytes) + " resident for each connection"));
        return String.join(", ", parts);
    }

    /** What connections are made of, by its key. */
    static String medium(String key) {
        return switch (key) {
            case "tcp" -> "TCP";
            case "ipc" -> "Unix domain sockets";
            case "shm" -> "shared memory";
            default -> throw new IllegalArgumentException("medium: " + key + " (expected: tcp, ipc or shm)");
        };
    }
}
