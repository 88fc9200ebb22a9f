package dev.zmtp.compare;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** Measures one cell after the other, and prints what each peer did. */
final class Comparison {

    private final List<Cell> cells;
    private final Map<String, ComparedPeer> peers = new LinkedHashMap<>();
    private final int laps;
    private final Window times;
    private final long maxOpenFiles;
    private final CellProgress progress;

    private final List<Sample> samples = new ArrayList<>();

    /**
     * Of {@code cells} and {@code peers}, with {@code laps} windows each, in a system that lets a process open
     * {@code maxOpenFiles}; printed by {@code progress}. Cells that {@code before} has windows of are not measured
     * again.
     */
    Comparison(
            List<Cell> cells,
            List<ComparedPeer> peers,
            int laps,
            Window times,
            long maxOpenFiles,
            List<Sample> before,
            CellProgress progress) {
        this.cells = cells;
        this.laps = laps;
        this.times = times;
        this.maxOpenFiles = maxOpenFiles;
        this.progress = progress;
        samples.addAll(before);
        peers.forEach(peer -> this.peers.put(peer.name(), peer));
    }

    /**
     * Measures; after each cell {@code afterCell} gets all samples until then, so that an interrupted comparison loses
     * little.
     */
    void measure(Consumer<List<Sample>> afterCell) throws InterruptedException {
        long start = System.nanoTime();
        List<Cell> left = cells.stream()
                .filter(cell -> !peersOf(cell).isEmpty())
                .filter(cell ->
                        samples.stream().noneMatch(sample -> sample.cell().equals(cell.id())))
                .toList();
        int total = left.stream().mapToInt(cell -> peersOf(cell).size()).sum();
        int done = 0;
        for (Cell cell : left) {
            List<ComparedPeer> here = peersOf(cell);
            String place =
                    String.format(Locale.ROOT, "cell %d of %d, %s: ", left.indexOf(cell) + 1, left.size(), cell.id());
            List<Sample> measured = new Sitting(cell, times, laps, what -> progress.at(place + what))
                    .measure(here, maxOpenFiles, rate(cell));
            samples.addAll(measured);
            done += here.size();
            Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
            Duration estimated = elapsed.multipliedBy(total).dividedBy(done);
            progress.result(
                    String.format(Locale.ROOT, "%s of about %s  %s", clock(elapsed), clock(estimated), cell.id()));
            for (ComparedPeer peer : here) {
                progress.result(String.format(Locale.ROOT, "    %-26s %s", peer.name(), summary(cell, peer)));
            }
            afterCell.accept(List.copyOf(samples));
        }
    }

    private List<ComparedPeer> peersOf(Cell cell) {
        return cell.peers().stream()
                .flatMap(name -> Optional.ofNullable(peers.get(name)).stream())
                .toList();
    }

    /**
     * The rate that all peers of {@code cell} are asked for: a share of what the slowest of them can do. 0 if the cell
     * sets none, absent if nobody's maximum is known.
     */
    private OptionalLong rate(Cell cell) {
        if (cell.load() <= 0) {
            return OptionalLong.of(0);
        }
        return cell.peers().stream()
                .flatMap(peer -> Results.spread(samples, cell.loadOf(), peer, Metric.PER_SECOND).stream())
                .mapToLong(maximum -> Math.max(1, (long) (cell.load() * maximum.median())))
                .min();
    }

    private String summary(Cell cell, ComparedPeer peer) {
        return samples.stream()
                .filter(sample -> sample.isOf(cell.id(), peer.name()) && !sample.measured())
                .map(sample -> "not measured: " + sample.notMeasured())
                .findFirst()
                .orElseGet(() -> Text.summary(metric -> Results.spread(samples, cell.id(), peer.name(), metric)));
    }

    private static String clock(Duration time) {
        return String.format(Locale.ROOT, "%d:%02d", time.toMinutes(), time.toSecondsPart());
    }
}
