package dev.zmtp.compare;

import dev.zmtp.compare.peer.Workload;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One thing that is measured for several peers: a table of the report.
 *
 * @param id what {@code --cell} selects by
 * @param title the title of its table
 * @param workload the value of the key {@code workload}
 * @param pair whether both ends run in one process, each on its own thread
 * @param keys the other keys, in order
 * @param load the share of the slowest peer's maximum, as {@code loadOf} has it, that is the key {@code rate} of all
 *     peers; 0 if none
 * @param loadOf the id of the cell that measures the maxima, empty if none
 * @param peers the names of the peers that are measured
 */
record Cell(
        String id,
        String title,
        Workload workload,
        boolean pair,
        Map<String, String> keys,
        double load,
        String loadOf,
        List<String> peers) {

    /** The same cell with other peers. */
    Cell withPeers(List<String> others) {
        return new Cell(id, title, workload, pair, keys, load, loadOf, others);
    }

    /** Whether it is one of sockets, and not of codecs. */
    boolean isOfSockets() {
        return id.startsWith(SocketCells.PREFIX);
    }

    /** The library that the others are compared with. */
    String subject() {
        return isOfSockets() ? ComparedPeers.SOCKETS : ComparedPeers.OURS;
    }

    /** Whether latencies are recorded. They mean nothing where a peer is asked for more than it can do. */
    boolean timed() {
        return workload.timed() && !id.equals(Cells.MAXIMUM);
    }

    /** The figures by which rows of this cell are compared first. */
    List<Metric> headlines() {
        if (workload == Workload.IDLE) {
            return List.of(Metric.RSS_PER_CONNECTION);
        }
        return timed() ? List.of(Metric.P50, Metric.P99) : List.of(Metric.PER_SECOND);
    }

    /** What {@code metric} is called in this cell. */
    String name(Metric metric) {
        return switch (metric) {
            case PER_SECOND -> workload.answered() && workload != Workload.OPENLOOP ? "requests/s" : "messages/s";
            case RSS_PER_CONNECTION -> "resident memory per connection";
            default -> metric.name().toLowerCase(Locale.ROOT);
        };
    }

    /** The number that {@code key} has, or {@code otherwise} without it. */
    long number(String key, long otherwise) {
        String value = keys.get(key);
        return value == null ? otherwise : Long.parseLong(value);
    }
}
