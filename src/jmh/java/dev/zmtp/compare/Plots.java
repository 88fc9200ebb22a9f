package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.compare.Plot.Line;
import dev.zmtp.compare.Plot.Point;
import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;

/** The pictures of a comparison. */
final class Plots {

    /** The start of the name of a picture that shows the latencies of one cell; its end is the id of the cell. */
    static final String LATENCY = "latency-";

    /** The percentiles of a picture. */
    private static final Map<Metric, String> PERCENTILES = new LinkedHashMap<>();

    static {
        PERCENTILES.put(Metric.P50, "p50");
        PERCENTILES.put(Metric.P90, "p90");
        PERCENTILES.put(Metric.P99, "p99");
        PERCENTILES.put(Metric.P99_9, "p99.9");
        PERCENTILES.put(Metric.P99_99, "p99.99");
    }

    private final Results results;

    private Plots(Results results) {
        this.results = results;
    }

    /** The pictures for which there are figures, in the order of the report. */
    static List<Plot> of(Results results) {
        Plots plots = new Plots(results);
        List<Plot> all = new ArrayList<>();
        plots.series(Workload.ONEWAY, "size").forEach(cells -> all.addAll(plots.bySize(cells)));
        plots.series(Workload.CONNECTIONS, "connections").forEach(cells -> all.add(plots.byConnections(cells)));
        results.cells().stream()
                .filter(Cell::timed)
                .filter(cell -> !cell.isOfSockets() || SocketCells.PICTURED.contains(cell.id()))
                .map(plots::latencies)
                .forEach(all::add);
        all.removeIf(Plot::isEmpty);
        return all;
    }

    /** Writes {@code plots} into {@code directory} as SVG files, in place of those there. */
    static void write(List<Plot> plots, Path directory) throws IOException {
        Files.createDirectories(directory);
        try (DirectoryStream<Path> earlier = Files.newDirectoryStream(directory, "*.svg")) {
            for (Path file : earlier) {
                Files.delete(file);
            }
        }
        for (Plot plot : plots) {
            ByteArrayOutputStream svg = new ByteArrayOutputStream();
            VectorGraphicsEncoder.saveVectorGraphic(plot.chart(), svg, VectorGraphicsFormat.SVG);
            Files.writeString(directory.resolve(plot.name() + ".svg"), SvgSlim.of(svg.toString(UTF_8)));
        }
    }

    /**
     * The cells of {@code workload} that differ in {@code key} alone, each group in its order: what one line may join.
     * Those in another style of programming, and those of sockets, have no picture.
     */
    private Collection<List<Cell>> series(Workload workload, String key) {
        Map<Map<String, String>, List<Cell>> groups = new LinkedHashMap<>();
        for (Cell cell : results.cells()) {
            if (cell.workload() == workload
                    && !cell.pair()
                    && !cell.isOfSockets()
                    && !cell.keys().containsKey("style")) {
                Map<String, String> others = new HashMap<>(cell.keys());
                others.remove(key);
                groups.computeIfAbsent(others, same -> new ArrayList<>()).add(cell);
            }
        }
        groups.values().forEach(cells -> cells.sort(Comparator.comparingLong(cell -> cell.number(key, 1))));
        return groups.values();
    }

    /** The keys of a cell that are not numbers, such as {@code curve}; empty if it has none. */
    private static String variant(Cell cell) {
        return String.join(
                "-",
                cell.keys().values().stream()
                        .filter(value -> !value.matches("[0-9]+"))
                        .toList());
    }

    private static String named(String variant) {
        return switch (variant) {
            case "curve" -> "CURVE";
            case "ipc", "shm" -> Text.medium(variant);
            default -> variant;
        };
    }

    private List<Plot> bySize(List<Cell> cells) {
        String variant = variant(cells.get(0));
        String suffix = variant.isEmpty() ? "" : "-" + variant;
        String title = "One way" + (variant.isEmpty() ? "" : ", " + named(variant));
        List<String> sizes =
                cells.stream().map(cell -> Text.size(cell.number("size", 0))).toList();
        Plot messages = new Plot(
                "throughput" + suffix,
                title + ": messages/s by message size",
                "message size",
                "messages/s",
                sizes,
                true,
                lines(cells, cell -> 1));
        Plot bytes = new Plot(
                "bytes" + suffix,
                title + ": MB/s by message size",
                "message size",
                "MB/s",
                sizes,
                true,
                lines(cells, cell -> cell.number("size", 0) / 1e6));
        return List.of(messages, bytes);
    }

    private Plot byConnections(List<Cell> cells) {
        return new Plot(
                "connections" + (variant(cells.get(0)).isEmpty() ? "" : "-" + variant(cells.get(0))),
                "One way, " + Text.size(cells.get(0).number("size", 0)) + ": messages/s by number of connections",
                "connections",
                "messages/s",
                cells.stream()
                        .map(cell -> String.format(Locale.ROOT, "%,d", cell.number("connections", 1)))
                        .toList(),
                false,
                lines(cells, cell -> 1));
    }

    private Plot latencies(Cell cell) {
        List<Metric> metrics = List.copyOf(PERCENTILES.keySet());
        List<Line> lines = results.rows(cell.id()).stream()
                .map(row -> line(
                        row,
                        metrics,
                        metric -> results.spread(cell.id(), row.name(), metric).map(spread -> spread.times(1e-3))))
                .flatMap(Optional::stream)
                .toList();
        return new Plot(
                LATENCY + cell.id(),
                cell.title(),
                "percentile",
                "latency in µs",
                List.copyOf(PERCENTILES.values()),
                true,
                lines);
    }

    /** The messages a second of each peer in {@code cells}, times {@code factor}. */
    private List<Line> lines(List<Cell> cells, ToDoubleFunction<Cell> factor) {
        return results.peers().stream()
                .map(row -> line(
                        row,
                        cells,
                        cell -> results.spread(cell.id(), row.name(), Metric.PER_SECOND)
                                .map(spread -> spread.times(factor.applyAsDouble(cell)))))
                .flatMap(Optional::stream)
                .toList();
    }

    private static <T> Optional<Line> line(Row row, List<T> positions, Function<T, Optional<Spread>> value) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < positions.size(); i++) {
            int position = i;
            value.apply(positions.get(i))
                    // A logarithmic axis has no zero.
                    .filter(spread -> spread.lower() > 0)
                    .ifPresent(spread -> points.add(new Point(position, spread)));
        }
        return points.isEmpty() ? Optional.empty() : Optional.of(new Line(row, points));
    }
}
