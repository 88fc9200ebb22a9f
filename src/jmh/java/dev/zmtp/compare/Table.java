package dev.zmtp.compare;

import static dev.zmtp.compare.Metric.ALLOCATED_RECEIVING;
import static dev.zmtp.compare.Metric.ALLOCATED_SENDING;
import static dev.zmtp.compare.Metric.CPU_PER_MILLION;
import static dev.zmtp.compare.Metric.CPU_RECEIVING;
import static dev.zmtp.compare.Metric.CPU_SENDING;
import static dev.zmtp.compare.Metric.PER_SECOND;
import static dev.zmtp.compare.Metric.RSS_RECEIVING;
import static dev.zmtp.compare.Metric.RSS_SENDING;

import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.DoubleFunction;

/** The table of one cell, in Markdown. */
final class Table {

    private static final int REASON_SHOWN = 60;

    private final Results results;
    private final Cell cell;
    private final StringBuilder text = new StringBuilder();
    private final List<String> notes = new ArrayList<>();

    private Table(Results results, Cell cell) {
        this.results = results;
        this.cell = cell;
    }

    /** The table, and below it why figures are missing. */
    static String of(Results results, Cell cell) {
        Table table = new Table(results, cell);
        table.write();
        return table.text.toString();
    }

    private void write() {
        List<String> header = new ArrayList<>(List.of("peer"));
        header.addAll(headers());
        line(header);
        line(header.stream().map(name -> name.equals("peer") ? "---" : "---:").toList());
        for (Row row : results.rows(cell.id())) {
            row(row, header.size());
        }
        for (int i = 0; i < notes.size(); i++) {
            text.append(i == 0 ? "\n" : "").append("- Note ").append(i + 1).append(": ");
            text.append(notes.get(i)).append('\n');
        }
    }

    private List<String> headers() {
        if (cell.workload() == Workload.IDLE) {
            return List.of(
                    "Java heap / connection", "direct / connection", "current RSS / connection", "CPU of a core");
        }
        if (cell.timed()) {
            List<String> headers = new ArrayList<>(List.of("p50", "p90", "p99", "p99.9", "p99.99", "max"));
            headers.add(cell.workload().scheduled() ? "messages/s: sent, intended, late" : "round trips/s");
            headers.addAll(
                    List.of("CPU s / million", "allocated B: ask, answer", "p50, p99: peer ÷ " + cell.subject()));
            return headers;
        }
        List<String> headers = new ArrayList<>(List.of(
                cell.name(PER_SECOND),
                "MB/s",
                cell.pair() ? "CPU s / million" : "CPU s / million: send, receive",
                cell.pair() ? "allocated B" : "allocated B: send, receive",
                cell.pair() ? "peak RSS" : "peak RSS: send, receive",
                cell.subject() + " ÷ peer"));
        if (cell.workload() == Workload.PUBSUB) {
            headers.add(1, "dropped");
        }
        return headers;
    }

    private void row(Row row, int columns) {
        List<Sample> samples = results.samples(cell.id(), row.name());
        List<String> reasons = samples.stream()
                .filter(sample -> !sample.measured())
                .map(Sample::notMeasured)
                .toList();
        List<String> cells = new ArrayList<>();
        if (reasons.size() == samples.size()) {
            cells.add(row.name());
            String reason = reasons.get(0);
            String shown = reason.length() <= REASON_SHOWN ? reason : reason.substring(0, REASON_SHOWN) + "...";
            cells.add("not measured: " + escape(shown) + " (" + note(reasons) + ")");
            while (cells.size() < columns) {
                cells.add("");
            }
        } else {
            cells.add(
                    reasons.isEmpty()
                            ? row.name()
                            : row.name() + " (" + results.measuredPart(cell.id(), row.name()) + ", " + note(reasons)
                                    + ")");
            cells.addAll(figures(row));
        }
        line(cells);
    }

    private String note(List<String> reasons) {
        Set<String> different = new LinkedHashSet<>(reasons);
        notes.add("not measured: " + escape(String.join("; ", different)));
        return "note " + notes.size();
    }

    private List<String> figures(Row row) {
        if (cell.workload() == Workload.IDLE) {
            return List.of(
                    figure(row, Metric.HEAP_PER_CONNECTION, Text::bytes),
                    figure(row, Metric.DIRECT_PER_CONNECTION, Text::bytes),
                    figure(row, Metric.RSS_PER_CONNECTION, Text::bytes),
                    figure(row, Metric.IDLE_CPU, Text::percent));
        }
        return cell.timed() ? latencies(row) : throughput(row);
    }

    private List<String> throughput(Row row) {
        long size = cell.number("size", 0);
        List<String> cells = new ArrayList<>(List.of(
                figure(row, PER_SECOND, Text::count),
                size == 0 ? "–" : median(row, PER_SECOND, value -> Text.digits(value * size / 1e6)),
                cell.pair()
                        ? median(row, CPU_PER_MILLION, Text::digits)
                        : both(row, CPU_SENDING, CPU_RECEIVING, Text::digits),
                both(row, ALLOCATED_SENDING, ALLOCATED_RECEIVING, Text::digits),
                both(row, RSS_SENDING, RSS_RECEIVING, Text::bytes),
                advantage(row)));
        if (cell.workload() == Workload.PUBSUB) {
            cells.add(1, median(row, Metric.DROPPED, Text::percent));
        }
        return cells;
    }

    private List<String> latencies(Row row) {
        List<String> cells = new ArrayList<>();
        cells.add(figure(row, Metric.P50, Text::nanos));
        cells.add(median(row, Metric.P90, Text::nanos));
        cells.add(figure(row, Metric.P99, Text::nanos));
        cells.add(median(row, Metric.P99_9, Text::nanos));
        cells.add(median(row, Metric.P99_99, Text::nanos));
        cells.add(median(row, Metric.MAX, Text::nanos));
        cells.add(
                cell.workload().scheduled()
                        ? median(row, PER_SECOND, Text::count) + ", "
                                + median(row, Metric.INTENDED_RATE, Text::count) + ", "
                                + median(row, Metric.LATE, Text::percent)
                        : figure(row, PER_SECOND, Text::count));
        cells.add(median(row, CPU_PER_MILLION, Text::digits));
        cells.add(both(row, ALLOCATED_SENDING, ALLOCATED_RECEIVING, Text::digits));
        cells.add(slowness(row));
        return cells;
    }

    /** How many times this row's throughput the subject's is. */
    private String advantage(Row row) {
        Optional<Row> ours = ours(row);
        return ours.isEmpty()
                ? "–"
                : ratio(ours.get().name(), row.name(), PER_SECOND) + " ("
                        + ours.get().transport() + ")";
    }

    /** How many times the subject's latency this row's is. */
    private String slowness(Row row) {
        Optional<Row> ours = ours(row);
        return ours.isEmpty()
                ? "–"
                : ratio(row.name(), ours.get().name(), Metric.P50) + ", "
                        + ratio(row.name(), ours.get().name(), Metric.P99) + " ("
                        + ours.get().transport() + ")";
    }

    private Optional<Row> ours(Row row) {
        return results.counterpart(cell.id(), cell.subject(), row.transport()).filter(ours -> !ours.equals(row));
    }

    private String ratio(String above, String below, Metric metric) {
        return results.ratio(cell.id(), above, below, metric).map(Text::ratio).orElse("–");
    }

    private String figure(Row row, Metric metric, DoubleFunction<String> unit) {
        return results.spread(cell.id(), row.name(), metric)
                .map(spread -> Text.spread(spread, unit))
                .orElse("–");
    }

    private String median(Row row, Metric metric, DoubleFunction<String> unit) {
        return results.spread(cell.id(), row.name(), metric)
                .map(spread -> unit.apply(spread.median()))
                .orElse("–");
    }

    private String both(Row row, Metric first, Metric second, DoubleFunction<String> unit) {
        String one = median(row, first, unit);
        return cell.pair() ? one : one + ", " + median(row, second, unit);
    }

    private void line(List<String> cells) {
        text.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }

    private static String escape(String reason) {
        return reason.replace("|", "\\|").replace("<", "&lt;").replace('\n', ' ');
    }
}
