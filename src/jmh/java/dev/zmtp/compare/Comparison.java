package dev.zmtp.compare;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** Measures every cell of every peer, round by round, and prints one line of progress for each run. */
final class Comparison {

    /** One cell of one peer. */
    private record Key(String cell, String peer) {}

    private final List<Cell> cells;
    private final Map<String, ComparedPeer> peers = new HashMap<>();
    private final int rounds;
    private final Run run;
    private final PrintWriter out;

    private final List<Sample> samples = new ArrayList<>();
    private final Map<Key, Sample> lasting = new HashMap<>();
    private long start;
    private int done;

    /** Of {@code cells} and {@code peers}, each {@code rounds} times, by {@code run}, with progress to {@code out}. */
    Comparison(List<Cell> cells, List<ComparedPeer> peers, int rounds, Run run, PrintWriter out) {
        this.cells = cells;
        this.rounds = rounds;
        this.run = run;
        this.out = out;
        peers.forEach(peer -> this.peers.put(peer.name(), peer));
    }

    /**
     * Measures; after each round {@code afterRound} gets all samples until then, so that an interrupted comparison
     * loses little.
     */
    void measure(Consumer<List<Sample>> afterRound) throws InterruptedException {
        start = System.nanoTime();
        int total = rounds
                * cells.stream().mapToInt(cell -> peersOf(cell, 0).size()).sum();
        for (int round = 1; round <= rounds; round++) {
            for (Cell cell : cells) {
                for (ComparedPeer peer : peersOf(cell, round)) {
                    Sample sample = measure(cell, peer, round);
                    samples.add(sample);
                    done++;
                    progress(total, cell, sample);
                }
            }
            afterRound.accept(List.copyOf(samples));
        }
    }

    /** The peers of a cell, with another one first in each round: the first may find a cooler machine. */
    private List<ComparedPeer> peersOf(Cell cell, int round) {
        List<ComparedPeer> all = new ArrayList<>();
        for (String name : cell.peers()) {
            if (peers.containsKey(name)) {
                all.add(peers.get(name));
            }
        }
        Collections.rotate(all, -round);
        return all;
    }

    private Sample measure(Cell cell, ComparedPeer peer, int round) throws InterruptedException {
        Key key = new Key(cell.id(), peer.name());
        Sample before = lasting.get(key);
        if (before != null) {
            return Sample.without(cell.id(), peer.name(), round, before.notMeasured(), true);
        }
        long rate = 0;
        if (cell.load() > 0) {
            rate = (long) (cell.load() * maximum(cell.loadOf(), peer, round));
            if (rate < 1) {
                return Sample.without(
                        cell.id(),
                        peer.name(),
                        round,
                        "its maximum, the cell " + cell.loadOf() + ", was not measured",
                        false);
            }
        }
        Sample sample = run.measure(cell, peer, round, rate);
        if (sample.lasting()) {
            lasting.put(key, sample);
        }
        return sample;
    }

    private double maximum(String cell, ComparedPeer peer, int round) {
        return samples.stream()
                .filter(sample -> sample.round() == round
                        && sample.cell().equals(cell)
                        && sample.peer().equals(peer.name()))
                .mapToDouble(sample -> sample.values().getOrDefault(Metric.PER_SECOND, 0.0))
                .findFirst()
                .orElse(0);
    }

    private void progress(int total, Cell cell, Sample sample) {
        Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
        Duration estimated = elapsed.multipliedBy(total).dividedBy(done);
        out.println(String.format(
                Locale.ROOT,
                "[%3d/%d] %s of about %s  round %d  %-26s %-20s %s",
                done,
                total,
                clock(elapsed),
                clock(estimated),
                sample.round(),
                cell.id(),
                sample.peer(),
                Text.summary(sample)));
        out.flush();
    }

    private static String clock(Duration time) {
        return String.format(Locale.ROOT, "%d:%02d", time.toMinutes(), time.toSecondsPart());
    }
}
