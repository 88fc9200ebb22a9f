package dev.zmtp.compare;

import static dev.zmtp.compare.ComparedPeers.JEROMQ;
import static dev.zmtp.compare.ComparedPeers.LIBZMQ;
import static dev.zmtp.compare.ComparedPeers.OURS;
import static dev.zmtp.compare.ComparedPeers.PREDECESSOR;
import static dev.zmtp.compare.ComparedPeers.RAW;

import dev.zmtp.compare.Results.Row;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The goals of this codec, and whether a run met them. */
final class Goals {

    /**
     * An object takes at least 16 bytes: less than this for each message comes from the harness, not from the message.
     */
    private static final double NOTHING = 0.5;

    /** Bytes of the objects that the application itself makes in {@code custom} for each reply that it reads. */
    private static final int OWN_ASKING = 32;

    /** As {@link #OWN_ASKING}, for each request: itself, its two arrays and the reply. */
    private static final int OWN_ANSWERING = 144;

    private static final String BLOCKING = "roundtrip-256-256";

    private final Results results;
    private final StringBuilder text = new StringBuilder();
    private final Set<String> omitted = new LinkedHashSet<>();

    private Goals(Results results) {
        this.results = results;
    }

    /** The table of all goals, in Markdown. */
    static String of(Results results) {
        Goals goals = new Goals(results);
        goals.write();
        return goals.text.toString();
    }

    private void write() {
        text.append("| goal | wanted | netty-zmtp | the other | reached | |\n");
        text.append("| --- | --- | ---: | ---: | ---: | --- |\n");
        throughput("oneway-100", PREDECESSOR, 3);
        throughput("oneway-100-pair", PREDECESSOR, 3);
        throughput("oneway-100", LIBZMQ, 6);
        throughput("oneway-100", JEROMQ, 15);
        for (String transport : ComparedPeers.TRANSPORTS) {
            throughput("oneway-1000", RAW + " " + transport, 0.6);
        }
        for (String transport : ComparedPeers.TRANSPORTS) {
            throughput("oneway-65536", RAW + " " + transport, 0.9);
            throughput("oneway-1048576", RAW + " " + transport, 0.9);
        }
        throughput("reqrep", PREDECESSOR, 3);
        throughput("reqrep-pair", PREDECESSOR, 3);
        for (String cell : List.of(BLOCKING, BLOCKING + Cells.BUSY)) {
            for (Metric metric : List.of(Metric.P50, Metric.P99)) {
                for (String transport : ComparedPeers.TRANSPORTS) {
                    latency(metric, cell, cell, RAW + " " + transport, 1.15);
                }
                // libzmq has no busy loop: what it can do is in the cell that blocks.
                latency(metric, cell, BLOCKING, LIBZMQ, 0.2);
            }
        }
        for (String transport : ComparedPeers.TRANSPORTS) {
            nothingAllocated("oneway-100", OURS + " " + transport, 0, 0);
        }
        for (String transport : ComparedPeers.TRANSPORTS) {
            nothingAllocated("custom", OURS + " " + transport, OWN_ASKING, OWN_ANSWERING);
        }
        for (String size : List.of("100", "1000", "65536")) {
            throughput("oneway-" + size + Cells.CURVE, JEROMQ, 3);
            throughput("oneway-" + size + Cells.CURVE, LIBZMQ, 0.5);
        }
        latency(Metric.P50, BLOCKING + Cells.CURVE, BLOCKING + Cells.CURVE, JEROMQ, 0.33);
        latency(Metric.P50, BLOCKING + Cells.CURVE, BLOCKING + Cells.CURVE, LIBZMQ, 2);
        if (!omitted.isEmpty()) {
            text.append("\nNot part of this run: ")
                    .append(String.join(", ", omitted))
                    .append(".\n");
        }
    }

    private void throughput(String cell, String other, double wanted) {
        Optional<Row> theirs = row(cell, other);
        Optional<Row> ours = theirs.flatMap(row -> results.counterpart(cell, OURS, row.transport()));
        if (ours.isEmpty()) {
            omitted.add(cell + " against " + other);
            return;
        }
        Optional<Spread> above = results.spread(cell, ours.get().name(), Metric.PER_SECOND);
        Optional<Spread> below = results.spread(cell, other, Metric.PER_SECOND);
        line(title(cell) + ": " + ours.get().name() + " against " + other);
        column("≥ " + number(wanted) + " × the messages/s");
        column(above.map(spread -> Text.count(spread.median())));
        column(below.map(spread -> Text.count(spread.median())));
        verdict(above, below, wanted, false);
    }

    /** Checks a latency in {@code cell} against that of {@code other} in {@code otherCell}. */
    private void latency(Metric metric, String cell, String otherCell, String other, double wanted) {
        Optional<Row> theirs = row(otherCell, other);
        Optional<Row> ours = theirs.flatMap(row -> results.counterpart(cell, OURS, row.transport()));
        if (ours.isEmpty()) {
            omitted.add(cell + " against " + other);
            return;
        }
        Optional<Spread> above = results.spread(cell, ours.get().name(), metric);
        Optional<Spread> below = results.spread(otherCell, other, metric);
        line(title(cell) + ", " + metric.name().toLowerCase(Locale.ROOT) + ": "
                + ours.get().name() + " against " + other
                + (cell.equals(otherCell) ? "" : " where it blocks, as it always does"));
        column("≤ " + number(wanted) + " × the time");
        column(above.map(spread -> Text.nanos(spread.median())));
        column(below.map(spread -> Text.nanos(spread.median())));
        verdict(above, below, wanted, true);
    }

    /** Checks how many bytes a row allocates for a message at each end, apart from the application's own objects. */
    private void nothingAllocated(String cell, String ours, int ownSending, int ownReceiving) {
        if (row(cell, ours).isEmpty()) {
            omitted.add(cell + " of " + ours);
            return;
        }
        Optional<Spread> sending = results.spread(cell, ours, Metric.ALLOCATED_SENDING);
        Optional<Spread> receiving = results.spread(cell, ours, Metric.ALLOCATED_RECEIVING);
        line(title(cell) + ": bytes allocated for a message, " + ours);
        column(
                ownSending + ownReceiving == 0
                        ? "0 B"
                        : "0 B apart from the user's objects of " + ownSending + " B asking, " + ownReceiving
                                + " B answering");
        String ends = cell.equals("custom") ? "%s B asking, %s B answering" : "%s B sending, %s B receiving";
        column(String.format(Locale.ROOT, ends, bytes(sending), bytes(receiving)));
        column("–");
        column("–");
        if (sending.isEmpty() || receiving.isEmpty()) {
            end("not measured");
        } else {
            double more = Math.max(
                    sending.get().median() - ownSending, receiving.get().median() - ownReceiving);
            end(more < NOTHING ? "met" : "**missed**");
        }
    }

    private static String bytes(Optional<Spread> allocated) {
        return allocated.map(spread -> Text.digits(spread.median())).orElse("–");
    }

    /** Whether the medians meet the goal. Where the ranges overlap the ratio says little, and the column says so. */
    private void verdict(Optional<Spread> ours, Optional<Spread> theirs, double wanted, boolean atMost) {
        if (ours.isEmpty() || theirs.isEmpty()) {
            column("–");
            end("not measured");
            return;
        }
        column(Table.ratioInWords(ours.get(), theirs.get()));
        if (ours.get().count() < 2 || theirs.get().count() < 2) {
            end("one round only");
            return;
        }
        double ratio = ours.get().median() / theirs.get().median();
        end((atMost ? ratio <= wanted : ratio >= wanted) ? "met" : "**missed**");
    }

    private Optional<Row> row(String cell, String name) {
        return results.rows(cell).stream()
                .filter(row -> row.name().equals(name))
                .findFirst();
    }

    private String title(String id) {
        return results.cell(id).map(Cell::title).orElse(id);
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    private void line(String goal) {
        text.append("| ").append(goal).append(" | ");
    }

    private void column(Optional<String> value) {
        column(value.orElse("–"));
    }

    private void column(String value) {
        text.append(value).append(" | ");
    }

    private void end(String verdict) {
        text.append(verdict).append(" |\n");
    }
}
