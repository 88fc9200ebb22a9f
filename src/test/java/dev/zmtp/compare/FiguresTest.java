package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lines that a program prints, and the figures of several windows. */
class FiguresTest {

    @Test
    void aSpreadIsAMedianBetweenTheQuartiles() {
        assertThat(Spread.of(List.of(5.0, 1.0, 3.0, 2.0, 4.0))).isEqualTo(new Spread(3, 2, 4, 5));
        assertThat(Spread.of(List.of(1.0, 2.0))).isEqualTo(new Spread(1.5, 1.25, 1.75, 2));
        assertThat(Spread.of(List.of(7.0))).isEqualTo(new Spread(7, 7, 7, 1));
        assertThatThrownBy(() -> Spread.of(List.of())).hasMessage("values: none (expected: at least one)");
    }

    /** The probability that three of fifteen or fewer are below the median is 1.8 %, that four or fewer are 5.9 %. */
    @Test
    void theIntervalOfARatioLeavesOutAsManyPairsAsItsConfidenceAllows() {
        assertThat(Ratio.of(upTo(15))).isEqualTo(new Ratio(8, 4, 12, 15));
        assertThat(Ratio.of(upTo(6))).isEqualTo(new Ratio(3.5, 1, 6, 6));
        assertThat(Ratio.of(upTo(8))).isEqualTo(new Ratio(4.5, 1, 8, 8));
        assertThat(Ratio.of(upTo(9))).isEqualTo(new Ratio(5, 2, 8, 9));
    }

    private static List<Double> upTo(int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> (double) i).toList();
    }

    @Test
    void aRatioIsClearIfItsIntervalDoesNotInclude1() {
        assertThat(new Ratio(2, 1.1, 3, 6).isClear()).isTrue();
        assertThat(new Ratio(0.5, 0.3, 0.9, 6).isClear()).isTrue();
        assertThat(new Ratio(2, 0.9, 3, 6).isClear()).isFalse();
        assertThat(new Ratio(2, 1.1, 3, 5).isClear()).isFalse();
    }

    @Test
    void aRatioTheOtherWayAroundHasItsBoundsSwapped() {
        assertThat(new Ratio(2, 0.5, 4, 6).inverse()).isEqualTo(new Ratio(0.5, 0.25, 2, 6));
    }

    @Test
    void aRatioIsOfWindowsOfTheSameLap() {
        Results results = new Results(
                Map.of(),
                List.of(),
                List.of(),
                List.of(lap("a", 1, 10), lap("b", 1, 5), lap("b", 2, 7), lap("b", 3, 2), lap("a", 3, 12)));

        assertThat(results.ratio("cell", "a", "b", Metric.PER_SECOND)).contains(new Ratio(4, 2, 6, 2));
        assertThat(results.ratio("cell", "a", "c", Metric.PER_SECOND)).isEmpty();
        assertThat(results.ratio("cell", "a", "b", Metric.P50)).isEmpty();
    }

    private static Sample lap(String peer, int lap, double value) {
        return new Sample("cell", peer, lap, Map.of(Metric.PER_SECOND, value), List.of(), "");
    }

    @Test
    void countsAreSubtractedAndLevelsAreNot() {
        Mark before = Mark.parse("mark nanos=10 messages=1 cpu=5 rss=100");
        Mark after = Mark.parse("mark nanos=2000000010 messages=7 cpu=9 rss=90");

        Mark counted = after.since(before);

        assertThat(counted).isEqualTo(Mark.parse("mark nanos=2000000000 messages=6 cpu=4 rss=90"));
        assertThat(counted.perSecond("messages")).hasValue(3);
        assertThat(counted.perSecond("allocated")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ready | a line that starts with \"mark \"",
                "mark nanos=1 | nanos and messages",
                "mark nanos=1 messages | key=number, not \"messages\"",
                "mark nanos=1 messages=2 speed=3 | key=number, not \"speed=3\"",
                "mark nanos=1 messages=-2 | a number of 1 to 18 digits for messages",
                "mark nanos=1 messages=1234567890123456789 | a number of 1 to 18 digits for messages",
                "mark nanos=1 messages=2 nanos=3 | nanos once",
            })
    void aWrongMarkIsShownWithWhatWasExpected(String line, String expected) {
        assertThatThrownBy(() -> Mark.parse(line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("mark: \"" + line + "\" (expected: " + expected + ")");
    }

    @Test
    void latenciesAreValuesAndHowOftenEachWasSeen() {
        Latencies latencies = Latencies.parse("latencies 100:90,200:9,300:1");

        assertThat(latencies.count()).isEqualTo(100);
        assertThat(latencies.figures())
                .containsEntry(Metric.P50, 100.0)
                .containsEntry(Metric.P90, 100.0)
                .containsEntry(Metric.P99, 200.0)
                .containsEntry(Metric.P99_99, 300.0)
                .containsEntry(Metric.MAX, 300.0);
        assertThat(Latencies.parse("latencies").figures()).isEmpty();
        assertThat(Latencies.parse("latencies ").figures()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mark 1:2 | a line that starts with \"latencies\"",
                "latencies 1:2,3 | value:count, not \"3\"",
                "latencies 1:2,,3:4 | value:count, not \"\"",
                "latencies 1:x | value:count, not \"1:x\"",
            })
    void wrongLatenciesAreShownWithWhatWasExpected(String line, String expected) {
        assertThatThrownBy(() -> Latencies.parse(line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("latencies: \"" + line + "\" (expected: " + expected + ")");
    }
}
