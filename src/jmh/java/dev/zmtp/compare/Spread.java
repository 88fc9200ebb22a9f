package dev.zmtp.compare;

import java.util.List;

/** One figure over several windows: the median and the quartiles. */
record Spread(double median, double lower, double upper, int count) {

    /** The spread of {@code values}, at least one. */
    static Spread of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("values: none (expected: at least one)");
        }
        List<Double> sorted = values.stream().sorted().toList();
        return new Spread(quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75), sorted.size());
    }

    /** Between two values, in proportion to the distance from each. */
    private static double quantile(List<Double> sorted, double share) {
        double at = share * (sorted.size() - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.size() - 1);
        return sorted.get(below) + (at - below) * (sorted.get(above) - sorted.get(below));
    }

    /** The same in another unit: {@code factor} times each value. */
    Spread times(double factor) {
        return new Spread(median * factor, lower * factor, upper * factor, count);
    }
}
