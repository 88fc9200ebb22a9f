package dev.zmtp.compare;

import java.util.List;
import java.util.Map;

/**
 * The result of one run: figures, or the reason why there are none.
 *
 * @param cell the id of the cell
 * @param peer the name of the peer
 * @param round the round, from 1 on
 * @param values the figures, empty if nothing was measured
 * @param counted what each process counted in the measured window, the sending or only one first
 * @param notMeasured the reason, empty if all was measured
 * @param lasting whether another try would fail the same way
 */
record Sample(
        String cell,
        String peer,
        int round,
        Map<Metric, Double> values,
        List<Mark> counted,
        String notMeasured,
        boolean lasting) {

    /** A run without figures. */
    static Sample without(String cell, String peer, int round, String reason, boolean lasting) {
        return new Sample(cell, peer, round, Map.of(), List.of(), reason, lasting);
    }

    /** Whether there are figures. */
    boolean measured() {
        return notMeasured.isEmpty();
    }
}
