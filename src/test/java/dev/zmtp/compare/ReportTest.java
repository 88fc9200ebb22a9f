package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The report of made-up results. */
class ReportTest {

    private static final Cell ONEWAY = new Cell(
            "oneway-100", "One way, 100 bytes", Workload.ONEWAY, false, Map.of("size", "100"), 0, "", List.of());
    private static final Cell ROUNDTRIP =
            new Cell("roundtrip-256-256", "Round trip", Workload.ROUNDTRIP, false, Map.of(), 0, "", List.of());
    private static final Cell OPENLOOP =
            new Cell("openloop-50000", "Open loop", Workload.OPENLOOP, false, Map.of(), 0, "", List.of());
    private static final Cell CUSTOM =
            new Cell("custom", "User objects", Workload.CUSTOM, false, Map.of(), 0, "", List.of());
    private static final List<Row> PEERS = List.of(
            new Row("netty-zmtp nio", "netty-zmtp", "nio"),
            new Row("netty-zmtp epoll", "netty-zmtp", "epoll"),
            new Row("raw-netty epoll", "raw-netty", "epoll"),
            new Row("netty4-zmtp", "netty4-zmtp", "nio"),
            new Row("jeromq", "jeromq", "nio"),
            new Row("libzmq", "libzmq", "epoll"));

    @Test
    void aRatioIsToTheSameTransportAndSaysHowCertainItIs() {
        Results results = results(
                samples("netty-zmtp nio", Metric.PER_SECOND, 6e6, 6.5e6, 6.5e6, 6.5e6, 6.5e6, 7e6),
                steady("netty-zmtp epoll", 8e6),
                steady("netty4-zmtp", 2.6e6),
                samples("jeromq", Metric.PER_SECOND, 1e6, 1e6, 1e6, 1e6, 1e6, 14e6),
                steady("libzmq", 2e6));

        assertThat(Table.of(results, ONEWAY)).isEqualTo("""
                        | peer | messages/s | MB/s | CPU s / million: send, receive | allocated B: send, receive | peak RSS: send, receive | netty-zmtp ÷ peer |
                        | --- | ---: | ---: | ---: | ---: | ---: | ---: |
                        | netty-zmtp nio | 6.50 M (6.50 M to 6.50 M) | 650 | –, – | –, – | –, – | – |
                        | netty-zmtp epoll | 8.00 M (8.00 M to 8.00 M) | 800 | –, – | –, – | –, – | – |
                        | netty4-zmtp | 2.60 M (2.60 M to 2.60 M) | 260 | –, – | –, – | –, – | 2.50 × (2.31 to 2.69) (nio) |
                        | jeromq | 1.00 M (1.00 M to 1.00 M) | 100 | –, – | –, – | –, – | ≈ 6.50 × (0.50 to 6.50) (nio) |
                        | libzmq | 2.00 M (2.00 M to 2.00 M) | 200 | –, – | –, – | –, – | 4.00 × (4.00 to 4.00) (epoll) |
                        """);
    }

    @Test
    void aRowThatWasNotMeasuredStaysInItsTableWithTheReason() {
        String reason = "receive ended before \"port=\", exit code 1: a | b, and so on for as long as it takes to tell";
        Results results = results(
                samples("netty-zmtp epoll", Metric.PER_SECOND, 8e6, 8e6),
                List.of(Sample.without("oneway-100", "libzmq", 1, reason)),
                List.of(
                        Sample.without("oneway-100", "jeromq", 1, "it slept"),
                        sample("oneway-100", "jeromq", 2, Metric.PER_SECOND, 1000)));

        assertThat(Table.of(results, ONEWAY))
                .contains("| jeromq (1 of 2 windows, note 1) | 1,000 | 0.10 |")
                .contains("| libzmq | not measured: receive ended before \"port=\", exit code 1: a \\| b, and so"
                        + " on ... (note 2) |  |  |  |  |  |\n")
                .contains("Note 1: not measured: it slept")
                .contains("Note 2: not measured: receive ended before \"port=\", exit code 1: a \\| b, and so on for as"
                        + " long as it takes to tell");
    }

    @Test
    void aGoalWithoutTheOtherRowIsNotCheckedAndOneWithoutItsCellIsNamed() {
        Results results = results(
                steady("openloop-50000", "netty-zmtp epoll", Metric.P99, 6000),
                List.of(Sample.without("openloop-50000", "libzmq", 1, "it slept")));

        assertThat(Goals.of(results))
                .contains("| Open loop, p99: netty-zmtp epoll against libzmq | ≤ 1 × the time"
                        + " | 6.00 µs | – | – | not measured |\n")
                .contains("Not part of this run: oneway-100-defaults against least-handlers nio, ");
    }

    @Test
    void theCpuTimeOfEachEndIsShown() {
        Sample sample = new Sample(
                "oneway-100",
                "libzmq",
                1,
                Map.of(Metric.PER_SECOND, 1e6, Metric.CPU_SENDING, 0.25, Metric.CPU_RECEIVING, 1.5),
                List.of(),
                "");

        assertThat(Table.of(results(List.of(sample)), ONEWAY)).contains("| 100 | 0.25, 1.50 | –, – |");
    }

    @Test
    void aGoalIsMetOrMissedByTheRatio() {
        List<Sample> predecessor = steady("custom", "netty4-zmtp", Metric.PER_SECOND, 1.3e6);

        assertThat(Goals.of(results(steady("custom", "netty-zmtp nio", Metric.PER_SECOND, 6.5e6), predecessor)))
                .contains("| User objects: netty-zmtp nio against netty4-zmtp | ≥ 1.5 × the messages/s"
                        + " | 6.50 M/s | 1.30 M/s | 5.00 × (5.00 to 5.00) | met |\n");
        assertThat(Goals.of(results(steady("custom", "netty-zmtp nio", Metric.PER_SECOND, 1.3e6), predecessor)))
                .contains(" | 1.30 M/s | 1.30 M/s | ≈ 1.00 × (1.00 to 1.00) | **missed** |\n");
    }

    /** A window in which nothing arrives is the worst that there is. */
    @Test
    void aGoalIsNotMetByTheGoodWindowsAlone() {
        List<Sample> ours = new ArrayList<>(steady("custom", "netty-zmtp nio", Metric.PER_SECOND, 6.5e6));
        ours.set(3, Sample.without("custom", "netty-zmtp nio", 4, "no message came within the measured window"));
        List<Sample> predecessor = steady("custom", "netty4-zmtp", Metric.PER_SECOND, 1.3e6);

        assertThat(Goals.of(results(ours, predecessor))).contains(" | **missed**: measured in 5 of 6 windows |\n");
    }

    @Test
    void nobodyIsToBeAheadInAnyRow() {
        String goal = "| Rows of all [tables](figures.md) in which [another library is ahead](behind.md) for certain";

        assertThat(Goals.of(results(steady("netty-zmtp nio", 2e6), steady("jeromq", 1e6))))
                .contains(goal + " | 0 | 0 | – | – | met |\n");
        assertThat(Goals.of(results(steady("netty-zmtp nio", 1e6), steady("jeromq", 2e6))))
                .contains(goal + " | 0 | 1 | – | – | **missed** |\n");
    }

    @Test
    void aGoalOfALatencyIsMetByTheLesserOne() {
        Results results = results(
                steady("openloop-50000", "netty-zmtp epoll", Metric.P99, 6000),
                steady("openloop-50000", "libzmq", Metric.P99, 5000));

        assertThat(Goals.of(results))
                .contains("| Open loop, p99: netty-zmtp epoll against libzmq | ≤ 1 × the time"
                        + " | 6.00 µs | 5.00 µs | 1.20 × (1.20 to 1.20) | **missed** |\n");
    }

    @Test
    void objectsOfTheApplicationAreNotCountedAsTheCodecs() {
        Results results = results(allocated("netty-zmtp nio", 32.1, 144.2), allocated("netty-zmtp epoll", 32, 160));

        assertThat(Goals.of(results))
                .contains("netty-zmtp nio | 0 B apart from the user's objects of 32 B asking, 144 B answering"
                        + " | 32.1 B asking, 144 B answering | – | – | met |\n")
                .contains("| 32.0 B asking, 160 B answering | – | – | **missed** |\n");
    }

    @Test
    void rowsAheadOfNettyZmtpAreListedEvenIfThatIsNotCertain() {
        Results results = results(
                samples("netty-zmtp nio", Metric.PER_SECOND, 3e6, 3e6, 3e6, 3e6, 3e6, 6e6),
                steady("netty-zmtp epoll", 1e6),
                steady("raw-netty epoll", 9e6),
                steady("netty4-zmtp", 3.75e6),
                steady("jeromq", 1e6),
                steady("libzmq", 2e6),
                samples("roundtrip-256-256", "netty-zmtp epoll", Metric.P99, 30_000),
                samples("roundtrip-256-256", "libzmq", Metric.P99, 20_000));

        assertThat(Behind.table(Behind.of(results))).isEqualTo("""
                        | cell | figure | netty-zmtp | the other | netty-zmtp ÷ the other |
                        | --- | --- | ---: | ---: | ---: |
                        | [One way, 100 bytes](figures.md#one-way-100-bytes) | messages/s | 3.00 M/s, netty-zmtp nio | 3.75 M/s, netty4-zmtp | ≈ 0.80 × (0.80 to 1.60) |
                        | [One way, 100 bytes](figures.md#one-way-100-bytes) | messages/s | 1.00 M/s, netty-zmtp epoll | 2.00 M/s, libzmq | 0.50 × (0.50 to 0.50) |
                        | [Round trip](figures.md#round-trip) | p99 | 30.0 µs, netty-zmtp epoll | 20.0 µs, libzmq | ≈ 1.50 × (1.50 to 1.50) |
                        """);
    }

    @Test
    void aRowThatFailedIsBehindOneThatDidNot() {
        Results results = results(
                List.of(Sample.without("oneway-100", "netty-zmtp nio", 1, "it slept")),
                samples("jeromq", Metric.PER_SECOND, 1e6));

        assertThat(Behind.table(Behind.of(results)))
                .contains("| messages/s | not measured, netty-zmtp nio | 1.00 M/s, jeromq | – |\n");
        assertThat(Behind.table(Behind.of(results(samples("jeromq", Metric.PER_SECOND, 1e6)))))
                .isEqualTo("In no cell of this run.\n");
    }

    @Test
    void theFileHoldsEverythingThatTheReportNeeds(@TempDir Path directory) throws IOException {
        Results results = results(
                samples("netty-zmtp epoll", Metric.PER_SECOND, 8e6, 8e6, 8e6),
                List.of(
                        sample("roundtrip-256-256", "libzmq", 1, Metric.P50, 50_000),
                        Sample.without("roundtrip-256-256", "jeromq", 1, "it slept")));
        Path file = directory.resolve("a/b/results.jsonl");

        results.write(file);

        assertThat(Results.read(file)).isEqualTo(results);
        assertThat(execute("--report-only", file.toString(), "--output", directory.toString()).exitCode)
                .isZero();
        assertThat(Files.readString(directory.resolve("benchmarks.md")))
                .contains("CPU: made up")
                .contains("| 8.00 M |")
                .contains("![One way: MB/s by message size](docs/benchmarks/bytes.svg)")
                .contains("## Where another library is ahead");
        assertThat(Files.readString(directory.resolve("docs/benchmarks/figures.md")))
                .contains("| netty-zmtp epoll | 8.00 M (8.00 M to 8.00 M) |")
                .contains("![One way: messages/s by message size](throughput.svg)")
                .contains("![Round trip](latency-roundtrip-256-256.svg)");
        assertThat(Files.readString(directory.resolve("docs/benchmarks/method.md")))
                .contains("| CPU | made up |");
        assertThat(directory.resolve("docs/benchmarks/throughput.svg"))
                .content()
                .contains("<svg");
        assertThat(directory.resolve("docs/benchmarks/latency-roundtrip-256-256.svg"))
                .exists();
    }

    @Test
    void anUnrelatedFileIsRefused(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("results.jsonl");

        Files.writeString(file, "{\"environment\":{\"CPU\":\"fast\"}}\n{\"cells\":[]}\n");
        assertThatThrownBy(() -> Results.read(file))
                .hasMessage(file + ", line 2: \"cells\" (expected: environment, cell, peer or sample)");

        for (String wrong : List.of("]", "{\"sample\":{\"cell\":\"one", "[]", "", "{\"cell\":7}")) {
            Files.writeString(file, wrong + "\n");
            assertThatThrownBy(() -> Results.read(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith(file + ", line 1: ");
        }

        Files.writeString(file, "");
        assertThatThrownBy(() -> Results.read(file))
                .hasMessage(file + ": no cell (expected: the results of a comparison)");
    }

    @Test
    void theFileHasALineForEachWindow(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("results.jsonl");

        results(samples("libzmq", Metric.PER_SECOND, 8e6, 9e6)).write(file);

        assertThat(file)
                .content()
                .startsWith("{\"environment\":{\"CPU\":\"made up\"}}\n{\"cell\":{\"id\":\"oneway-100\",")
                .contains("}\n{\"peer\":{\"name\":\"libzmq\",\"library\":\"libzmq\",\"transport\":\"epoll\"}}\n")
                .endsWith("{\"sample\":{\"cell\":\"oneway-100\",\"peer\":\"libzmq\",\"lap\":2,"
                        + "\"values\":{\"PER_SECOND\":9000000.0},\"counted\":[],\"notMeasured\":\"\"}}\n");
    }

    @Test
    void aComparisonGoesOnOnlyAsItBegan() throws IOException {
        Results begun = new Results(
                Map.of("Date", "yesterday", "Commit", "a1", "Resumed", "at noon"), List.of(), List.of(), List.of());

        assertThat(begun.resumed(Map.of("Date", "today", "Commit", "a1")))
                .containsExactlyInAnyOrderEntriesOf(Map.of("Date", "yesterday", "Commit", "a1", "Resumed", "today"));
        assertThatThrownBy(() -> begun.resumed(Map.of("Date", "today", "Commit", "b2")))
                .hasMessage("--resume: Commit: \"b2\" (expected: \"a1\", as the interrupted comparison had)");
        assertThatThrownBy(() -> begun.resumed(Map.of("Date", "today", "Commit", "a1", "Cells", "ipc")))
                .hasMessage("--resume: Cells: \"ipc\" (expected: \"\", as the interrupted comparison had)");
    }

    @Test
    void cellsThatAreMeasuredLaterTakeTheirPlaceAndTheReportSaysWhen() throws IOException {
        Results begun = measured(Map.of("Date", "yesterday", "CPU", "fast"), "oneway-100", "roundtrip-256-256");
        Results later = measured(
                Map.of(
                        "Date", "today", "CPU", "fast", "Commit", "b2", "Cells", "oneway", "Windows", "7", "Kernel",
                        "K"),
                "oneway-100");

        Results both = begun.plus(later);

        assertThat(both.samples())
                .containsExactly(begun.samples().get(1), later.samples().get(0));
        assertThat(both.environment())
                .containsEntry("Date", "yesterday")
                .containsEntry(
                        "Added today", "cells oneway, commit b2, 7 windows of some time after some time, kernel K");
        assertThat(Report.pages(both, false).get(Path.of("benchmarks.md")))
                .contains("Measured at another time, today: cells oneway, commit b2");
    }

    @Test
    void cellsOfAnotherMachineAreNotAdded() {
        Results begun = measured(Map.of("CPU", "fast"), "oneway-100");

        assertThatThrownBy(() -> begun.plus(measured(Map.of("CPU", "slow"), "oneway-100")))
                .hasMessage("--add: CPU: \"slow\" (expected: \"fast\", as the other cells have)");
    }

    @Test
    void aCellIsNotAddedWithoutAPeerThatItHad() {
        Results begun = measured(Map.of(), "oneway-100");
        Results ours = new Results(Map.of(), begun.cells(), begun.peers(), begun.samples());
        Results.Row other = new Results.Row("libzmq", "libzmq", "epoll");
        List<Sample> samples = new ArrayList<>(begun.samples());
        samples.add(new Sample("oneway-100", other.name(), 1, Map.of(Metric.PER_SECOND, 2e6), List.of(), ""));
        Results both =
                new Results(Map.of(), begun.cells(), List.of(begun.peers().get(0), other), samples);

        assertThatThrownBy(() -> both.plus(ours)).hasMessageContaining("oneway-100 without libzmq");
    }

    private static Results measured(Map<String, String> environment, String... cells) {
        List<Cell> all = Cells.of(Profile.FULL, Pattern.compile(""), false).stream()
                .filter(cell -> List.of(cells).contains(cell.id()))
                .toList();
        List<Sample> samples = all.stream()
                .map(cell -> new Sample(cell.id(), "netty-zmtp nio", 1, Map.of(Metric.PER_SECOND, 1e6), List.of(), ""))
                .toList();
        return new Results(environment, all, List.of(new Results.Row("netty-zmtp nio", "netty-zmtp", "nio")), samples);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--profile=slow",
                "--windows=0",
                "--seconds=0",
                "--warmup=-1",
                "--cell=(",
                "--cell=nothing-has-this-name",
                "--faster",
            })
    void wrongArgumentsAreShownWithTheUsage(String argument) {
        Executed executed = execute(argument, "--peer=^netty-zmtp nio$");

        assertThat(executed.exitCode).isEqualTo(2);
        assertThat(executed.err).contains("Usage: compare").contains(argument.split("=", -1)[0]);
    }

    @Test
    void aCellBringsTheCellThatItNeeds() {
        assertThat(Cells.of(Profile.FULL, Pattern.compile("^openloop-50-"), false))
                .extracting(Cell::id)
                .containsExactly("openloop-maximum", "openloop-50-percent");
    }

    @Test
    void eachPeerOfACellIsThere() throws Exception {
        List<String> names = new ArrayList<>(List.of(ComparedPeers.LIBZMQ, ComparedPeers.OMQ)); // not compiled here
        ComparedPeers.all(Pattern.compile(""), name -> false, Optional.empty()).forEach(peer -> names.add(peer.name()));

        assertThat(names)
                .doesNotHaveDuplicates()
                .contains("raw-netty nio, 128 a flush", "least-handlers nio", "least-handlers nio, 640 a flush");
        for (Profile profile : Profile.values()) {
            assertThat(Cells.of(profile, Pattern.compile(""), false))
                    .allSatisfy(cell -> assertThat(cell.peers())
                            .isNotEmpty()
                            .doesNotHaveDuplicates()
                            .isSubsetOf(names));
        }
    }

    @Test
    void anotherBuildStandsBesideEachRowOfThisOne() throws Exception {
        Cell cell =
                Cells.of(Profile.FULL, Pattern.compile("^oneway-1000$"), true).get(0);

        assertThat(cell.peers())
                .contains("netty-zmtp nio", "netty-zmtp nio, baseline", "netty-zmtp epoll, baseline")
                .doesNotContain("netty-zmtp io_uring, baseline");
        assertThat(ComparedPeers.all(
                        Pattern.compile("^netty-zmtp nio, base"), name -> true, Optional.of("/other/classes")))
                .singleElement()
                .satisfies(peer -> assertThat(peer.command()).contains("/other/classes"));
    }

    @Test
    void aPeersOwnKeysReplaceThoseOfACell() {
        ComparedPeer few = new ComparedPeer(
                "few", "netty-zmtp", "nio", List.of("java"), List.of("transport=nio", "connections=10"), "");

        assertThat(few.commandFor("send", List.of("size=100", "connections=1000", "connections-made=5")))
                .containsExactly("java", "send", "size=100", "connections-made=5", "transport=nio", "connections=10");
    }

    /** The times that the README and other pages state. */
    @ParameterizedTest
    @CsvSource({"QUICK, 630", "FULL, 7000"})
    void aProfileTakesNoLongerThanDocumented(Profile profile, double most) {
        double seconds = 0;
        for (Cell cell : Cells.of(profile, Pattern.compile(""), false)) {
            for (String peer : cell.peers()) {
                double starting = peer.equals(ComparedPeers.LIBZMQ) ? 0.2 : cell.pair() ? 0.8 : 1.5;
                // Each connection is made before the warm-up.
                starting += cell.number("connections", 0) * 0.0006;
                double window = profile.seconds() + 0.12;
                seconds += cell.workload().hasTraffic()
                        ? starting + profile.warmup() + profile.windows() * window
                        : Ratio.MIN_PAIRS * (starting + 2 * window);
            }
        }

        assertThat(seconds).isBetween(0.7 * most, most);
    }

    @Test
    void idsAreUniqueAndTheQuickProfileHasEachKindOfCell() {
        for (Profile profile : Profile.values()) {
            List<Cell> cells = Cells.of(profile, Pattern.compile(""), false);
            assertThat(cells).extracting(Cell::id).doesNotHaveDuplicates();
            assertThat(cells).extracting(Cell::workload).contains(Workload.values());
            assertThat(cells).extracting(Cell::pair).contains(true);
            assertThat(cells).extracting(Cell::load).anyMatch(load -> load > 0);
            assertThat(cells).extracting(Cell::id).contains(Cells.MAXIMUM).anyMatch(id -> id.endsWith(Cells.BUSY));
        }
    }

    private record Executed(int exitCode, String err) {}

    private static Executed execute(String... args) {
        StringWriter err = new StringWriter();
        CommandLine command = Compare.commandLine();
        command.setOut(new PrintWriter(new StringWriter()));
        command.setErr(new PrintWriter(err));
        int exitCode = command.execute(args);
        return new Executed(exitCode, err.toString());
    }

    @SafeVarargs
    private static Results results(List<Sample>... samples) {
        List<Sample> all = new ArrayList<>();
        for (List<Sample> some : samples) {
            all.addAll(some);
        }
        return new Results(Map.of("CPU", "made up"), List.of(ONEWAY, ROUNDTRIP, OPENLOOP, CUSTOM), PEERS, all);
    }

    private static List<Sample> allocated(String peer, double asking, double answering) {
        Map<Metric, Double> values = Map.of(Metric.ALLOCATED_SENDING, asking, Metric.ALLOCATED_RECEIVING, answering);
        return List.of(new Sample("custom", peer, 1, values, List.of(), ""));
    }

    /** As many windows with the same figure as a ratio needs. */
    private static List<Sample> steady(String peer, double perSecond) {
        return steady("oneway-100", peer, Metric.PER_SECOND, perSecond);
    }

    private static List<Sample> steady(String cell, String peer, Metric metric, double value) {
        return samples(cell, peer, metric, value, value, value, value, value, value);
    }

    private static List<Sample> samples(String peer, Metric metric, double... values) {
        return samples("oneway-100", peer, metric, values);
    }

    private static List<Sample> samples(String cell, String peer, Metric metric, double... values) {
        List<Sample> samples = new ArrayList<>();
        for (double value : values) {
            samples.add(sample(cell, peer, samples.size() + 1, metric, value));
        }
        return samples;
    }

    private static Sample sample(String cell, String peer, int lap, Metric metric, double value) {
        return new Sample(cell, peer, lap, Map.of(metric, value), List.of(), "");
    }
}
