package dev.zmtp.compare;

import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.ChartTheme;
import org.knowm.xchart.style.Styler.LegendPosition;

/** The pictures of a comparison, as SVG. */
final class Plots {

    private static final int WIDTH = 900;
    private static final int HEIGHT = 520;

    /** Not dashed: each dash would be a shape of its own, ten times as much in the file as all else. */
    private static final BasicStroke GRID = new BasicStroke(0.5f);

    /** The percentiles of a picture, by what share of the round trips, one in so many, is slower. */
    private static final Map<Metric, Double> ONE_IN = new LinkedHashMap<>();

    static {
        ONE_IN.put(Metric.P50, 2.0);
        ONE_IN.put(Metric.P90, 10.0);
        ONE_IN.put(Metric.P99, 100.0);
        ONE_IN.put(Metric.P99_9, 1000.0);
        ONE_IN.put(Metric.P99_99, 10000.0);
    }

    private final Results results;
    private final Path directory;
    private final Map<String, String> drawn = new LinkedHashMap<>();

    private Plots(Results results, Path directory) {
        this.results = results;
        this.directory = directory;
    }

    /** Draws what there are figures for into {@code directory}, in place of the SVG files there; returns file names and titles. */
    static Map<String, String> draw(Results results, Path directory) throws IOException {
        Files.createDirectories(directory);
        try (DirectoryStream<Path> earlier = Files.newDirectoryStream(directory, "*.svg")) {
            for (Path file : earlier) {
                Files.delete(file);
            }
        }
        Plots plots = new Plots(results, directory);
        plots.throughput();
        plots.connections();
        for (Cell cell : results.cells()) {
            if (cell.timed()) {
                plots.latencies(cell);
            }
        }
        return plots.drawn;
    }

    private void throughput() throws IOException {
        List<Cell> cells = results.cells().stream()
                .filter(cell -> cell.workload() == Workload.ONEWAY && !cell.pair())
                .sorted(Comparator.comparingLong(cell -> cell.number("size", 0)))
                .toList();
        XYChart chart = chart("One way: messages/s by size", "octets of a message", "messages/s");
        byCell(chart, cells, cell -> cell.number("size", 0));
        save(chart, "throughput");

        XYChart octets = chart("One way: MB/s by size", "octets of a message", "MB/s");
        for (Row row : results.peers()) {
            List<Double> x = new ArrayList<>();
            List<Double> y = new ArrayList<>();
            for (Cell cell : cells) {
                Optional<Spread> spread = results.spread(cell.id(), row.name(), Metric.PER_SECOND);
                if (spread.isPresent()) {
                    double size = cell.number("size", 0);
                    x.add(size);
                    y.add(spread.get().median() * size / 1e6);
                }
            }
            series(octets, row, x, y);
        }
        save(octets, "octets");
    }

    private void connections() throws IOException {
        List<Cell> cells = results.cells().stream()
                .filter(cell -> cell.workload() == Workload.CONNECTIONS)
                .sorted(Comparator.comparingLong(cell -> cell.number("connections", 1)))
                .toList();
        XYChart chart = chart("One way, 100 octets: messages/s by connections", "connections", "messages/s");
        byCell(chart, cells, cell -> cell.number("connections", 1));
        save(chart, "connections");
    }

    private void latencies(Cell cell) throws IOException {
        XYChart chart = chart(cell.title(), "one round trip in so many is slower than", "microseconds");
        for (Row row : results.rows(cell.id())) {
            List<Double> x = new ArrayList<>();
            List<Double> y = new ArrayList<>();
            ONE_IN.forEach((metric, oneIn) -> results.spread(cell.id(), row.name(), metric)
                    .ifPresent(spread -> {
                        x.add(oneIn);
                        y.add(spread.median() / 1e3);
                    }));
            series(chart, row, x, y);
        }
        save(chart, "latency-" + cell.id());
    }

    private void byCell(XYChart chart, List<Cell> cells, ToDoubleFunction<Cell> position) {
        for (Row row : results.peers()) {
            List<Double> x = new ArrayList<>();
            List<Double> y = new ArrayList<>();
            for (Cell cell : cells) {
                results.spread(cell.id(), row.name(), Metric.PER_SECOND).ifPresent(spread -> {
                    x.add(position.applyAsDouble(cell));
                    y.add(spread.median());
                });
            }
            series(chart, row, x, y);
        }
    }

    private static void series(XYChart chart, Row row, List<Double> x, List<Double> y) {
        // A logarithmic axis has no zero.
        if (!x.isEmpty() && y.stream().allMatch(value -> value > 0)) {
            chart.addSeries(row.name(), x, y);
        }
    }

    private static XYChart chart(String title, String x, String y) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(x)
                .yAxisTitle(y)
                .theme(ChartTheme.XChart)
                .build();
        chart.getStyler()
                .setPlotGridLinesStroke(GRID)
                .setXAxisLogarithmic(true)
                .setYAxisLogarithmic(true)
                .setLegendPosition(LegendPosition.OutsideE)
                .setChartBackgroundColor(Color.WHITE);
        return chart;
    }

    private void save(XYChart chart, String name) throws IOException {
        if (chart.getSeriesMap().isEmpty()) {
            return;
        }
        String file = name + ".svg";
        VectorGraphicsEncoder.saveVectorGraphic(chart, directory.resolve(file).toString(), VectorGraphicsFormat.SVG);
        drawn.put(file, chart.getTitle());
    }
}
