package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lines that a program prints, and the figures of several rounds. */
class FiguresTest {

    @Test
    void theMedianIsInTheMiddleOrBetweenTheTwoThere() {
        assertThat(Spread.of(List.of(9.0, 1.0, 4.0))).isEqualTo(new Spread(4, 1, 9, 3));
        assertThat(Spread.of(List.of(9.0, 1.0, 4.0, 6.0))).isEqualTo(new Spread(5, 1, 9, 4));
        assertThatThrownBy(() -> Spread.of(List.of())).hasMessage("values: none (expected: at least one)");
    }

    @Test
    void aRatioNeedsRangesThatDoNotOverlap() {
        Spread low = Spread.of(List.of(1.0, 2.0, 3.0));

        assertThat(Spread.of(List.of(4.0, 6.0, 9.0)).ratioTo(low)).hasValue(3);
        assertThat(low.ratioTo(Spread.of(List.of(4.0, 4.0)))).hasValue(0.5);
        assertThat(Spread.of(List.of(3.0, 6.0, 9.0)).ratioTo(low)).isEmpty();
        assertThat(Spread.of(List.of(0.0, 2.0, 9.0)).ratioTo(low)).isEmpty();
        assertThat(low.ratioTo(Spread.of(List.of(0.0, 0.0)))).isEmpty();
    }

    @Test
    void oneRoundHasNoRangeAndNoRatio() {
        Spread one = Spread.of(List.of(1.0));
        Spread two = Spread.of(List.of(2.0, 3.0));

        assertThat(one.ratioTo(two)).isEmpty();
        assertThat(two.ratioTo(one)).isEmpty();
        assertThat(Table.ratio(one, two)).isEqualTo("one round only");
        assertThat(Table.ratio(two, two)).isEqualTo("ranges overlap");
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
