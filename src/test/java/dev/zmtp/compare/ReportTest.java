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
    private static final Cell BUSY = new Cell(
            "roundtrip-256-256-busy", "Round trip, busy", Workload.ROUNDTRIP, false, Map.of(), 0, "", List.of());
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
    void aRatioIsToTheSameTransportAndOnlyWhereRangesDoNotOverlap() {
        Results results = results(
                samples("netty-zmtp nio", Metric.PER_SECOND, 6e6, 6.5e6, 7e6),
                samples("netty-zmtp epoll", Metric.PER_SECOND, 8e6, 8e6, 8e6),
                samples("netty4-zmtp", Metric.PER_SECOND, 2e6, 2.6e6, 3e6),
                samples("jeromq", Metric.PER_SECOND, 1e6, 1e6, 6e6),
                samples("libzmq", Metric.PER_SECOND, 1e6, 2e6, 3e6));

        assertThat(Table.of(results, ONEWAY)).isEqualTo("""
                        | peer | messages/s | MB/s | CPU s / million: send, receive | allocated B: send, receive | peak RSS: send, receive | netty-zmtp ÷ peer |
                        | --- | ---: | ---: | ---: | ---: | ---: | ---: |
                        | netty-zmtp nio | 6.50 M (6.00 M to 7.00 M) | 650 | –, – | –, – | –, – | – |
                        | netty-zmtp epoll | 8.00 M (8.00 M to 8.00 M) | 800 | –, – | –, – | –, – | – |
                        | netty4-zmtp | 2.60 M (2.00 M to 3.00 M) | 260 | –, – | –, – | –, – | 2.50 × (nio) |
                        | jeromq | 1.00 M (1.00 M to 6.00 M) | 100 | –, – | –, – | –, – | ranges overlap (nio) |
                        | libzmq | 2.00 M (1.00 M to 3.00 M) | 200 | –, – | –, – | –, – | 4.00 × (epoll) |
                        """);
    }

    @Test
    void aRowThatWasNotMeasuredStaysInItsTableWithTheReason() {
        String reason = "receive ended before \"port=\", exit code 1: a | b, and so on for as long as it takes to tell";
        Results results = results(
                samples("netty-zmtp epoll", Metric.PER_SECOND, 8e6, 8e6),
                List.of(Sample.without("oneway-100", "libzmq", 1, reason, false)),
                List.of(
                        Sample.without("oneway-100", "jeromq", 1, "it slept", false),
                        sample("oneway-100", "jeromq", 2, Metric.PER_SECOND, 1000)));

        assertThat(Table.of(results, ONEWAY))
                .contains("| jeromq (1 of 2 rounds not measured, note 1) | 1,000 | 0.10 |")
                .contains("| libzmq | not measured: receive ended before \"port=\", exit code 1: a \\| b, and so"
                        + " on ... (note 2) |  |  |  |  |  |\n")
                .contains("Note 1: not measured: it slept")
                .contains("Note 2: not measured: receive ended before \"port=\", exit code 1: a \\| b, and so on for as"
                        + " long as it takes to tell");
        assertThat(Goals.of(results))
                .contains("| One way, 100 bytes: netty-zmtp epoll against libzmq | ≥ 6 × the messages/s"
                        + " | 8.00 M | – | – | not measured |\n")
                .contains("Not part of this run: oneway-100 against netty4-zmtp, ");
    }

    @Test
    void theCpuTimeOfEachEndIsShown() {
        Sample sample = new Sample(
                "oneway-100",
                "libzmq",
                1,
                Map.of(Metric.PER_SECOND, 1e6, Metric.CPU_SENDING, 0.25, Metric.CPU_RECEIVING, 1.5),
                List.of(),
                "",
                false);

        assertThat(Table.of(results(List.of(sample)), ONEWAY)).contains("| 100 | 0.25, 1.50 | –, – |");
    }

    @Test
    void aGoalIsMetOrMissedByTheRatio() {
        Results results = results(
                samples("netty-zmtp nio", Metric.PER_SECOND, 6e6, 6.5e6, 7e6),
                samples("netty4-zmtp", Metric.PER_SECOND, 1e6, 1.3e6, 2e6),
                samples("jeromq", Metric.PER_SECOND, 1e6, 1e6, 1e6));

        assertThat(Goals.of(results))
                .contains("| One way, 100 bytes: netty-zmtp nio against netty4-zmtp | ≥ 3 × the messages/s"
                        + " | 6.50 M | 1.30 M | 5.00 × | met |\n")
                .contains("| One way, 100 bytes: netty-zmtp nio against jeromq | ≥ 15 × the messages/s"
                        + " | 6.50 M | 1.00 M | 6.50 × | **missed** |\n");
    }

    @Test
    void aGoalShowsTheRatioOfTheMediansWhereRangesOverlap() {
        Results results = results(
                samples("netty-zmtp nio", Metric.PER_SECOND, 4e6, 6e6, 8e6),
                samples("netty4-zmtp", Metric.PER_SECOND, 1e6, 5e6, 6e6));

        assertThat(Goals.of(results))
                .contains("| 6.00 M | 5.00 M | 1.20 × by the medians, ranges overlap | **missed** |\n");
    }

    @Test
    void aGoalMissedByTheMediansIsMissedEvenIfRangesOverlap() {
        Results results = results(
                samples("roundtrip-256-256-busy", "netty-zmtp epoll", Metric.P99, 5000, 6000, 7000),
                samples("roundtrip-256-256-busy", "raw-netty epoll", Metric.P99, 4000, 5000, 7000));

        assertThat(Goals.of(results))
                .contains("| 6.00 µs | 5.00 µs | 1.20 × by the medians, ranges overlap | **missed** |\n");
    }

    @Test
    void aLoopThatNeverBlocksIsComparedWithItsLikeAndWithABlockingLibzmq() {
        Results results = results(
                samples("roundtrip-256-256-busy", "netty-zmtp epoll", Metric.P99, 9000, 10_000),
                samples("roundtrip-256-256-busy", "raw-netty epoll", Metric.P99, 5000, 5000),
                samples("roundtrip-256-256", "libzmq", Metric.P99, 100_000, 100_000));

        assertThat(Goals.of(results))
                .contains("| Round trip, busy, p99: netty-zmtp epoll against raw-netty epoll | ≤ 1.15 × the time"
                        + " | 9.50 µs | 5.00 µs | 1.90 × | **missed** |\n")
                .contains("| Round trip, busy, p99: netty-zmtp epoll against libzmq where it blocks, as it always does"
                        + " | ≤ 0.2 × the time | 9.50 µs | 100 µs | 0.10 × | met |\n");
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
    void rowsAheadOfNettyZmtpAreListedEvenIfRangesOverlap() {
        Results results = results(
                samples("netty-zmtp nio", Metric.PER_SECOND, 2e6, 3e6, 4e6),
                samples("netty-zmtp epoll", Metric.PER_SECOND, 1e6, 1e6, 1e6),
                samples("raw-netty epoll", Metric.PER_SECOND, 9e6, 9e6, 9e6),
                samples("netty4-zmtp", Metric.PER_SECOND, 3e6, 3.75e6, 4e6),
                samples("jeromq", Metric.PER_SECOND, 1e6, 1e6, 9e6),
                samples("libzmq", Metric.PER_SECOND, 2e6, 2e6, 2e6),
                samples("roundtrip-256-256", "netty-zmtp epoll", Metric.P99, 30_000),
                samples("roundtrip-256-256", "libzmq", Metric.P99, 20_000));

        assertThat(Behind.table(Behind.of(results))).isEqualTo("""
                        | cell | figure | netty-zmtp | the other | netty-zmtp ÷ the other | |
                        | --- | --- | ---: | ---: | ---: | --- |
                        | [One way, 100 bytes](figures.md#one-way-100-bytes) | messages/s | 3.00 M/s, netty-zmtp nio | 3.75 M/s, netty4-zmtp | 0.80 × | ranges overlap |
                        | [One way, 100 bytes](figures.md#one-way-100-bytes) | messages/s | 1.00 M/s, netty-zmtp epoll | 2.00 M/s, libzmq | 0.50 × | ranges apart |
                        | [Round trip](figures.md#round-trip) | p99 | 30.0 µs, netty-zmtp epoll | 20.0 µs, libzmq | 1.50 × | one round only |
                        """);
    }

    @Test
    void aRowThatFailedIsBehindOneThatDidNot() {
        Results results = results(
                List.of(Sample.without("oneway-100", "netty-zmtp nio", 1, "it slept", false)),
                samples("jeromq", Metric.PER_SECOND, 1e6));

        assertThat(Behind.table(Behind.of(results)))
                .contains("| messages/s | not measured, netty-zmtp nio | 1.00 M/s, jeromq | – |  |");
        assertThat(Behind.table(Behind.of(results(samples("jeromq", Metric.PER_SECOND, 1e6)))))
                .isEqualTo("In no cell of this run.\n");
    }

    @Test
    void theFileHoldsEverythingThatTheReportNeeds(@TempDir Path directory) throws IOException {
        Results results = results(
                samples("netty-zmtp epoll", Metric.PER_SECOND, 8e6, 8e6, 8e6),
                List.of(
                        sample("roundtrip-256-256", "libzmq", 1, Metric.P50, 50_000),
                        Sample.without("roundtrip-256-256", "jeromq", 1, "it slept", true)));
        Path file = directory.resolve("a/b/results.json");

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
        Path file = directory.resolve("results.json");

        Files.writeString(file, "{\"cells\": []}");
        assertThatThrownBy(() -> Results.read(file)).hasMessage(file + ": not the results of a comparison");

        Files.writeString(file, "]");
        assertThatThrownBy(() -> Results.read(file)).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--profile=slow",
                "--rounds=0",
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
        assertThat(Cells.of(Profile.FULL, Pattern.compile("^openloop-80")))
                .extracting(Cell::id)
                .containsExactly("openloop-maximum", "openloop-80-percent");
    }

    @Test
    void eachPeerOfACellIsThere() throws Exception {
        List<String> names = new ArrayList<>(List.of(ComparedPeers.LIBZMQ)); // which is compiled where it is asked for
        ComparedPeers.all(Pattern.compile("^(?!libzmq)")).forEach(peer -> names.add(peer.name()));

        assertThat(names).doesNotHaveDuplicates().contains("raw-netty nio, 128 a flush");
        for (Profile profile : Profile.values()) {
            assertThat(Cells.of(profile, Pattern.compile("")))
                    .allSatisfy(cell -> assertThat(cell.peers())
                            .isNotEmpty()
                            .doesNotHaveDuplicates()
                            .isSubsetOf(names));
        }
    }

    /** The times that the README and other pages state. */
    @ParameterizedTest
    @CsvSource({"QUICK, 220", "FULL, 3400"})
    void aProfileTakesNoLongerThanDocumented(Profile profile, double most) {
        double seconds = 0;
        for (Cell cell : Cells.of(profile, Pattern.compile(""))) {
            for (String peer : cell.peers()) {
                double starting = peer.equals(ComparedPeers.LIBZMQ) ? 0.2 : cell.pair() ? 0.8 : 1.5;
                seconds += profile.rounds() * (profile.warmup() + profile.seconds() + starting);
                // Each connection is made before the warm-up.
                seconds += profile.rounds() * cell.number("connections", 0) * 0.0006;
            }
        }

        assertThat(seconds).isBetween(0.8 * most, most);
    }

    @Test
    void idsAreUniqueAndTheQuickProfileHasEachKindOfCell() {
        for (Profile profile : Profile.values()) {
            List<Cell> cells = Cells.of(profile, Pattern.compile(""));
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
        return new Results(Map.of("CPU", "made up"), List.of(ONEWAY, ROUNDTRIP, BUSY, CUSTOM), PEERS, all);
    }

    private static List<Sample> allocated(String peer, double asking, double answering) {
        Map<Metric, Double> values = Map.of(Metric.ALLOCATED_SENDING, asking, Metric.ALLOCATED_RECEIVING, answering);
        return List.of(new Sample("custom", peer, 1, values, List.of(), "", false));
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

    private static Sample sample(String cell, String peer, int round, Metric metric, double value) {
        return new Sample(cell, peer, round, Map.of(metric, value), List.of(), "", false);
    }
}
