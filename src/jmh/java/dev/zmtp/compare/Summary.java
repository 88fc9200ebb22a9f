package dev.zmtp.compare;

import dev.zmtp.compare.Results.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The dozen rows that a reader wants first: netty-zmtp beside the other libraries. */
final class Summary {

    /** The cells of the rows, in order; of several ids in one row, the first that was measured. */
    private static final List<List<String>> ROWS = List.of(
            List.of("oneway-100"),
            List.of("oneway-1000"),
            List.of("oneway-65536"),
            List.of("oneway-1048576"),
            List.of("connections-1000", "connections-100"),
            List.of("reqrep"),
            List.of("custom"),
            List.of("roundtrip-256-256"),
            List.of("oneway-100" + Cells.CURVE),
            List.of("oneway-65536" + Cells.CURVE),
            List.of("idle-10000", "idle-1000"));

    private static final List<String> COLUMNS = List.of(
            ComparedPeers.OURS + " nio",
            ComparedPeers.OURS + " epoll",
            ComparedPeers.PREDECESSOR,
            ComparedPeers.JEROMQ,
            ComparedPeers.LIBZMQ);

    private final Results results;
    private final List<Cell> cells;
    private final List<Row> columns;

    private Summary(Results results) {
        this.results = results;
        List<Cell> chosen = ROWS.stream()
                .flatMap(ids -> ids.stream()
                        .flatMap(id -> results.cell(id).stream())
                        .filter(cell -> !results.rows(cell.id()).isEmpty())
                        .limit(1))
                .toList();
        this.cells = chosen.isEmpty() ? results.cells() : chosen;
        this.columns = COLUMNS.stream().flatMap(this::column).toList();
    }

    /** The table, in Markdown; empty if no codec was measured. */
    static String of(Results results) {
        Summary summary = new Summary(results);
        return summary.columns.isEmpty() ? "" : summary.table();
    }

    private Stream<Row> column(String name) {
        return cells.stream()
                .flatMap(cell -> results.rows(cell.id()).stream())
                .filter(row -> row.name().equals(name))
                .limit(1);
    }

    private String table() {
        StringBuilder text = new StringBuilder("| |");
        columns.forEach(column -> text.append(' ').append(column.name()).append(" |"));
        text.append("\n| --- |").append(" ---: |".repeat(columns.size())).append('\n');
        for (Cell cell : cells) {
            for (Metric metric : cell.headlines()) {
                List<String> figures = columns.stream()
                        .map(column -> figure(cell, metric, column))
                        .toList();
                if (figures.stream().anyMatch(figure -> !figure.equals("–"))) {
                    text.append("| [").append(cell.title()).append("](").append(Report.DETAILS);
                    text.append('/').append(Report.link(cell)).append("), ").append(cell.name(metric));
                    text.append(" | ").append(String.join(" | ", figures)).append(" |\n");
                }
            }
        }
        return text.toString();
    }

    private String figure(Cell cell, Metric metric, Row row) {
        Optional<Spread> theirs = results.spread(cell.id(), row.name(), metric);
        if (theirs.isEmpty()) {
            return "–";
        }
        String shown = Text.figure(metric, theirs.get().median()).replace("/s", "");
        String part = results.measuredPart(cell.id(), row.name());
        return advantage(cell, metric, row)
                        .map(advantage -> compared(shown, advantage))
                        .orElse(shown)
                + (part.isEmpty() ? "" : ", " + part);
    }

    /** How many times better netty-zmtp is than another library's row. */
    private Optional<Ratio> advantage(Cell cell, Metric metric, Row row) {
        if (row.library().equals(cell.subject())) {
            return Optional.empty();
        }
        return results.counterpart(cell.id(), cell.subject(), row.transport())
                .flatMap(ours -> results.ratio(cell.id(), ours.name(), row.name(), metric))
                .map(ratio -> metric.isMoreBetter() ? ratio : ratio.inverse());
    }

    private static String compared(String shown, Ratio advantage) {
        if (!advantage.isClear()) {
            return shown + " (≈)";
        }
        String text = String.format(Locale.ROOT, "%s (%.2f ×)", shown, advantage.median());
        return advantage.high() < 1 ? "**" + text + "**" : text;
    }

    /** The rows in which another library is ahead for certain, one sentence each, and how many more are. */
    static String behind(Results results) {
        List<Behind> all = Behind.of(results);
        List<String> lines = new ArrayList<>();
        for (Behind row : all) {
            if (row.isClear()) {
                lines.add(String.format(
                        Locale.ROOT,
                        "- %s, %s: %s %s, %s %s.\n",
                        row.cell().title(),
                        row.cell().name(row.metric()),
                        row.other().name(),
                        row.theirsShown(),
                        row.ours().name(),
                        row.mineShown()));
            }
        }
        if (lines.isEmpty()) {
            lines.add("In no row of this run is another library ahead for certain.\n");
        }
        int others = (int) all.stream().filter(row -> !row.isClear()).count();
        if (others > 0) {
            lines.add(String.format(
                    Locale.ROOT,
                    "\nIn [%d more %s](%s/behind.md) the other library is ahead by the median, but not for certain: the"
                            + " interval of the ratio includes 1, or there were few windows.\n",
                    others,
                    others == 1 ? "row" : "rows",
                    Report.DETAILS));
        }
        return String.join("", lines);
    }
}
