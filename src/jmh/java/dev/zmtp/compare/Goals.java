package dev.zmtp.compare;

import static dev.zmtp.compare.Peers.JEROMQ;
import static dev.zmtp.compare.Peers.LIBZMQ;
import static dev.zmtp.compare.Peers.OURS;
import static dev.zmtp.compare.Peers.PREDECESSOR;
import static dev.zmtp.compare.Peers.RAW;

import dev.zmtp.compare.Results.Row;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** What this codec wants to reach, and what it did. */
final class Goals {

    /** An object takes 16 octets at least: fewer than this for a message is the harness, not the message. */
    private static final double NOTHING = 0.5;

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
        for (String transport : Peers.TRANSPORTS) {
            throughput("oneway-1000", RAW + " " + transport, 0.6);
        }
        for (String transport : Peers.TRANSPORTS) {
            throughput("oneway-65536", RAW + " " + transport, 0.9);
            throughput("oneway-1048576", RAW + " " + transport, 0.9);
        }
        throughput("reqrep", PREDECESSOR, 3);
        throughput("reqrep-pair", PREDECESSOR, 3);
        for (Metric metric : List.of(Metric.P50, Metric.P99)) {
            for (String transport : Peers.TRANSPORTS) {
                latency(metric, RAW + " " + transport, 1.15);
            }
            latency(metric, LIBZMQ, 0.2);
        }
        for (String transport : Peers.TRANSPORTS) {
            nothingAllocated(OURS + " " + transport);
        }
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

    private void latency(Metric metric, String other, double wanted) {
        String cell = "roundtrip-256-256";
        Optional<Row> theirs = row(cell, other);
        Optional<Row> ours = theirs.flatMap(row -> results.counterpart(cell, OURS, row.transport()));
        if (ours.isEmpty()) {
            omitted.add(cell + " against " + other);
            return;
        }
        Optional<Spread> above = results.spread(cell, ours.get().name(), metric);
        Optional<Spread> below = results.spread(cell, other, metric);
        line(title(cell) + ", " + metric.name().toLowerCase(Locale.ROOT) + ": "
                + ours.get().name() + " against " + other);
        column("≤ " + number(wanted) + " × the time");
        column(above.map(spread -> Text.nanos(spread.median())));
        column(below.map(spread -> Text.nanos(spread.median())));
        verdict(above, below, wanted, true);
    }

    private void nothingAllocated(String ours) {
        String cell = "oneway-100";
        if (row(cell, ours).isEmpty()) {
            omitted.add(cell + " of " + ours);
            return;
        }
        Optional<Spread> sending = results.spread(cell, ours, Metric.ALLOCATED_SENDING);
        Optional<Spread> receiving = results.spread(cell, ours, Metric.ALLOCATED_RECEIVING);
        line(title(cell) + ": octets allocated for a message, " + ours);
        column("0 B");
        String sent = sending.map(spread -> Text.digits(spread.median())).orElse("–");
        String received = receiving.map(spread -> Text.digits(spread.median())).orElse("–");
        column(sent + " B sending, " + received + " B receiving");
        column("–");
        column("–");
        if (sending.isEmpty() || receiving.isEmpty()) {
            end("not measured");
        } else {
            end(Math.max(sending.get().median(), receiving.get().median()) < NOTHING ? "met" : "**missed**");
        }
    }

    /**
     * Whether the goal is met. Where the ranges overlap there is no ratio to state, but then neither is ahead of the other,
     * which is enough for a goal that asks for less than that.
     */
    private void verdict(Optional<Spread> ours, Optional<Spread> theirs, double wanted, boolean atMost) {
        if (ours.isEmpty() || theirs.isEmpty()) {
            column("–");
            end("not measured");
            return;
        }
        column(Table.ratio(ours.get(), theirs.get()));
        OptionalDouble ratio = ours.get().ratioTo(theirs.get());
        if (ratio.isPresent()) {
            boolean met = atMost ? ratio.getAsDouble() <= wanted : ratio.getAsDouble() >= wanted;
            end(met ? "met" : "**missed**");
        } else if (ours.get().count() < 2 || theirs.get().count() < 2) {
            end("not judged");
        } else {
            end((atMost ? wanted >= 1 : wanted <= 1) ? "met" : "**missed**");
        }
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
