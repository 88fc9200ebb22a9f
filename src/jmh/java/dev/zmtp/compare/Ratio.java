package dev.zmtp.compare;

import java.util.List;

/**
 * How many times one figure is another, from pairs of neighboring windows.
 *
 * <p>Each window of one peer is divided by the window of the other in the same lap. What slows the machine down for
 * seconds slows both down, and is not in the ratio.
 *
 * @param median the median of the pairs
 * @param low the least that the true median is, with a confidence of 95 % or more
 * @param high the most that it is
 * @param count the number of pairs
 */
record Ratio(double median, double low, double high, int count) {

    /** With fewer pairs not even the whole range has a confidence of 95 %. */
    static final int MIN_PAIRS = 6;

    private static final double TAIL = 0.025;

    /** The ratio of {@code pairs}, at least one. */
    static Ratio of(List<Double> pairs) {
        Spread spread = Spread.of(pairs);
        List<Double> sorted = pairs.stream().sorted().toList();
        int count = sorted.size();
        int outside = outside(count);
        return new Ratio(spread.median(), sorted.get(outside), sorted.get(count - 1 - outside), count);
    }

    /**
     * How many pairs may be left out at each end. Each pair is below the true median with a probability of one half,
     * whatever the distribution, so their number has a binomial distribution.
     */
    private static int outside(int count) {
        double one = Math.pow(0.5, count);
        double below = 0;
        int outside = 0;
        while (true) {
            below += one;
            if (below > TAIL) {
                return Math.max(0, outside - 1);
            }
            one = one * (count - outside) / (outside + 1);
            outside++;
        }
    }

    /** Whether one of the two is ahead for certain: there are enough pairs, and 1 is outside of the interval. */
    boolean isClear() {
        return count >= MIN_PAIRS && (low > 1 || high < 1);
    }

    /** The ratio the other way around. */
    Ratio inverse() {
        return new Ratio(1 / median, 1 / high, 1 / low, count);
    }
}
