package dev.zmtp.compare;

import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.DoubleFunction;

/** Where another codec is ahead of netty-zmtp: found in the results, so that nobody has to look for it, or may leave it out. */
final class Behind {

    private static final Set<String> OTHERS =
            Set.of(ComparedPeers.PREDECESSOR, ComparedPeers.JEROMQ, ComparedPeers.LIBZMQ);

    /** How the figures are written that are compared. */
    private static final Map<Metric, DoubleFunction<String>> UNITS = new EnumMap<>(Metric.class);

    static {
        UNITS.put(Metric.PER_SECOND, value -> Text.count(value) + "/s");
        UNITS.put(Metric.P50, Text::nanos);
        UNITS.put(Metric.P99, Text::nanos);
        UNITS.put(Metric.RSS_PER_CONNECTION, Text::octets);
    }

    private final Results results;
    private final List<String> lines = new ArrayList<>();

    private Behind(Results results) {
        this.results = results;
    }

    /** The table of these rows, in Markdown, or a sentence if there are none. */
    static String of(Results results) {
        Behind behind = new Behind(results);
        for (Cell cell : results.cells()) {
            for (Row row : results.rows(cell.id())) {
                if (OTHERS.contains(row.library())) {
                    behind.compare(cell, row);
                }
            }
        }
        return behind.lines.isEmpty()
                ? "In no cell of this run.\n"
                : "| cell | figure | netty-zmtp | the other | netty-zmtp ÷ the other | |\n"
                        + "| --- | --- | ---: | ---: | ---: | --- |\n" + String.join("", behind.lines);
    }

    private void compare(Cell cell, Row row) {
        Optional<Row> ours = results.counterpart(cell.id(), ComparedPeers.OURS, row.transport());
        if (ours.isEmpty()) {
            return;
        }
        for (Metric metric : metrics(cell)) {
            Optional<Spread> mine = results.spread(cell.id(), ours.get().name(), metric);
            Optional<Spread> theirs = results.spread(cell.id(), row.name(), metric);
            if (theirs.isPresent() && (mine.isEmpty() || isBehind(metric, mine.get(), theirs.get()))) {
                line(cell, metric, ours.get(), mine, row, theirs.get());
            }
        }
    }

    private static List<Metric> metrics(Cell cell) {
        if (cell.workload() == Workload.IDLE) {
            return List.of(Metric.RSS_PER_CONNECTION);
        }
        return cell.timed() ? List.of(Metric.P50, Metric.P99) : List.of(Metric.PER_SECOND);
    }

    private static boolean isBehind(Metric metric, Spread mine, Spread theirs) {
        return metric == Metric.PER_SECOND ? mine.median() < theirs.median() : mine.median() > theirs.median();
    }

    private void line(Cell cell, Metric metric, Row ours, Optional<Spread> mine, Row other, Spread theirs) {
        DoubleFunction<String> unit = UNITS.get(metric);
        String name = metric == Metric.PER_SECOND
                ? "messages"
                : metric == Metric.RSS_PER_CONNECTION
                        ? "current RSS / connection"
                        : metric.name().toLowerCase(Locale.ROOT);
        String ratio = mine.isEmpty() || theirs.median() <= 0
                ? "–"
                : String.format(Locale.ROOT, "%.2f ×", mine.get().median() / theirs.median());
        lines.add(String.format(
                Locale.ROOT,
                "| [%s](#%s) | %s | %s, %s | %s, %s | %s | %s |\n",
                cell.title(),
                anchor(cell.title()),
                name,
                mine.map(spread -> unit.apply(spread.median())).orElse("not measured"),
                ours.name(),
                unit.apply(theirs.median()),
                other.name(),
                ratio,
                mine.map(spread -> ranges(spread, theirs)).orElse("")));
    }

    private static String ranges(Spread mine, Spread theirs) {
        if (mine.count() < 2 || theirs.count() < 2) {
            return "one round only";
        }
        return mine.overlaps(theirs) ? "ranges overlap" : "ranges apart";
    }

    /** What GitHub makes of a heading. */
    private static String anchor(String title) {
        return title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9 -]", "").replace(' ', '-');
    }
}
