package dev.zmtp.compare;

import dev.zmtp.compare.peer.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Measures one cell of one peer once, in processes of its own. */
final class Run {

    /** The files that a process opens besides connections: its jars, its standard streams, its selectors. */
    private static final long OTHER_FILES = 200;

    private final Window window;
    private final long maxOpenFiles;

    /** With the times of {@code window}, in a system that lets a process open {@code maxOpenFiles}. */
    Run(Window window, long maxOpenFiles) {
        this.window = window;
        this.maxOpenFiles = maxOpenFiles;
    }

    /**
     * Runs; {@code rate} is messages a second, or 0 where the cell sets none. A failure of a peer is part of the result
     * and not thrown.
     */
    Sample measure(Cell cell, ComparedPeer peer, int round, long rate) throws InterruptedException {
        try {
            if (!peer.missing().isEmpty()) {
                throw new NotMeasuredException(peer.missing(), true);
            }
            if (cell.number("connections", 1) + OTHER_FILES > maxOpenFiles) {
                throw new NotMeasuredException("open files limited to " + maxOpenFiles, true);
            }
            List<String> keys = keys(cell, rate);
            if (cell.pair()) {
                return pair(cell, peer, round, keys);
            }
            return cell.workload() == Workload.IDLE
                    ? idle(cell, peer, round, keys)
                    : traffic(cell, peer, round, rate, keys);
        } catch (NotMeasuredException e) {
            return Sample.without(cell.id(), peer.name(), round, e.getMessage(), e.lasting());
        }
    }

    private Sample pair(Cell cell, ComparedPeer peer, int round, List<String> keys)
            throws NotMeasuredException, InterruptedException {
        try (PeerProcess both = start(peer, "pair", keys)) {
            both.await("ready");
            rest(window.warmup(), both);
            Mark before = both.mark();
            rest(window.measured(), both);
            Mark counted = both.mark().since(before);
            both.exit();
            Map<Metric, Double> values = new EnumMap<>(Metric.class);
            rates(values, counted, List.of(counted));
            return sample(cell, peer, round, values, List.of(counted));
        }
    }

    private Sample traffic(Cell cell, ComparedPeer peer, int round, long rate, List<String> keys)
            throws NotMeasuredException, InterruptedException {
        Workload workload = cell.workload();
        try (PeerProcess receiver = start(peer, workload.answered() ? "answer" : "receive", keys)) {
            List<String> withPort = new ArrayList<>(keys);
            withPort.add("port=" + receiver.await("port="));
            try (PeerProcess sender = start(peer, workload.answered() ? "ask" : "send", withPort)) {
                sender.await("ready");
                Duration settling = window.warmup().dividedBy(5);
                rest(window.warmup().minus(settling), receiver, sender);
                if (workload == Workload.OPENLOOP && cell.timed()) {
                    // Messages that are overdue from a cold start would count in the latencies until the sender has
                    // caught up.
                    sender.restart();
                }
                rest(settling, receiver, sender);
                if (cell.timed()) {
                    sender.latencies();
                }
                Mark sentBefore = sender.mark();
                Mark receivedBefore = receiver.mark();
                rest(window.measured(), receiver, sender);
                Mark sent = sender.mark().since(sentBefore);
                Mark received = receiver.mark().since(receivedBefore);

                Map<Metric, Double> values = new EnumMap<>(Metric.class);
                if (cell.timed()) {
                    values.putAll(latencies(sender));
                }
                rates(values, workload.countedByReceiver() ? received : sent, List.of(sent, received));
                if (workload == Workload.OPENLOOP && cell.timed()) {
                    values.put(Metric.INTENDED_RATE, (double) cell.number("rate", rate));
                    late(values, sent);
                }
                sender.exit();
                receiver.exit();
                return sample(cell, peer, round, values, List.of(sent, received));
            }
        }
    }

    private Sample idle(Cell cell, ComparedPeer peer, int round, List<String> keys)
            throws NotMeasuredException, InterruptedException {
        try (PeerProcess receiver = start(peer, "receive", keys)) {
            List<String> withPort = new ArrayList<>(keys);
            withPort.add("port=" + receiver.await("port="));
            Mark alone = receiver.mark();
            try (PeerProcess sender = start(peer, "send", withPort)) {
                sender.await("ready");
                rest(window.warmup(), receiver, sender);
                Mark before = receiver.mark();
                rest(window.measured(), receiver, sender);
                Mark after = receiver.mark();

                Map<Metric, Double> values = new EnumMap<>(Metric.class);
                long connections = cell.number("connections", 1);
                perConnection(values, Metric.HEAP_PER_CONNECTION, "heap", alone, after, connections);
                perConnection(values, Metric.DIRECT_PER_CONNECTION, "direct", alone, after, connections);
                perConnection(values, Metric.RSS_PER_CONNECTION, "resident", alone, after, connections);
                Mark counted = after.since(before);
                counted.perSecond("cpu").ifPresent(cpu -> values.put(Metric.IDLE_CPU, cpu / 1e9));
                sender.exit();
                receiver.exit();
                return sample(cell, peer, round, values, List.of(counted));
            }
        }
    }

    private PeerProcess start(ComparedPeer peer, String role, List<String> keys) throws NotMeasuredException {
        return PeerProcess.start(role, peer.commandFor(role, keys), window.patience());
    }

    private static List<String> keys(Cell cell, long rate) {
        List<String> keys = new ArrayList<>();
        keys.add("workload=" + cell.workload().key());
        cell.keys().forEach((key, value) -> keys.add(key + "=" + value));
        if (rate > 0 && !cell.keys().containsKey("rate")) {
            keys.add("rate=" + rate);
        }
        return keys;
    }

    /** Lets {@code time} pass, or fails as soon as a program has ended. */
    private static void rest(Duration time, PeerProcess... programs) throws NotMeasuredException, InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            Thread.sleep(Duration.ofNanos(left).toMillis() > 100 ? 100 : left / 1_000_000 + 1);
            for (PeerProcess program : programs) {
                program.checkAlive();
            }
        }
    }

    private static Map<Metric, Double> latencies(PeerProcess sender) throws NotMeasuredException, InterruptedException {
        Latencies latencies = sender.latencies();
        if (latencies.count() == 0) {
            throw new NotMeasuredException("no reply came within the measured window", false);
        }
        return latencies.figures();
    }

    /**
     * The figures of {@code processes}, the sending one first, for each message that {@code counting} counted. Each
     * process is related to its own time, as the two do not read their clocks at the same moment.
     */
    private static void rates(Map<Metric, Double> values, Mark counting, List<Mark> processes)
            throws NotMeasuredException {
        double perSecond = counting.perSecond("messages").orElse(0);
        if (perSecond <= 0) {
            throw new NotMeasuredException("no message came within the measured window", false);
        }
        values.put(Metric.PER_SECOND, perSecond);
        double cpu = processes.stream()
                .mapToDouble(process -> process.perSecond("cpu").orElse(0))
                .sum();
        if (cpu > 0) {
            // Nanoseconds for one message are thousandths of seconds for a million.
            values.put(Metric.CPU_PER_MILLION, cpu / perSecond / 1e3);
        }
        for (int i = 0; i < processes.size(); i++) {
            Mark process = processes.get(i);
            Metric allocated = i == 0 ? Metric.ALLOCATED_SENDING : Metric.ALLOCATED_RECEIVING;
            if (processes.size() > 1) {
                Metric part = i == 0 ? Metric.CPU_SENDING : Metric.CPU_RECEIVING;
                process.perSecond("cpu").ifPresent(nanos -> values.put(part, nanos / perSecond / 1e3));
            }
            Metric rss = i == 0 ? Metric.RSS_SENDING : Metric.RSS_RECEIVING;
            process.perSecond("allocated").ifPresent(bytes -> values.put(allocated, bytes / perSecond));
            process.get("rss").ifPresent(bytes -> values.put(rss, (double) bytes));
        }
    }

    private static void late(Map<Metric, Double> values, Mark sent) {
        sent.perSecond("late").ifPresent(late -> values.put(Metric.LATE, late / values.get(Metric.PER_SECOND)));
    }

    private static void perConnection(
            Map<Metric, Double> values, Metric metric, String key, Mark alone, Mark after, long connections) {
        if (alone.get(key).isPresent() && after.get(key).isPresent()) {
            long grown = after.get(key).getAsLong() - alone.get(key).getAsLong();
            values.put(metric, (double) grown / connections);
        }
    }

    private static Sample sample(
            Cell cell, ComparedPeer peer, int round, Map<Metric, Double> values, List<Mark> counted) {
        return new Sample(cell.id(), peer.name(), round, values, counted, "", false);
    }
}
