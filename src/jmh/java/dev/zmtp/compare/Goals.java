package dev.zmtp.compare;

import static dev.zmtp.compare.ComparedPeers.JEROMQ;
import static dev.zmtp.compare.ComparedPeers.LEAST;
import static dev.zmtp.compare.ComparedPeers.LIBZMQ;
import static dev.zmtp.compare.ComparedPeers.OMQ;
import static dev.zmtp.compare.ComparedPeers.OURS;
import static dev.zmtp.compare.ComparedPeers.PREDECESSOR;
import static dev.zmtp.compare.ComparedPeers.RAW;
import static dev.zmtp.compare.ComparedPeers.SOCKETS;

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

    /** The least share of what the least handlers reach with the same flushes. */
    private static final double OF_THE_LEAST = 0.95;

    /** Bytes of memory for a peer of a socket that has nothing to say. */
    private static final int IDLE_PEER = 8 << 10;

    private static final List<String> MEASURED_MOST = List.of("nio", "epoll");

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
        String oneWay = "oneway-100";
        nobodyAhead();
        throughput(oneWay + Cells.DEFAULTS, LEAST + " nio", OF_THE_LEAST);
        throughput(oneWay, LEAST + " nio" + ComparedPeers.FULL, OF_THE_LEAST);
        throughput("oneway-1000", OMQ, 3);
        throughput("reqrep" + Cells.DEFAULTS, LEAST + " nio", OF_THE_LEAST);
        throughput("reqrep", PREDECESSOR, 2);
        throughput("reqrep", LEAST + " nio", OF_THE_LEAST);
        throughput("custom", PREDECESSOR, 1.5);
        throughput("custom", LEAST + " nio", OF_THE_LEAST);
        for (String size : List.of("65536", "1048576")) {
            for (String transport : MEASURED_MOST) {
                throughput("oneway-" + size, RAW + " " + transport + ComparedPeers.KEEPING, 0.95);
            }
            throughput("oneway-" + size, LIBZMQ, 1.2);
        }
        for (String connections : List.of("1000", "10000")) {
            for (String transport : MEASURED_MOST) {
                throughput("connections-" + connections, OURS + " " + transport + ComparedPeers.FEW, 0.9);
            }
        }
        for (String size : List.of("1000", "65536")) {
            throughput("oneway-" + size + Cells.CURVE, LIBZMQ, 0.9);
        }
        for (String transport : MEASURED_MOST) {
            throughput("oneway-65536" + Cells.IPC, RAW + " " + transport + ComparedPeers.KEEPING, 0.9);
        }
        String overTcp = OURS + " nio" + ComparedPeers.TCP;
        throughput(oneWay + Cells.SHM, LEAST + " nio", OF_THE_LEAST);
        throughput(oneWay + Cells.SHM, OMQ, 4);
        throughput("oneway-1000" + Cells.SHM, OMQ, 1.5);
        for (String roundTrip : List.of("roundtrip-256-256", "roundtrip-4-1024")) {
            atMost(roundTrip + Cells.BUSY + Cells.SHM, Metric.P50, overTcp, 1.0 / 8, "time");
            atMost(roundTrip + Cells.BUSY + Cells.SHM, Metric.P50, ComparedPeers.AERON, 2, "time");
        }
        for (String load : List.of("50000", "50-percent")) {
            for (String other : List.of(LIBZMQ, PREDECESSOR)) {
                atMost("openloop-" + load, Metric.P99, other, 1, "time");
            }
        }
        sockets();
        atMost("idle-10000", Metric.HEAP_PER_CONNECTION, RAW + " epoll", 1.4, "memory");
        for (String transport : ComparedPeers.TRANSPORTS) {
            nothingAllocated(oneWay, OURS + " " + transport, 0, 0);
        }
        for (String transport : MEASURED_MOST) {
            nothingAllocated("custom", OURS + " " + transport, OWN_ASKING, OWN_ANSWERING);
        }
        if (!omitted.isEmpty()) {
            text.append("\nNot part of this run: ")
                    .append(String.join(", ", omitted))
                    .append(".\n");
        }
    }

    /** Checks that in no row another library is ahead for certain. */
    private void nobodyAhead() {
        long ahead = Behind.of(results).stream().filter(Behind::isClear).count();
        line("Rows of all [tables](figures.md) in which [another library is ahead](behind.md) for certain");
        column("0");
        column(Long.toString(ahead));
        column("–");
        column("–");
        end(ahead == 0 ? "met" : "**missed**");
    }

    private void sockets() {
        String oneWay = SocketCells.ONEWAY + "100";
        throughput(oneWay, LIBZMQ, 3);
        for (String transport : MEASURED_MOST) {
            throughput(oneWay, OURS + " " + transport, 0.85);
        }
        throughput(oneWay + SocketCells.WS, LIBZMQ, 1);
        for (String transport : MEASURED_MOST) {
            throughput(oneWay + SocketCells.WS, SOCKETS + " " + transport + ComparedPeers.TCP, 0.6);
        }
        for (String size : SocketCells.ROUND_TRIPS) {
            atMost(SocketCells.ROUNDTRIP + size, Metric.P50, LIBZMQ, 0.7, "time");
        }
        atMost(SocketCells.ROUNDTRIP + "64", Metric.P50, RAW + " epoll", 1.15, "time");
        for (String shape : List.of("frames", "64")) {
            throughput(SocketCells.REQUESTS + shape, LIBZMQ, 3);
        }
        for (String size : List.of("64", "4096")) {
            throughput(SocketCells.PUB + "1000-" + size, LIBZMQ, 3);
        }
        for (String connections : List.of("10", "100")) {
            for (String transport : MEASURED_MOST) {
                against(
                        SocketCells.NEWS + connections + SocketCells.MUTE,
                        SocketCells.NEWS + connections,
                        SOCKETS + " " + transport,
                        Metric.P99,
                        1.2);
            }
        }
        throughput(SocketCells.INPROC + "oneway-100", JEROMQ, 2);
        atMost(SocketCells.INPROC + "roundtrip-64", Metric.P50, JEROMQ, 0.5, "time");
        for (String transport : MEASURED_MOST) {
            nothingAllocated(oneWay, SOCKETS + " " + transport, 0, 0);
        }
        for (String transport : MEASURED_MOST) {
            memory(SocketCells.IDLE + "10000", SOCKETS + " " + transport, IDLE_PEER);
        }
    }

    private void throughput(String cell, String other, double wanted) {
        line(cell, Metric.PER_SECOND, other, "≥ " + number(wanted) + " × the messages/s", wanted, false);
    }

    private void atMost(String cell, Metric metric, String other, double wanted, String what) {
        line(cell, metric, other, "≤ " + number(wanted) + " × the " + what, wanted, true);
    }

    private void line(String cell, Metric metric, String other, String wanted, double bound, boolean atMost) {
        Optional<Row> theirs = row(cell, other);
        Optional<Row> ours = theirs.flatMap(row -> results.counterpart(cell, subject(cell), row.transport()));
        if (ours.isEmpty()) {
            omitted.add(cell + " against " + other);
            return;
        }
        String name = metric == Metric.PER_SECOND
                ? ""
                : ", " + metric.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        line(title(cell) + name + ": " + ours.get().name() + " against " + other);
        column(wanted);
        column(results.spread(cell, ours.get().name(), metric).map(spread -> Text.figure(metric, spread.median())));
        column(results.spread(cell, other, metric).map(spread -> Text.figure(metric, spread.median())));
        Optional<Ratio> ratio = results.ratio(cell, ours.get().name(), other, metric);
        column(ratio.map(Text::ratio));
        String part = results.measuredPart(cell, ours.get().name());
        if (ratio.isEmpty()) {
            end("not measured");
        } else if (!part.isEmpty()) { // a window without messages is the worst that there is
            end("**missed**: measured in " + part);
        } else {
            double median = ratio.get().median();
            end((atMost ? median <= bound : median >= bound) ? "met" : "**missed**");
        }
    }

    /** Checks that a time of a row is at most {@code wanted} times that of the same row in another cell. */
    private void against(String cell, String plain, String ours, Metric metric, double wanted) {
        if (row(cell, ours).isEmpty() || row(plain, ours).isEmpty()) {
            omitted.add(cell + " against " + plain + " of " + ours);
            return;
        }
        Optional<Spread> time = results.spread(cell, ours, metric);
        Optional<Spread> without = results.spread(plain, ours, metric);
        line(title(cell) + ", " + metric.name().toLowerCase(Locale.ROOT) + ": " + ours + " against itself without it");
        column("≤ " + number(wanted) + " × the time");
        column(time.map(spread -> Text.figure(metric, spread.median())));
        column(without.map(spread -> Text.figure(metric, spread.median())));
        Optional<Double> ratio = time.flatMap(of -> without.map(base -> of.median() / base.median()));
        column(ratio.map(value -> String.format(Locale.ROOT, "%.2f × of medians", value)));
        end(ratio.map(value -> value <= wanted ? "met" : "**missed**").orElse("not measured"));
    }

    /** Checks how many bytes of the heap and of direct memory a row has for each connection. */
    private void memory(String cell, String ours, int bound) {
        if (row(cell, ours).isEmpty()) {
            omitted.add(cell + " of " + ours);
            return;
        }
        Optional<Double> bytes = results.spread(cell, ours, Metric.HEAP_PER_CONNECTION)
                .map(heap -> heap.median()
                        + results.spread(cell, ours, Metric.DIRECT_PER_CONNECTION)
                                .map(Spread::median)
                                .orElse(0.0));
        line(title(cell) + ": heap and direct memory for each, " + ours);
        column("≤ " + Text.bytes(bound));
        column(bytes.map(Text::bytes));
        column("–");
        column("–");
        end(bytes.map(value -> value <= bound ? "met" : "**missed**").orElse("not measured"));
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

    private String subject(String id) {
        return results.cell(id).map(Cell::subject).orElse(OURS);
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
