package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes what a comparison measured: {@code benchmarks.md}, which fits on one screen, and in {@code docs/benchmarks}
 * the pages and pictures with everything else.
 *
 * <p>A page of notes is written by hand and belongs to one run. A report links to it only if it is a report of that
 * run.
 */
final class Report {

    /** Where the other pages, the pictures and the raw results are, below the directory of the report. */
    static final Path DETAILS = Path.of("docs", "benchmarks");

    /** The name of the raw results. */
    static final String RESULTS = "results.jsonl";

    /** The first page. */
    static final String FIRST = "benchmarks.md";

    private static final String FIGURES = "figures.md";
    private static final String NOTES = "notes.md";

    private static final List<String> MACHINE = List.of("CPU", "Cores", "Memory", "Kernel", "JDK", "Netty");

    private final Results results;
    private final List<Plot> plots;
    private final boolean noted;

    private Report(Results results, boolean noted) {
        this.results = results;
        this.plots = Plots.of(results);
        this.noted = noted;
    }

    /** Writes the report of {@code results} into {@code directory}. */
    static void write(Results results, Path directory) throws IOException {
        Path details = directory.resolve(DETAILS);
        Report report = new Report(results, isNoted(results, details.resolve(NOTES)));
        Plots.write(report.plots, details);
        for (Map.Entry<Path, String> page : report.pages().entrySet()) {
            Files.write(directory.resolve(page.getKey()), page.getValue().getBytes(UTF_8));
        }
    }

    /** The pages of {@code results}, by their paths; with links to notes if {@code noted}. */
    static Map<Path, String> pages(Results results, boolean noted) {
        return new Report(results, noted).pages();
    }

    /** The link to the table of {@code cell}, from a page beside it. */
    static String link(Cell cell) {
        // As GitHub makes an anchor of a heading.
        String anchor = cell.title().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9 -]", "");
        return FIGURES + "#" + anchor.replace(' ', '-');
    }

    /** Whether the notes name the time of this run. */
    private static boolean isNoted(Results results, Path notes) throws IOException {
        String date = results.environment().get("Date");
        return date != null && Files.exists(notes) && new String(Files.readAllBytes(notes), UTF_8).contains(date);
    }

    private Map<Path, String> pages() {
        Map<Path, String> pages = new LinkedHashMap<>();
        pages.put(Path.of(FIRST), first());
        pages.put(DETAILS.resolve(FIGURES), figures());
        pages.put(DETAILS.resolve("behind.md"), behind());
        pages.put(DETAILS.resolve("goals.md"), ReportText.GOALS + Goals.of(results));
        pages.put(DETAILS.resolve("method.md"), ReportText.METHOD + table(results.environment()));
        return pages;
    }

    private String first() {
        String summary = Summary.of(results);
        StringBuilder text = new StringBuilder(ReportText.FIRST);
        text.append(summary.isEmpty() ? "This run measured none of these libraries.\n" : summary + ReportText.LEGEND);
        overview().ifPresent(plot -> text.append('\n').append(picture(plot, DETAILS + "/")));
        text.append("\n## Where another library is ahead\n\n").append(Summary.behind(results));
        text.append("\n## The machine\n\n").append(machine());
        text.append(measured()).append(ReportText.RUN).append(more());
        return text.toString();
    }

    /** The picture that says most. */
    private Optional<Plot> overview() {
        return plots.stream()
                .filter(plot -> plot.name().equals("bytes"))
                .findFirst()
                .or(() -> plots.stream().findFirst());
    }

    private String machine() {
        Map<String, String> all = results.environment();
        String machine = MACHINE.stream()
                .filter(all::containsKey)
                .map(name -> name + ": " + all.get(name))
                .collect(Collectors.joining("; "));
        return machine + ".\n\nCommit " + all.getOrDefault("Commit", "unknown") + ", "
                + all.getOrDefault("Date", "date unknown") + ". Compared with: "
                + all.getOrDefault("Compared with", "nothing") + ".\n" + added();
    }

    /** The cells that were measured at another time. */
    private String added() {
        StringBuilder text = new StringBuilder();
        results.environment().forEach((name, value) -> {
            if (name.startsWith(Results.ADDED)) {
                text.append("\nMeasured at another time, ")
                        .append(name.substring(Results.ADDED.length()))
                        .append(": ")
                        .append(value)
                        .append(".\n");
            }
        });
        return text.toString();
    }

    private String measured() {
        Map<String, String> all = results.environment();
        return String.format(
                ReportText.MEASURED,
                all.getOrDefault("Windows", "several"),
                all.getOrDefault("Each window", "some time"),
                paused());
    }

    /** The CPU time that paused processes took, as a share of a core. */
    private String paused() {
        List<Double> shares = results.samples().stream()
                .flatMap(sample -> Stream.ofNullable(sample.values().get(Metric.CPU_OF_PAUSED)))
                .toList();
        return Text.percent(
                shares.stream().mapToDouble(share -> share).average().orElse(0));
    }

    private String more() {
        StringBuilder text = new StringBuilder("\n## More\n\n");
        text.append("- [All tables and pictures](")
                .append(DETAILS)
                .append('/')
                .append(FIGURES)
                .append(")\n");
        text.append("- [All rows in which another library is ahead](")
                .append(DETAILS)
                .append("/behind.md)\n");
        if (noted) {
            text.append("- [Why: notes on this run](")
                    .append(DETAILS)
                    .append('/')
                    .append(NOTES)
                    .append(")\n");
        }
        text.append("- [The goals, and which were missed](").append(DETAILS).append("/goals.md)\n");
        text.append("- [Method, environment, and what the figures do not say](").append(DETAILS);
        text.append("/method.md)\n");
        text.append("- [The figures of every window](")
                .append(DETAILS)
                .append('/')
                .append(RESULTS)
                .append(")\n");
        return text.toString();
    }

    private String behind() {
        return ReportText.BEHIND
                + Behind.table(Behind.of(results))
                + (noted ? "\nReasons are in the [notes](notes.md).\n" : "");
    }

    private String figures() {
        StringBuilder text = new StringBuilder(ReportText.FIGURES);
        for (Plot plot : plots) {
            if (cellOf(plot).isEmpty()) {
                text.append(picture(plot, "")).append('\n');
            }
        }
        for (Cell cell : results.cells()) {
            text.append("## ").append(cell.title()).append("\n\n`--cell ^").append(cell.id());
            text.append("$`\n\n").append(Table.of(results, cell)).append('\n');
            for (Plot plot : plots) {
                if (cellOf(plot).filter(cell::equals).isPresent()) {
                    text.append(picture(plot, "")).append('\n');
                }
            }
        }
        return text.toString().stripTrailing() + "\n";
    }

    /** The cell that a picture is of, if it is of one only. */
    private Optional<Cell> cellOf(Plot plot) {
        return results.cells().stream()
                .filter(cell -> plot.name().equals(Plots.LATENCY + cell.id()))
                .findFirst();
    }

    private static String picture(Plot plot, String directory) {
        return "![" + plot.title() + "](" + directory + plot.name() + ".svg)\n";
    }

    private static String table(Map<String, String> values) {
        StringBuilder text = new StringBuilder("| | |\n| --- | --- |\n");
        values.forEach((name, value) -> text.append("| ")
                .append(name)
                .append(" | ")
                .append(value.replace("|", "\\|"))
                .append(" |\n"));
        return text.toString();
    }
}
