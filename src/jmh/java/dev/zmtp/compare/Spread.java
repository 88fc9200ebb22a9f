package dev.zmtp.compare;

import java.util.List;
import java.util.OptionalDouble;

/** One figure over several rounds: the median and the range. */
record Spread(double median, double min, double max, int count) {

    /** The spread of {@code values}, at least one. */
    static Spread of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("values: none (expected: at least one)");
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1), sorted.size());
    }

    /** The same in another unit: {@code factor} times each value. */
    Spread times(double factor) {
        return new Spread(median * factor, min * factor, max * factor, count);
    }

    /** Whether some value lies in both ranges. */
    boolean overlaps(Spread other) {
        return min <= other.max && other.min <= max;
    }

    /**
     * How many times {@code other} this is, by the medians; absent if the ranges overlap, if either has no range
     * because it is of one round only, or if {@code other} is not above zero.
     */
    OptionalDouble ratioTo(Spread other) {
        if (count < 2 || other.count < 2 || overlaps(other) || other.median <= 0) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(median / other.median);
    }
}
