package dev.zmtp.compare;

import dev.zmtp.compare.RunningPeer.Measured;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Measures one cell: the programs of all peers are started and warmed up, and then take turns, one short window each in
 * every lap.
 *
 * <p>The speed of a shared machine drifts within minutes. Windows of one lap are seconds apart, so the ratio of two of
 * them says more than any two figures of which one is minutes older.
 */
final class Sitting {

    /** The files that a process opens besides connections: its jars, its standard streams, its selectors. */
    private static final long OTHER_FILES = 200;

    /** A cell without traffic starts its programs anew for each figure, as memory does not change from lap to lap. */
    private static final int MOST_IDLE_LAPS = Ratio.MIN_PAIRS;

    private final Cell cell;
    private final Window times;
    private final int laps;
    private final Consumer<String> progress;
    private final List<Sample> samples = new ArrayList<>();
    private final Map<ComparedPeer, RunningPeer> running = new LinkedHashMap<>();

    /** Of {@code cell}, with {@code laps} windows of each peer; {@code progress} gets what it is about to do. */
    Sitting(Cell cell, Window times, int laps, Consumer<String> progress) {
        this.cell = cell;
        this.times = times;
        this.laps = laps;
        this.progress = progress;
    }

    /**
     * Measures {@code peers}, in a system that lets a process open {@code maxOpenFiles}. A failure of a peer is part of
     * the result and not thrown.
     *
     * @param rate messages a second for all peers, 0 where the cell sets none; absent if the cell needs one that is not
     *     known
     */
    List<Sample> measure(Collection<ComparedPeer> peers, long maxOpenFiles, OptionalLong rate)
            throws InterruptedException {
        List<ComparedPeer> possible = new ArrayList<>();
        for (ComparedPeer peer : peers) {
            String reason = peer.missing();
            if (reason.isEmpty() && cell.number("connections", 1) + OTHER_FILES > maxOpenFiles) {
                reason = "open files limited to " + maxOpenFiles;
            }
            if (reason.isEmpty() && rate.isEmpty()) {
                reason = "the cell " + cell.loadOf() + ", which sets the rate, was not measured";
            }
            if (reason.isEmpty()) {
                possible.add(peer);
            } else {
                samples.add(Sample.without(cell.id(), peer.name(), 1, reason));
            }
        }
        if (cell.workload().hasTraffic()) {
            try {
                start(possible, rate.orElse(0));
                takeTurns();
            } finally {
                running.values().forEach(RunningPeer::close);
            }
        } else {
            idle(possible);
        }
        return List.copyOf(samples);
    }

    private void start(List<ComparedPeer> peers, long rate) throws InterruptedException {
        for (ComparedPeer peer : peers) {
            progress.accept(peer.name() + " warms up");
            try {
                RunningPeer started = RunningPeer.start(cell, peer, rate, times.patience());
                running.put(peer, started);
                started.rest(times.warmup());
                started.pause();
            } catch (NotMeasuredException e) {
                failed(peer, 1, e);
                end(peer);
            }
        }
    }

    private void takeTurns() throws InterruptedException {
        for (int lap = 1; lap <= laps; lap++) {
            for (ComparedPeer peer : inOrder(running.keySet(), lap)) {
                progress.accept(window(peer, lap, laps));
                try {
                    takeTurn(peer, Objects.requireNonNull(running.get(peer)), lap);
                } catch (NotMeasuredException e) { // the processes cannot be paused
                    failed(peer, lap, e);
                    end(peer);
                }
            }
        }
    }

    private void takeTurn(ComparedPeer peer, RunningPeer process, int lap)
            throws NotMeasuredException, InterruptedException {
        process.resume();
        try {
            Duration before = cpuOfOthers(peer);
            long start = System.nanoTime();
            Measured measured = process.measure(times.settling(), times.measured());
            double nanos = System.nanoTime() - start;
            Map<Metric, Double> values = new EnumMap<>(measured.values());
            values.put(Metric.CPU_OF_PAUSED, cpuOfOthers(peer).minus(before).toNanos() / nanos);
            samples.add(new Sample(cell.id(), peer.name(), lap, values, measured.counted(), ""));
        } catch (NotMeasuredException e) {
            if (e.lasting()) {
                throw e;
            }
            failed(peer, lap, e);
        }
        process.pause();
    }

    private void end(ComparedPeer peer) {
        RunningPeer process = running.remove(peer);
        if (process != null) {
            process.close();
        }
    }

    private void idle(List<ComparedPeer> peers) throws InterruptedException {
        List<ComparedPeer> left = new ArrayList<>(peers);
        int most = Math.min(laps, MOST_IDLE_LAPS);
        for (int lap = 1; lap <= most; lap++) {
            for (ComparedPeer peer : inOrder(left, lap)) {
                progress.accept(window(peer, lap, most));
                try {
                    Measured measured = RunningPeer.idle(cell, peer, times);
                    samples.add(new Sample(cell.id(), peer.name(), lap, measured.values(), measured.counted(), ""));
                } catch (NotMeasuredException e) {
                    left.remove(peer);
                    failed(peer, lap, e);
                }
            }
        }
    }

    private static String window(ComparedPeer peer, int lap, int laps) {
        return peer.name() + ", window " + lap + " of " + laps;
    }

    private void failed(ComparedPeer peer, int lap, NotMeasuredException e) {
        samples.add(Sample.without(cell.id(), peer.name(), lap, e.getMessage()));
    }

    /** Another peer is first in each lap: the one after the most demanding may find a slower machine. */
    private static List<ComparedPeer> inOrder(Collection<ComparedPeer> peers, int lap) {
        List<ComparedPeer> order = new ArrayList<>(peers);
        Collections.rotate(order, -lap);
        return order;
    }

    private Duration cpuOfOthers(ComparedPeer measured) {
        return running.entrySet().stream()
                .filter(entry -> !entry.getKey().equals(measured))
                .map(entry -> entry.getValue().cpu())
                .reduce(Duration.ZERO, Duration::plus);
    }
}
