package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first page of a report, and how the pages link to each other. */
class SummaryTest {

    private static final String DATE = "2026-01-02T03:04:05Z";

    private static final Cell ONEWAY = cell("oneway-100", "One way, 100 bytes", Workload.ONEWAY, Map.of("size", "100"));
    private static final Cell ROUNDTRIP = cell("roundtrip-256-256", "Round trip", Workload.ROUNDTRIP, Map.of());
    private static final Cell OTHER = cell("roundtrip-4-1024", "Another round trip", Workload.ROUNDTRIP, Map.of());
    private static final List<Row> PEERS = List.of(
            new Row("netty-zmtp nio", "netty-zmtp", "nio"),
            new Row("netty-zmtp epoll", "netty-zmtp", "epoll"),
            new Row("raw-netty epoll", "raw-netty", "epoll"),
            new Row("netty4-zmtp", "netty4-zmtp", "nio"),
            new Row("jeromq", "jeromq", "nio"),
            new Row("libzmq", "libzmq", "epoll"));

    @Test
    void eachLibraryStandsBesideNettyZmtpWithItsRatioOrWhyThereIsNone() {
        Results results = results(
                steady(ONEWAY, "netty-zmtp nio", Metric.PER_SECOND, 6.5e6),
                steady(ONEWAY, "netty-zmtp epoll", Metric.PER_SECOND, 1e6),
                steady(ONEWAY, "netty4-zmtp", Metric.PER_SECOND, 2.6e6),
                samples(ONEWAY, "jeromq", Metric.PER_SECOND, 1e6, 1e6, 1e6, 1e6, 1e6, 7e6),
                steady(ONEWAY, "libzmq", Metric.PER_SECOND, 2e6),
                steady(ROUNDTRIP, "netty-zmtp epoll", Metric.P50, 20_000),
                steady(ROUNDTRIP, "libzmq", Metric.P50, 30_000));

        assertThat(Summary.of(results)).isEqualTo("""
                | | netty-zmtp nio | netty-zmtp epoll | netty4-zmtp | jeromq | libzmq |
                | --- | ---: | ---: | ---: | ---: | ---: |
                | [One way, 100 bytes](docs/benchmarks/figures.md#one-way-100-bytes), messages/s | 6.50 M | 1.00 M | 2.60 M (2.50 ×) | 1.00 M (≈) | **2.00 M (0.50 ×)** |
                | [Round trip](docs/benchmarks/figures.md#round-trip), p50 | – | 20.0 µs | – | – | 30.0 µs (1.50 ×) |
                """);
    }

    @Test
    void aRowThatLacksWindowsSaysSo() {
        Results results = results(
                steady(ONEWAY, "netty-zmtp nio", Metric.PER_SECOND, 6e6),
                samples(ONEWAY, "jeromq", Metric.PER_SECOND, 1e6, 1e6),
                List.of(Sample.without(ONEWAY.id(), "jeromq", 3, "it died")));

        assertThat(Summary.of(results)).contains("messages/s | 6.00 M | 1.00 M (≈), 2 of 6 windows |\n");
    }

    @Test
    void oneWindowHasNoRatio() {
        Results results = results(
                samples(ONEWAY, "netty-zmtp nio", Metric.PER_SECOND, 6e6),
                samples(ONEWAY, "jeromq", Metric.PER_SECOND, 1e6));

        assertThat(Summary.of(results)).contains("messages/s | 6.00 M | 1.00 M (≈) |\n");
    }

    @Test
    void cellsThatAreUsuallyElsewhereAreShownWhereThereAreNoOthers() {
        Results results = results(samples(OTHER, "netty-zmtp nio", Metric.P99, 5000, 5000));

        assertThat(Summary.of(results)).contains("Another round trip").contains("p99 | 5.00 µs |");
    }

    @Test
    void aRunWithoutACodecHasNoSummary() {
        Results results = results(samples(ONEWAY, "raw-netty epoll", Metric.PER_SECOND, 6e6));

        assertThat(Summary.of(results)).isEmpty();
        assertThat(Report.pages(results, false).get(Path.of("benchmarks.md"))).contains("none of these libraries");
    }

    @Test
    void aLibraryThatIsAheadForCertainIsNamedAndOthersAreCounted() {
        Results results = results(
                samples(ONEWAY, "netty-zmtp nio", Metric.PER_SECOND, 2e6, 2e6, 2e6, 2e6, 2e6, 4e6),
                steady(ONEWAY, "netty-zmtp epoll", Metric.PER_SECOND, 1e6),
                steady(ONEWAY, "jeromq", Metric.PER_SECOND, 3e6),
                steady(ONEWAY, "libzmq", Metric.PER_SECOND, 2e6));

        assertThat(Summary.behind(results))
                .isEqualTo("- One way, 100 bytes, messages/s: libzmq 2.00 M/s, netty-zmtp epoll 1.00 M/s.\n"
                        + "\nIn [1 more row](docs/benchmarks/behind.md) the other library is ahead by the median,"
                        + " but not for certain: the interval of the ratio includes 1, or there were few windows.\n");
        assertThat(Summary.behind(results(samples(ONEWAY, "jeromq", Metric.PER_SECOND, 3e6))))
                .isEqualTo("In no row of this run is another library ahead for certain.\n");
    }

    @Test
    void thePageSaysWhatPausedProgramsTook() {
        Results results = results(
                samples(ONEWAY, "netty-zmtp nio", Metric.CPU_OF_PAUSED, 0.01, 0.03),
                samples(ONEWAY, "jeromq", Metric.CPU_OF_PAUSED, 0.02));

        assertThat(Report.pages(results, false).get(Path.of("benchmarks.md"))).contains("took 2.00 % of a core");
    }

    @Test
    void aReportLinksToNotesOfItsOwnRunOnly(@TempDir Path directory) throws IOException {
        Results results = results(samples(ONEWAY, "netty-zmtp nio", Metric.PER_SECOND, 6e6));
        Path notes = directory.resolve("docs/benchmarks/notes.md");

        Report.write(results, directory);
        assertThat(everything(directory)).doesNotContain("notes.md");

        Files.writeString(notes, "On the run of 2025-12-31T00:00:00Z.");
        Report.write(results, directory);
        assertThat(everything(directory)).doesNotContain("notes.md");

        Files.writeString(notes, "On the run of " + DATE + ".");
        Report.write(results, directory);
        assertThat(everything(directory)).contains("(docs/benchmarks/notes.md)").contains("(notes.md)");
        assertThat(notes).hasContent("On the run of " + DATE + ".");
    }

    @Test
    void theCommittedReportIsThatOfTheCommittedResults() throws IOException {
        Results committed = Results.read(Path.of("docs", "benchmarks", "results.jsonl"));

        for (Map.Entry<Path, String> page : Report.pages(committed, true).entrySet()) {
            assertThat(page.getKey()).content().isEqualTo(page.getValue());
        }
    }

    @Test
    void noLinkOfAReportIsDead(@TempDir Path directory) throws IOException {
        Results results = Fixture.results();
        results.write(directory.resolve("docs/benchmarks/results.jsonl"));
        Files.writeString(
                directory.resolve("docs/benchmarks/notes.md"),
                "On the run of " + results.environment().get("Date"));

        Report.write(results, directory);

        assertNoLinkIsDead(directory);
    }

    @Test
    void noLinkOfTheCommittedReportIsDead() throws IOException {
        assertNoLinkIsDead(Path.of(""));
    }

    private static void assertNoLinkIsDead(Path directory) throws IOException {
        List<Path> pages = new ArrayList<>(Report.pages(Fixture.results(), true).keySet());
        pages.add(Path.of("docs", "benchmarks", "notes.md"));
        for (Path name : pages) {
            Path page = directory.resolve(name);
            Matcher links = Pattern.compile("]\\(([^)#]*)(?:#([^)]*))?\\)").matcher(Files.readString(page));
            while (links.find()) {
                Path target = links.group(1).isEmpty()
                        ? page
                        : page.resolveSibling(links.group(1)).normalize();
                assertThat(target).as("%s links to %s", page, links.group()).exists();
                if (links.group(2) != null) {
                    assertThat(anchors(target))
                            .as("%s links to %s", page, links.group())
                            .contains(links.group(2));
                }
            }
        }
    }

    private static List<String> anchors(Path page) throws IOException {
        return Files.readString(page)
                .lines()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT))
                .map(line -> line.replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
                .toList();
    }

    private static String everything(Path directory) throws IOException {
        StringBuilder text = new StringBuilder();
        for (Path page : Report.pages(results(), false).keySet()) {
            text.append(new String(Files.readAllBytes(directory.resolve(page)), UTF_8));
        }
        return text.toString();
    }

    private static Cell cell(String id, String title, Workload workload, Map<String, String> keys) {
        return new Cell(id, title, workload, false, keys, 0, "", List.of());
    }

    @SafeVarargs
    private static Results results(List<Sample>... samples) {
        List<Sample> all = new ArrayList<>();
        for (List<Sample> some : samples) {
            all.addAll(some);
        }
        return new Results(Map.of("Date", DATE), List.of(ONEWAY, ROUNDTRIP, OTHER), PEERS, all);
    }

    private static List<Sample> steady(Cell cell, String peer, Metric metric, double value) {
        return samples(cell, peer, metric, value, value, value, value, value, value);
    }

    private static List<Sample> samples(Cell cell, String peer, Metric metric, double... values) {
        List<Sample> samples = new ArrayList<>();
        for (double value : values) {
            samples.add(new Sample(cell.id(), peer, samples.size() + 1, Map.of(metric, value), List.of(), ""));
        }
        return samples;
    }
}
