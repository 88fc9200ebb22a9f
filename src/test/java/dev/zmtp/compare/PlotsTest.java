package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.zmtp.compare.Plot.Line;
import dev.zmtp.compare.Plot.Point;
import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.XYStyler;

/** What is drawn into which picture, and how. */
class PlotsTest {

    private static final Row OURS = new Row("netty-zmtp nio", "netty-zmtp", "nio");
    private static final Row LIBZMQ = new Row("libzmq", "libzmq", "epoll");

    private static final Cell SMALL = cell("oneway-100", Workload.ONEWAY, Map.of("size", "100"));
    private static final Cell LARGE = cell("oneway-65536", Workload.ONEWAY, Map.of("size", "65536"));
    private static final Cell CURVE =
            cell("oneway-100-curve", Workload.ONEWAY, Map.of("security", "curve", "size", "100"));
    private static final Cell FEW =
            cell("connections-1", Workload.CONNECTIONS, Map.of("size", "100", "connections", "1"));
    private static final Cell MANY =
            cell("connections-1000", Workload.CONNECTIONS, Map.of("size", "100", "connections", "1000"));
    private static final Cell SOCKETS = cell("socket-roundtrip-64", Workload.ROUNDTRIP, Map.of());
    private static final Cell OTHER_SIZE = cell("socket-roundtrip-1", Workload.ROUNDTRIP, Map.of());
    private static final Cell ROUNDTRIP = cell("roundtrip-256-256", Workload.ROUNDTRIP, Map.of());

    @Test
    void encryptedCellsAreAPictureOfTheirOwn() {
        Results results = results(
                sample(LARGE, "libzmq", Metric.PER_SECOND, 3),
                sample(CURVE, "libzmq", Metric.PER_SECOND, 2),
                sample(SMALL, "libzmq", Metric.PER_SECOND, 8));

        assertThat(Plots.of(results))
                .extracting(Plot::name)
                .containsExactly("throughput", "bytes", "throughput-curve", "bytes-curve");
        assertThat(plot(results, "throughput").positions()).containsExactly("100 bytes", "64 KiB");
        assertThat(plot(results, "throughput").lines())
                .containsExactly(new Line(LIBZMQ, List.of(new Point(0, one(8)), new Point(1, one(3)))));
        assertThat(plot(results, "throughput-curve").lines())
                .containsExactly(new Line(LIBZMQ, List.of(new Point(0, one(2)))));
    }

    @Test
    void bytesAreMessagesTimesTheirSize() {
        Results results = results(sample(SMALL, "libzmq", Metric.PER_SECOND, 5e6));

        assertThat(plot(results, "bytes").lines().get(0).points()).containsExactly(new Point(0, one(500)));
    }

    @Test
    void noPositionIsThereTwice() throws IOException {
        assertThat(Plots.of(Fixture.results())).hasSizeGreaterThan(5).allSatisfy(plot -> {
            assertThat(plot.positions()).doesNotHaveDuplicates();
            assertThat(plot.lines())
                    .allSatisfy(line -> assertThat(line.points())
                            .extracting(Point::position)
                            .doesNotHaveDuplicates()
                            .isSorted());
        });
    }

    @Test
    void percentilesAreNamed() {
        Results results =
                results(sample(ROUNDTRIP, "libzmq", Metric.P99, 8000), sample(ROUNDTRIP, "libzmq", Metric.P50, 2000));

        Plot plot = plot(results, "latency-roundtrip-256-256");

        assertThat(plot.positions()).containsExactly("p50", "p90", "p99", "p99.9", "p99.99");
        assertThat(plot.valueTitle()).isEqualTo("latency in µs");
        assertThat(plot.lines()).containsExactly(new Line(LIBZMQ, List.of(new Point(0, one(2)), new Point(2, one(8)))));
    }

    @Test
    void ofTheSocketsASizeAndALoadAreDrawn() {
        Results results =
                results(sample(SOCKETS, "libzmq", Metric.P50, 8000), sample(OTHER_SIZE, "libzmq", Metric.P50, 2000));

        assertThat(Plots.of(results)).extracting(Plot::name).containsExactly("latency-socket-roundtrip-64");
        assertThat(Cells.of(Profile.FULL, Pattern.compile(""), false))
                .extracting(Cell::id)
                .containsAll(SocketCells.PICTURED);
    }

    @Test
    void theAxisOfConnectionsStartsAtZeroAndHasNumbers() {
        Results results = results(
                sample(FEW, "netty-zmtp nio", Metric.PER_SECOND, 8e6),
                sample(MANY, "netty-zmtp nio", Metric.PER_SECOND, 3e6));

        XYStyler styler = plot(results, "connections").chart().getStyler();

        assertThat(styler.isYAxisLogarithmic()).isFalse();
        assertThat(styler.getYAxisMin()).isZero();
        assertThat(Stream.of(0.0, 2e6, 2.5e6, 10e6, 100e3).map(styler.getyAxisTickLabelsFormattingFunction()))
                .containsExactly("0", "2 M", "2.50 M", "10 M", "100 k");
        assertThat(Stream.of(0.0, 1.0).map(styler.getxAxisTickLabelsFormattingFunction()))
                .containsExactly("1", "1,000");
    }

    @ParameterizedTest
    @CsvSource({
        "2, 3, 1, 10",
        "1, 1, 1, 10",
        "10, 10, 10, 100",
        "6, 60, 5, 100",
        "70, 11_000, 50, 20_000",
        "0.3, 25, 0.2, 50",
        "1500, 3000, 1000, 10_000",
    })
    void aLogarithmicAxisHasAtLeastTwoPowersOfTen(String least, String greatest, String from, String to) {
        Results results = results(
                sample(SMALL, "libzmq", Metric.PER_SECOND, number(least)),
                sample(LARGE, "libzmq", Metric.PER_SECOND, number(greatest)));

        XYStyler styler = plot(results, "throughput").chart().getStyler();

        assertThat(styler.isYAxisLogarithmic()).isTrue();
        assertThat(styler.getYAxisMin()).isCloseTo(number(from), withinPercentage(0.001));
        assertThat(styler.getYAxisMax()).isCloseTo(number(to), withinPercentage(0.001));
    }

    private static double number(String text) {
        return Double.parseDouble(text.replace("_", ""));
    }

    @Test
    void eachTickBetweenPositionsHasALabelOfItsOwnThatIsNotSeen() {
        Results results =
                results(sample(SMALL, "libzmq", Metric.PER_SECOND, 3), sample(LARGE, "libzmq", Metric.PER_SECOND, 2));
        Function<Double, String> labels =
                plot(results, "throughput").chart().getStyler().getxAxisTickLabelsFormattingFunction();

        List<String> all = IntStream.rangeClosed(-20, 120)
                .mapToObj(twentieth -> labels.apply(twentieth / 20.0))
                .toList();

        assertThat(all).doesNotHaveDuplicates();
        assertThat(all.stream().filter(label -> !label.chars().allMatch(Character::isSpaceChar)))
                .containsExactly("100 bytes", "64 KiB");
    }

    @Test
    void eachPlotIsAFileAndThoseOfEarlierRunsGo(@TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("earlier.svg"), "<svg>");
        Files.writeString(directory.resolve("notes.md"), "Notes");

        Plots.write(Plots.of(results(sample(ROUNDTRIP, "libzmq", Metric.P50, 2000))), directory);

        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("latency-roundtrip-256-256.svg", "notes.md");
        assertThat(directory.resolve("latency-roundtrip-256-256.svg")).content().contains("<svg");
    }

    @Test
    void aRangeIsDrawnFromQuartileToQuartile() {
        Results results = results(
                lap(SMALL, 1, "libzmq", Metric.PER_SECOND, 4),
                lap(SMALL, 2, "libzmq", Metric.PER_SECOND, 9),
                lap(SMALL, 3, "libzmq", Metric.PER_SECOND, 5),
                sample(LARGE, "libzmq", Metric.PER_SECOND, 2));

        XYChart chart = plot(results, "throughput").chart();

        assertThat(chart.getSeriesMap().get("libzmq").getYData()).containsExactly(5, 2);
        XYSeries ranges = chart.getSeriesMap().get("libzmq, range");
        assertThat(ranges.getYData()).containsExactly(4.5, 7, Double.NaN, 2, 2, Double.NaN);
        assertThat(ranges.isShowInLegend()).isFalse();
    }

    @Test
    void aPeerHasOneColourAndMarkerInAllPictures() throws IOException {
        Set<Object> looks = new LinkedHashSet<>();
        for (Plot plot : Plots.of(Fixture.results())) {
            Map<String, XYSeries> series = plot.chart().getSeriesMap();
            XYSeries ours = series.get("netty-zmtp nio");
            if (ours != null) {
                looks.add(List.of(ours.getLineColor(), ours.getMarkerColor(), ours.getMarker()));
                assertThat(series.get("netty-zmtp nio, range").getLineColor()).isEqualTo(ours.getLineColor());
            }
        }

        assertThat(looks).hasSize(1);
    }

    @Test
    void noTwoPeersLookAlike() {
        Set<String> names = new LinkedHashSet<>();
        for (Profile profile : Profile.values()) {
            Cells.of(profile, Pattern.compile(""), false).forEach(cell -> names.addAll(cell.peers()));
        }

        assertThat(names).hasSizeGreaterThan(8);
        assertThat(names.stream()
                        .map(name -> PeerStyle.of(new Row(name, "", "")).color()))
                .doesNotHaveDuplicates()
                .doesNotContain(PeerStyle.of(new Row("unknown", "", "")).color());
    }

    private static Plot plot(Results results, String name) {
        return Plots.of(results).stream()
                .filter(plot -> plot.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Spread one(double value) {
        return new Spread(value, value, value, 1);
    }

    private static Cell cell(String id, Workload workload, Map<String, String> keys) {
        return new Cell(id, id, workload, false, keys, 0, "", List.of());
    }

    private static Results results(Sample... samples) {
        return new Results(
                Map.of(),
                List.of(LARGE, SMALL, CURVE, MANY, FEW, ROUNDTRIP, SOCKETS, OTHER_SIZE),
                List.of(OURS, LIBZMQ),
                new ArrayList<>(List.of(samples)));
    }

    private static Sample sample(Cell cell, String peer, Metric metric, double value) {
        return lap(cell, 1, peer, metric, value);
    }

    private static Sample lap(Cell cell, int lap, String peer, Metric metric, double value) {
        return new Sample(cell.id(), peer, lap, Map.of(metric, value), List.of(), "");
    }
}
