package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.zmtp.compare.peer.Workload;
import dev.zmtp.testing.TestSockets;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sittings with programs that are real processes and pretend to be peers. */
class SittingTest {

    private static final Window SHORT =
            new Window(Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(20));
    private static final long FILES = 1000;

    @Test
    void figuresAreThoseBetweenTwoMarks() throws Exception {
        Sample sample = run(cell(Workload.ONEWAY, false, Map.of("size", "100")), "good");

        assertThat(sample.notMeasured()).isEmpty();
        assertThat(sample.values())
                .containsOnly(
                        Map.entry(Metric.PER_SECOND, 1000.0),
                        Map.entry(Metric.CPU_OF_PAUSED, 0.0),
                        // Half a second of each of two processes for a thousand messages.
                        Map.entry(Metric.CPU_PER_MILLION, 1000.0),
                        Map.entry(Metric.CPU_SENDING, 500.0),
                        Map.entry(Metric.CPU_RECEIVING, 500.0),
                        Map.entry(Metric.ALLOCATED_SENDING, 16.0),
                        Map.entry(Metric.ALLOCATED_RECEIVING, 16.0),
                        Map.entry(Metric.RSS_SENDING, 1048576.0),
                        Map.entry(Metric.RSS_RECEIVING, 1048576.0));
        assertThat(sample.counted())
                .hasSize(2)
                .allSatisfy(mark -> assertThat(mark.figures())
                        .containsEntry("nanos", 1_000_000_000L)
                        .containsEntry("messages", 1000L));
    }

    @Test
    void aPairIsOneProcess() throws Exception {
        Sample sample = run(cell(Workload.REQREP, true, Map.of()), "good");

        assertThat(sample.values())
                .containsOnly(
                        Map.entry(Metric.PER_SECOND, 1000.0),
                        Map.entry(Metric.CPU_OF_PAUSED, 0.0),
                        Map.entry(Metric.CPU_PER_MILLION, 500.0),
                        Map.entry(Metric.ALLOCATED_SENDING, 16.0),
                        Map.entry(Metric.RSS_SENDING, 1048576.0));
    }

    @Test
    void anOpenLoopHasLatenciesItsRateAndItsLateShare() throws Exception {
        Sample sample = run(cell(Workload.OPENLOOP, false, Map.of("rate", "1234")), "good");

        assertThat(sample.values())
                .containsEntry(Metric.INTENDED_RATE, 1234.0)
                .containsEntry(Metric.LATE, 0.01)
                .containsEntry(Metric.P50, 1000.0);
        assertThat(sample.values().get(Metric.MAX)).isCloseTo(9000.0, within(10.0));
    }

    @Test
    void theMaximumOfAnOpenLoopIsWhatTheReceiverGotAndHasNoLatencies() throws Exception {
        Cell maximum = new Cell(
                Cells.MAXIMUM, "Maximum", Workload.OPENLOOP, false, Map.of("rate", "1000000000"), 0, "", List.of());

        assertThat(run(maximum, "good").values())
                .containsEntry(Metric.PER_SECOND, 1000.0)
                .doesNotContainKeys(Metric.P50, Metric.MAX, Metric.LATE, Metric.INTENDED_RATE);
    }

    @Test
    void whatAPublisherSentAndItsSubscribersDidNotGetWasDropped() throws Exception {
        Sample sample = run(cell(Workload.PUBSUB, false, Map.of("connections", "4")), "good");

        // The publisher sends a thousand messages to four, and a thousand arrive.
        assertThat(sample.values()).containsEntry(Metric.PER_SECOND, 1000.0).containsEntry(Metric.DROPPED, 0.75);
    }

    @Test
    void idleConnectionsAreMeasuredAgainstNoConnections() throws Exception {
        Sample sample = run(cell(Workload.IDLE, false, Map.of("connections", "10")), "good");

        // Marks alone, before and after the window: the third has 10,000 bytes of heap and 14,000 resident more than
        // the first.
        assertThat(sample.values()).containsEntry(Metric.HEAP_PER_CONNECTION, 1000.0);
        assertThat(sample.values()).containsEntry(Metric.RSS_PER_CONNECTION, 1400.0);
        assertThat(sample.values()).containsEntry(Metric.IDLE_CPU, 0.5);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "unsupported | it is a fake",
                "dying | receive ended before \"port=\", exit code 1: java.lang.IllegalStateException: no more",
            })
    void theReasonOfAFailureIsReported(String manner, String reason) throws Exception {
        Sample sample = run(cell(Workload.ONEWAY, false, Map.of()), manner);

        assertThat(sample.notMeasured()).isEqualTo(reason);
        assertThat(sample.values()).isEmpty();
    }

    @Test
    void aWrongMarkIsAFailureThatShowsIt() throws Exception {
        Sample sample = run(cell(Workload.ONEWAY, true, Map.of()), "garbled");

        assertThat(sample.notMeasured())
                .isEqualTo("pair gave a wrong answer, mark: \"mark nanos=much messages=1\""
                        + " (expected: a number of 1 to 18 digits for nanos)");
    }

    @Test
    void aProgramThatPrintsNothingIsKilled() throws Exception {
        ComparedPeer mute = FakePeer.peer("mute");
        PeerProcess process =
                PeerProcess.start("receive", mute.commandFor("receive", List.of()), Duration.ofMillis(50));
        ProcessHandle handle = process.handle();
        try (process) {
            assertThat(handle.isAlive()).isTrue();
            assertThatThrownBy(() -> process.await("port="))
                    .isInstanceOf(NotMeasuredException.class)
                    .hasMessage("receive did not print \"port=\" within 50 ms");
        }
        assertThat(handle.isAlive()).isFalse();
    }

    @Test
    void aMissingProgramIsTheReason() throws Exception {
        ComparedPeer nowhere = new ComparedPeer("nowhere", "nowhere", "nio", List.of("/nowhere/at-all"), List.of(), "");

        Sample sample = only(measure(cell(Workload.ONEWAY, false, Map.of()), 1, nowhere));

        assertThat(sample.notMeasured()).startsWith("receive did not start: ").contains("/nowhere/at-all");
    }

    @Test
    void moreConnectionsThanOpenFilesAreNotAttempted() throws Exception {
        Sample sample = run(cell(Workload.CONNECTIONS, false, Map.of("connections", "801")), "good");

        assertThat(sample.notMeasured()).isEqualTo("open files limited to 1000");
    }

    @Test
    void peersTakeTurnsAndAnotherIsFirstInEachLap() throws Exception {
        List<Sample> samples = measure(
                cell(Workload.ONEWAY, true, Map.of()),
                2,
                FakePeer.peer("good"),
                FakePeer.peer("unsupported"),
                FakePeer.peer("other"));

        assertThat(samples)
                .extracting(sample -> sample.lap() + " " + sample.peer() + " " + sample.measured())
                .containsExactly("1 unsupported false", "1 other true", "1 good true", "2 good true", "2 other true");
    }

    @Test
    void aPeerThatEndsDoesNotTakePartAnyMore() throws Exception {
        List<Sample> samples = measure(cell(Workload.ONEWAY, true, Map.of()), 3, FakePeer.peer("mortal"));

        assertThat(samples).extracting(Sample::measured).containsExactly(true, false);
        assertThat(samples.get(1).notMeasured()).contains("exit code 3");
    }

    /** The program counts its own steps, so that a pause can be seen. */
    @Test
    void aPausedProcessDoesNothingUntilItIsResumed() throws Exception {
        ComparedPeer busy = FakePeer.peer("busy");
        try (PeerProcess process =
                PeerProcess.start("pair", busy.commandFor("pair", List.of()), Duration.ofSeconds(20))) {
            process.await("ready");
            awaitStep(process);
            process.pause();
            Duration cpu = process.cpu();
            Thread.sleep(100);
            // The signal may take a moment to reach it.
            assertThat(process.cpu()).isLessThan(cpu.plusMillis(50));
            process.resume();
            awaitStep(process);
        }
    }

    /** On a busy machine the process may do nothing between two looks at it. */
    private static void awaitStep(PeerProcess process) throws Exception {
        long before = steps(process);
        long end = System.nanoTime() + TestSockets.PATIENCE.toNanos();
        while (steps(process) == before) {
            assertThat(System.nanoTime()).as("the time of a step").isLessThan(end);
        }
    }

    private static long steps(PeerProcess process) throws Exception {
        return process.mark().get("messages").orElseThrow();
    }

    @Test
    void aPausedProcessIsEnded() throws Exception {
        ComparedPeer good = FakePeer.peer("good");
        PeerProcess process = PeerProcess.start("pair", good.commandFor("pair", List.of()), Duration.ofSeconds(20));
        ProcessHandle handle = process.handle();
        try (process) {
            process.await("ready");
            process.pause();
        }
        assertThat(handle.isAlive()).isFalse();
    }

    @Test
    void aPausedProcessDeletesItsFilesWhenItIsEnded(@TempDir Path dir) throws Exception {
        Path file = Files.createFile(dir.resolve("file"));
        List<String> command = FakePeer.peer("tidy").commandFor("pair", List.of(file.toString()));
        try (PeerProcess process = PeerProcess.start("pair", command, Duration.ofSeconds(20))) {
            process.await("ready");
            process.pause();
        }
        assertThat(file).doesNotExist();
    }

    @Test
    void allPeersAreAskedForAShareOfTheSlowestOnesMaximum() throws Exception {
        Cell base = new Cell(
                "base", "Base", Workload.ONEWAY, true, Map.of(), 0, "", List.of("good", "slow", "unsupported"));
        Cell load = new Cell("load", "Load", Workload.OPENLOOP, false, Map.of(), 0.5, "base", List.of("good", "slow"));
        Cell unknown = new Cell("unknown", "Unknown", Workload.OPENLOOP, false, Map.of(), 0.5, "none", List.of("good"));
        StringWriter out = new StringWriter();
        List<Sample> all = new ArrayList<>();

        new Comparison(
                        List.of(base, load, unknown),
                        List.of(FakePeer.peer("good"), FakePeer.peer("slow"), FakePeer.peer("unsupported")),
                        2,
                        SHORT,
                        FILES,
                        List.of(),
                        new CellProgress(new PrintWriter(out), () -> 0))
                .measure(samples -> {
                    all.clear();
                    all.addAll(samples);
                });

        assertThat(all)
                .filteredOn(sample -> sample.cell().equals("load"))
                .extracting(sample -> sample.values().get(Metric.INTENDED_RATE))
                .containsOnly(250.0)
                .hasSize(4);
        assertThat(all)
                .filteredOn(sample -> !sample.measured())
                .extracting(Sample::notMeasured)
                .containsExactly("it is a fake", "the cell none, which sets the rate, was not measured");
        assertThat(out.toString().lines())
                .hasSize(9)
                .anyMatch(line -> line.matches("[0-9]+:[0-9]{2} of about [0-9]+:[0-9]{2} {2}base"))
                .anyMatch(line -> line.matches(" {4}good +1,000 \\(1,000 to 1,000\\) messages/s"))
                .anyMatch(line -> line.matches(" {4}unsupported +not measured: it is a fake"));
    }

    @Test
    void aCellThatWasMeasuredBeforeIsNotMeasuredAgain() throws Exception {
        Cell done = new Cell("done", "Done", Workload.ONEWAY, true, Map.of(), 0, "", List.of("good"));
        Cell left = new Cell("left", "Left", Workload.ONEWAY, true, Map.of(), 0, "", List.of("good"));
        Sample before = Sample.without("done", "good", 1, "it slept");
        StringWriter out = new StringWriter();
        List<Sample> all = new ArrayList<>();

        new Comparison(
                        List.of(done, left),
                        List.of(FakePeer.peer("good")),
                        1,
                        SHORT,
                        FILES,
                        List.of(before),
                        new CellProgress(new PrintWriter(out), () -> 0))
                .measure(all::addAll);

        assertThat(all).extracting(Sample::cell).containsExactly("done", "left");
        assertThat(all.get(0)).isEqualTo(before);
        assertThat(out.toString()).doesNotContain("done");
    }

    @Test
    void aCellThatRunsSaysWhichItIsAndWhichWindow() throws Exception {
        Cell first = new Cell("first", "First", Workload.ONEWAY, true, Map.of(), 0, "", List.of("good", "other"));
        Cell second = new Cell("second", "Second", Workload.IDLE, false, Map.of(), 0, "", List.of("good"));
        StringWriter out = new StringWriter();
        AtomicLong now = new AtomicLong();
        CellProgress progress =
                new CellProgress(new PrintWriter(out), () -> now.addAndGet(CellProgress.INTERVAL.toNanos()));

        new Comparison(
                        List.of(first, second),
                        List.of(FakePeer.peer("good"), FakePeer.peer("other")),
                        2,
                        SHORT,
                        FILES,
                        List.of(),
                        progress)
                .measure(samples -> {});

        assertThat(out.toString().lines().filter(line -> line.startsWith("cell ")))
                .containsExactly(
                        "cell 1 of 2, first: good warms up",
                        "cell 1 of 2, first: other warms up",
                        "cell 1 of 2, first: other, window 1 of 2",
                        "cell 1 of 2, first: good, window 1 of 2",
                        "cell 1 of 2, first: good, window 2 of 2",
                        "cell 1 of 2, first: other, window 2 of 2",
                        "cell 2 of 2, second: good, window 1 of 2",
                        "cell 2 of 2, second: good, window 2 of 2");
    }

    private static Cell cell(Workload workload, boolean pair, Map<String, String> keys) {
        return new Cell("cell", "Cell", workload, pair, keys, 0, "", List.of());
    }

    private static Sample run(Cell cell, String manner) throws Exception {
        return only(measure(cell, 1, FakePeer.peer(manner)));
    }

    private static List<Sample> measure(Cell cell, int laps, ComparedPeer... peers) throws InterruptedException {
        return new Sitting(cell, SHORT, laps, what -> {}).measure(List.of(peers), FILES, OptionalLong.of(0));
    }

    private static Sample only(List<Sample> samples) {
        assertThat(samples).hasSize(1);
        return samples.get(0);
    }
}
