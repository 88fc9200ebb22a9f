package dev.zmtp.compare;

import dev.zmtp.compare.Results.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A row in which another library is ahead of netty-zmtp on the same transport. These rows are found in the results, so
 * that nobody has to look for them, and none can be left out.
 *
 * @param cell where
 * @param metric the figure that is better
 * @param ours the row of netty-zmtp
 * @param mine its figure, absent if it was not measured
 * @param other the row that is ahead
 * @param theirs its figure
 */
record Behind(Cell cell, Metric metric, Row ours, Optional<Spread> mine, Row other, Spread theirs) {

    private static final Set<String> OTHERS =
            Set.of(ComparedPeers.PREDECESSOR, ComparedPeers.JEROMQ, ComparedPeers.LIBZMQ);

    /** All such rows, by the medians. */
    static List<Behind> of(Results results) {
        List<Behind> all = new ArrayList<>();
        for (Cell cell : results.cells()) {
            for (Row row : results.rows(cell.id())) {
                if (OTHERS.contains(row.library())) {
                    compare(results, cell, row, all);
                }
            }
        }
        return all;
    }

    private static void compare(Results results, Cell cell, Row row, List<Behind> found) {
        Optional<Row> ours = results.counterpart(cell.id(), ComparedPeers.OURS, row.transport());
        if (ours.isEmpty()) {
            return;
        }
        for (Metric metric : cell.headlines()) {
            Optional<Spread> mine = results.spread(cell.id(), ours.get().name(), metric);
            Optional<Spread> theirs = results.spread(cell.id(), row.name(), metric);
            if (theirs.isPresent() && (mine.isEmpty() || metric.isBetter(theirs.get(), mine.get()))) {
                found.add(new Behind(cell, metric, ours.get(), mine, row, theirs.get()));
            }
        }
    }

    /** Whether every round of the other was better than every round of netty-zmtp. */
    boolean isClear() {
        return mine.isEmpty()
                || (mine.get().count() > 1 && theirs.count() > 1 && !mine.get().overlaps(theirs));
    }

    /** The figure of netty-zmtp as a reader sees it. */
    String mineShown() {
        return mine.map(spread -> Text.figure(metric, spread.median())).orElse("not measured");
    }

    /** The figure of the other as a reader sees it. */
    String theirsShown() {
        return Text.figure(metric, theirs.median());
    }

    /** The table of {@code all}, in Markdown, or a sentence if there are none. */
    static String table(List<Behind> all) {
        if (all.isEmpty()) {
            return "In no cell of this run.\n";
        }
        StringBuilder text = new StringBuilder("""
                | cell | figure | netty-zmtp | the other | netty-zmtp ÷ the other | |
                | --- | --- | ---: | ---: | ---: | --- |
                """);
        all.forEach(row -> text.append(row.line()));
        return text.toString();
    }

    private String line() {
        String ratio = mine.isEmpty() || theirs.median() <= 0
                ? "–"
                : String.format(Locale.ROOT, "%.2f ×", mine.get().median() / theirs.median());
        return String.format(
                Locale.ROOT,
                "| [%s](%s) | %s | %s, %s | %s, %s | %s | %s |\n",
                cell.title(),
                Report.link(cell),
                cell.name(metric),
                mineShown(),
                ours.name(),
                theirsShown(),
                other.name(),
                ratio,
                mine.map(spread -> ranges(spread, theirs)).orElse(""));
    }

    private static String ranges(Spread mine, Spread theirs) {
        if (mine.count() < 2 || theirs.count() < 2) {
            return "one round only";
        }
        return mine.overlaps(theirs) ? "ranges overlap" : "ranges apart";
    }
}
