package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.zmtp.compare.peer.Workload;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs with programs that are real processes and pretend to be peers. */
class RunTest {

    private static final Window SHORT = new Window(Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(20));
    private static final long FILES = 1000;

    @Test
    void figuresAreThoseBetweenTwoMarks() throws Exception {
        Sample sample = run(cell(Workload.ONEWAY, false, Map.of("size", "100")), "good");

        assertThat(sample.notMeasured()).isEmpty();
        assertThat(sample.values())
                .containsOnly(
                        Map.entry(Metric.PER_SECOND, 1000.0),
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
        assertThat(sample.lasting()).isEqualTo(manner.equals("unsupported"));
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

        Sample sample = new Run(SHORT, FILES).measure(cell(Workload.ONEWAY, false, Map.of()), nowhere, 1, 0);

        assertThat(sample.notMeasured()).startsWith("receive did not start: ").contains("/nowhere/at-all");
    }

    @Test
    void moreConnectionsThanOpenFilesAreNotAttempted() throws Exception {
        Sample sample = run(cell(Workload.CONNECTIONS, false, Map.of("connections", "801")), "good");

        assertThat(sample.notMeasured()).isEqualTo("open files limited to 1000");
    }

    @Test
    void peersTakeTurnsAndAFailureDoesNotEndTheComparison() throws Exception {
        Cell base = new Cell(
                "base", "Base", Workload.ONEWAY, true, Map.of(), 0, "", List.of("good", "unsupported", "absent"));
        Cell load = new Cell(
                "load", "Load", Workload.OPENLOOP, false, Map.of(), 0.5, "base", List.of("good", "unsupported"));
        StringWriter out = new StringWriter();
        List<Sample> all = new ArrayList<>();

        new Comparison(
                        List.of(base, load),
                        List.of(FakePeer.peer("good"), FakePeer.peer("unsupported")),
                        2,
                        new Run(SHORT, FILES),
                        new PrintWriter(out))
                .measure(samples -> {
                    all.clear();
                    all.addAll(samples);
                });

        assertThat(all)
                .extracting(sample -> sample.round() + " " + sample.cell() + " " + sample.peer())
                .containsExactly(
                        "1 base unsupported",
                        "1 base good",
                        "1 load unsupported",
                        "1 load good",
                        "2 base good",
                        "2 base unsupported",
                        "2 load good",
                        "2 load unsupported");
        assertThat(all)
                .filteredOn(sample -> sample.cell().equals("load") && sample.measured())
                .extracting(sample -> sample.values().get(Metric.INTENDED_RATE))
                .containsExactly(500.0, 500.0);
        assertThat(all)
                .filteredOn(sample -> !sample.measured())
                .extracting(Sample::notMeasured)
                .containsOnly("it is a fake", "its maximum, the cell base, was not measured");
        assertThat(out.toString().lines())
                .hasSize(8)
                .element(1)
                .asString()
                .matches(
                        "\\[ {2}2/8] [0-9]+:[0-9]{2} of about [0-9]+:[0-9]{2} {2}round 1 {2}base +good +1,000 messages/s");
    }

    private static Cell cell(Workload workload, boolean pair, Map<String, String> keys) {
        return new Cell("cell", "Cell", workload, pair, keys, 0, "", List.of());
    }

    private static Sample run(Cell cell, String manner) throws Exception {
        return new Run(SHORT, FILES).measure(cell, FakePeer.peer(manner), 1, 0);
    }
}
