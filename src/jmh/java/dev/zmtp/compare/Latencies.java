package dev.zmtp.compare;

import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The latencies of one measured window, in nanoseconds, to three significant digits. */
final class Latencies {

    /** The start of the line. */
    static final String PREFIX = "latencies";

    private static final int DIGITS = 3;

    private final Histogram histogram;

    private Latencies(Histogram histogram) {
        this.histogram = histogram;
    }

    /**
     * Reads a line such as {@code latencies 1500:20,1600:3}, values and how often each was seen; throws
     * {@link IllegalArgumentException} if it is not one.
     */
    static Latencies parse(String line) {
        if (!line.startsWith(PREFIX)) {
            throw wrong(line, "a line that starts with \"latencies\"");
        }
        Histogram histogram = new Histogram(DIGITS);
        String items = line.substring(PREFIX.length()).strip();
        if (!items.isEmpty()) {
            for (String item : items.split(",", -1)) {
                if (!item.matches("[0-9]{1,15}:[0-9]{1,15}")) {
                    throw wrong(line, "value:count, not \"" + item + "\"");
                }
                int colon = item.indexOf(':');
                histogram.recordValueWithCount(
                        Long.parseLong(item.substring(0, colon)), Long.parseLong(item.substring(colon + 1)));
            }
        }
        return new Latencies(histogram);
    }

    /** How many latencies there are. */
    long count() {
        return histogram.getTotalCount();
    }

    /** The percentiles and the maximum; none if nothing was recorded. */
    Map<Metric, Double> figures() {
        Map<Metric, Double> figures = new EnumMap<>(Metric.class);
        if (count() > 0) {
            figures.put(Metric.P50, (double) histogram.getValueAtPercentile(50));
            figures.put(Metric.P90, (double) histogram.getValueAtPercentile(90));
            figures.put(Metric.P99, (double) histogram.getValueAtPercentile(99));
            figures.put(Metric.P99_9, (double) histogram.getValueAtPercentile(99.9));
            figures.put(Metric.P99_99, (double) histogram.getValueAtPercentile(99.99));
            figures.put(Metric.MAX, (double) histogram.getMaxValue());
        }
        return figures;
    }

    private static IllegalArgumentException wrong(String line, String expected) {
        String shown = line.length() <= 80 ? line : line.substring(0, 80) + "...";
        return new IllegalArgumentException("latencies: \"" + shown + "\" (expected: " + expected + ")");
    }
}
