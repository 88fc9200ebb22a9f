package dev.zmtp.compare;

import java.util.List;
import java.util.Map;

/**
 * The result of one window: figures, or the reason why there are none.
 *
 * @param cell the id of the cell
 * @param peer the name of the peer
 * @param lap the lap, from 1 on: windows of one lap are neighbors
 * @param values the figures, empty if nothing was measured
 * @param counted what each process counted in the measured window, the sending or only one first
 * @param notMeasured the reason, empty if all was measured
 */
record Sample(String cell, String peer, int lap, Map<Metric, Double> values, List<Mark> counted, String notMeasured) {

    /** A window without figures. */
    static Sample without(String cell, String peer, int lap, String reason) {
        return new Sample(cell, peer, lap, Map.of(), List.of(), reason);
    }

    /** Whether this is a window of that cell and that peer. */
    boolean isOf(String cell, String peer) {
        return this.cell.equals(cell) && this.peer.equals(peer);
    }

    /** Whether there are figures. */
    boolean measured() {
        return notMeasured.isEmpty();
    }
}
