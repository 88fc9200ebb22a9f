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
 * @param ratio netty-zmtp's figure divided by the other's, absent if the former was not measured
 */
record Behind(
        Cell cell, Metric metric, Row ours, Optional<Spread> mine, Row other, Spread theirs, Optional<Ratio> ratio) {

    private static final Set<String> OTHERS =
            Set.of(ComparedPeers.PREDECESSOR, ComparedPeers.JEROMQ, ComparedPeers.LIBZMQ, ComparedPeers.OMQ);

    /** All such rows, by the medians of the ratios. */
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
        Optional<Row> ours = results.counterpart(cell.id(), cell.subject(), row.transport());
        if (ours.isEmpty()) {
            return;
        }
        for (Metric metric : cell.headlines()) {
            Optional<Spread> mine = results.spread(cell.id(), ours.get().name(), metric);
            Optional<Spread> theirs = results.spread(cell.id(), row.name(), metric);
            Optional<Ratio> ratio = results.ratio(cell.id(), ours.get().name(), row.name(), metric);
            boolean ahead = ratio.map(value -> metric.isMoreBetter() ? value.median() < 1 : value.median() > 1)
                    .orElse(true);
            if (theirs.isPresent() && ahead) {
                found.add(new Behind(cell, metric, ours.get(), mine, row, theirs.get(), ratio));
            }
        }
    }

    /** Whether the other is ahead for certain. */
    boolean isClear() {
        return ratio.map(Ratio::isClear).orElse(true);
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
                | cell | figure | netty-zmtp | the other | netty-zmtp ÷ the other |
                | --- | --- | ---: | ---: | ---: |
                """);
        all.forEach(row -> text.append(row.line()));
        return text.toString();
    }

    private String line() {
        return String.format(
                Locale.ROOT,
                "| [%s](%s) | %s | %s, %s | %s, %s | %s |\n",
                cell.title(),
                Report.link(cell),
                cell.name(metric),
                mineShown(),
                ours.name(),
                theirsShown(),
                other.name(),
                ratio.map(Text::ratio).orElse("–"));
    }
}
