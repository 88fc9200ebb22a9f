package dev.zmtp.compare;

import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleFunction;

/** Figures as a reader sees them: three digits that mean something, and a unit. */
final class Text {

    private Text() {}

    /** A number of things, such as {@code 6.12 M}. */
    static String count(double value) {
        if (value >= 1e6) {
            return digits(value / 1e6) + " M";
        }
        return value >= 1e4 ? digits(value / 1e3) + " k" : digits(value);
    }

    /** Nanoseconds, such as {@code 18.2 µs}. */
    static String nanos(double value) {
        return value >= 1e7 ? digits(value / 1e6) + " ms" : digits(value / 1e3) + " µs";
    }

    /** Octets, such as {@code 4.12 KiB}. */
    static String octets(double value) {
        if (Math.abs(value) >= 1 << 20) {
            return digits(value / (1 << 20)) + " MiB";
        }
        return Math.abs(value) >= 1 << 10 ? digits(value / (1 << 10)) + " KiB" : digits(value) + " B";
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

    /** A median with its range, such as {@code 6.12 M (5.9 M to 6.3 M)}; without one if there was one round. */
    static String spread(Spread spread, DoubleFunction<String> unit) {
        String median = unit.apply(spread.median());
        return spread.count() < 2
                ? median
                : median + " (" + unit.apply(spread.min()) + " to " + unit.apply(spread.max()) + ")";
    }

    /** What one line can say of a run. */
    static String summary(Sample sample) {
        if (!sample.measured()) {
            return "not measured: " + sample.notMeasured();
        }
        Map<Metric, Double> values = sample.values();
        StringBuilder text = new StringBuilder();
        if (values.containsKey(Metric.PER_SECOND)) {
            text.append(count(values.get(Metric.PER_SECOND))).append(" messages/s");
        }
        if (values.containsKey(Metric.P50)) {
            text.append(", p50 ").append(nanos(values.get(Metric.P50)));
            text.append(", p99 ").append(nanos(values.get(Metric.P99)));
        }
        if (values.containsKey(Metric.RSS_PER_CONNECTION)) {
            text.append(octets(values.get(Metric.RSS_PER_CONNECTION))).append(" resident for each connection");
        }
        return text.toString();
    }
}
