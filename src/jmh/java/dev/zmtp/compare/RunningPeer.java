package dev.zmtp.compare;

import dev.zmtp.compare.peer.Schedule;
import dev.zmtp.compare.peer.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The processes of one peer in one cell. They stay up for all windows of the cell, and are paused while other peers are
 * measured.
 */
final class RunningPeer implements AutoCloseable {

    /** What one window yields: figures, and what each process counted, the sending or only one first. */
    record Measured(Map<Metric, Double> values, List<Mark> counted) {}

    private final Cell cell;
    private final long rate;

    /** The sending process first; one process alone is both ends. */
    private final List<PeerProcess> processes;

    private RunningPeer(Cell cell, long rate, List<PeerProcess> processes) {
        this.cell = cell;
        this.rate = rate;
        this.processes = List.copyOf(processes);
    }

    /** Starts the processes; {@code rate} is messages a second, or 0 where the cell sets none. */
    static RunningPeer start(Cell cell, ComparedPeer peer, long rate, Duration patience)
            throws NotMeasuredException, InterruptedException {
        List<String> keys = keys(cell, rate);
        if (cell.pair()) {
            PeerProcess both = start("pair", peer, keys, patience);
            return ready(cell, rate, List.of(both), both);
        }
        PeerProcess binding = start(cell.workload().bindingRole(), peer, keys, patience);
        PeerProcess connecting;
        try {
            keys.add("port=" + binding.await("port="));
            connecting = start(cell.workload().connectingRole(), peer, keys, patience);
        } catch (NotMeasuredException | InterruptedException e) {
            binding.close();
            throw e;
        }
        List<PeerProcess> senderFirst =
                cell.workload().sentByBinding() ? List.of(binding, connecting) : List.of(connecting, binding);
        return ready(cell, rate, senderFirst, connecting);
    }

    private static PeerProcess start(String role, ComparedPeer peer, List<String> keys, Duration patience)
            throws NotMeasuredException {
        return PeerProcess.start(role, peer.commandFor(role, keys), patience);
    }

    private static RunningPeer ready(Cell cell, long rate, List<PeerProcess> processes, PeerProcess last)
            throws NotMeasuredException, InterruptedException {
        RunningPeer peer = new RunningPeer(cell, rate, processes);
        try {
            last.await("ready");
            return peer;
        } catch (NotMeasuredException | InterruptedException e) {
            peer.close();
            throw e;
        }
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

    private PeerProcess sender() {
        return processes.get(0);
    }

    /** Lets {@code time} pass, or fails as soon as a process has ended. */
    void rest(Duration time) throws NotMeasuredException, InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            Thread.sleep(Duration.ofNanos(left).toMillis() > 100 ? 100 : left / 1_000_000 + 1);
            for (PeerProcess process : processes) {
                process.checkAlive();
            }
        }
    }

    /** Stops the processes until {@link #resume}: they take no CPU time meanwhile. */
    void pause() throws NotMeasuredException, InterruptedException {
        for (PeerProcess process : processes) {
            process.pause();
        }
    }

    /** Lets the processes go on. */
    void resume() throws NotMeasuredException, InterruptedException {
        for (PeerProcess process : processes) {
            process.resume();
        }
    }

    /** The CPU time of the processes since their start. */
    Duration cpu() {
        return processes.stream().map(PeerProcess::cpu).reduce(Duration.ZERO, Duration::plus);
    }

    /** Lets traffic flow for the time of {@code settling}, and then measures one window. */
    Measured measure(Duration settling, Duration window) throws NotMeasuredException, InterruptedException {
        if (isScheduled()) {
            // Messages that are overdue from a pause would count in the latencies until the sender has caught up.
            sender().restart();
            rest(Schedule.PAUSE);
        }
        rest(settling);
        if (cell.timed()) {
            timing().latencies();
        }
        List<Mark> before = marks();
        rest(window);
        List<Mark> counted = since(before);
        Map<Metric, Double> values = new EnumMap<>(Metric.class);
        if (cell.timed()) {
            values.putAll(latencies());
        }
        Mark counting = cell.workload().countedByReceiver() ? counted.get(counted.size() - 1) : counted.get(0);
        rates(values, counting, counted);
        if (cell.workload() == Workload.PUBSUB) {
            double sent = counted.get(0).perSecond("messages").orElse(0) * cell.number("connections", 1);
            values.put(Metric.DROPPED, Math.max(0, 1 - values.get(Metric.PER_SECOND) / sent));
        }
        if (isScheduled()) {
            // Each message of a publisher arrives at all of its subscribers.
            double copies = cell.workload().sentByBinding() ? cell.number("connections", 1) : 1;
            values.put(Metric.INTENDED_RATE, copies * cell.number("rate", rate));
            counted.get(0)
                    .perSecond("late")
                    .ifPresent(late -> values.put(Metric.LATE, copies * late / values.get(Metric.PER_SECOND)));
        }
        return new Measured(values, counted);
    }

    /** Whether messages are sent by a schedule that the peer can keep. */
    private boolean isScheduled() {
        return cell.workload().scheduled() && cell.timed();
    }

    /** The process that takes the times. */
    private PeerProcess timing() {
        return cell.workload().timedByReceiver() ? processes.get(processes.size() - 1) : sender();
    }

    private List<Mark> marks() throws NotMeasuredException, InterruptedException {
        List<Mark> marks = new ArrayList<>();
        for (PeerProcess process : processes) {
            marks.add(process.mark());
        }
        return marks;
    }

    private List<Mark> since(List<Mark> before) throws NotMeasuredException, InterruptedException {
        List<Mark> counted = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            counted.add(processes.get(i).mark().since(before.get(i)));
        }
        return List.copyOf(counted);
    }

    private Map<Metric, Double> latencies() throws NotMeasuredException, InterruptedException {
        Latencies latencies = timing().latencies();
        if (latencies.count() == 0) {
            throw new NotMeasuredException("no message or reply came within the measured window", false);
        }
        return latencies.figures();
    }

    /**
     * The figures of {@code counted}, the sending process first, for each message that {@code counting} counted. Each
     * process is related to its own time, as the two do not read their clocks at the same moment.
     */
    private static void rates(Map<Metric, Double> values, Mark counting, List<Mark> counted)
            throws NotMeasuredException {
        double perSecond = counting.perSecond("messages").orElse(0);
        if (perSecond <= 0) {
            throw new NotMeasuredException("no message came within the measured window", false);
        }
        values.put(Metric.PER_SECOND, perSecond);
        double cpu = counted.stream()
                .mapToDouble(process -> process.perSecond("cpu").orElse(0))
                .sum();
        if (cpu > 0) {
            // Nanoseconds for one message are thousandths of seconds for a million.
            values.put(Metric.CPU_PER_MILLION, cpu / perSecond / 1e3);
        }
        for (int i = 0; i < counted.size(); i++) {
            Mark process = counted.get(i);
            Metric allocated = i == 0 ? Metric.ALLOCATED_SENDING : Metric.ALLOCATED_RECEIVING;
            if (counted.size() > 1) {
                Metric part = i == 0 ? Metric.CPU_SENDING : Metric.CPU_RECEIVING;
                process.perSecond("cpu").ifPresent(nanos -> values.put(part, nanos / perSecond / 1e3));
            }
            Metric rss = i == 0 ? Metric.RSS_SENDING : Metric.RSS_RECEIVING;
            process.perSecond("allocated").ifPresent(bytes -> values.put(allocated, bytes / perSecond));
            process.get("rss").ifPresent(bytes -> values.put(rss, (double) bytes));
        }
    }

    /**
     * The figures of a cell without traffic: what {@code connections} connections cost the accepting process, compared
     * with the same process before the first of them.
     */
    static Measured idle(Cell cell, ComparedPeer peer, Window times) throws NotMeasuredException, InterruptedException {
        List<String> keys = keys(cell, 0);
        try (PeerProcess receiver = start("receive", peer, keys, times.patience())) {
            keys.add("port=" + receiver.await("port="));
            Mark alone = receiver.mark();
            try (PeerProcess sender = start("send", peer, keys, times.patience())) {
                sender.await("ready");
                RunningPeer both = new RunningPeer(cell, 0, List.of(sender, receiver));
                both.rest(times.measured());
                Mark before = receiver.mark();
                both.rest(times.measured());
                Mark after = receiver.mark();

                Map<Metric, Double> values = new EnumMap<>(Metric.class);
                long connections = cell.number("connections", 1);
                perConnection(values, Metric.HEAP_PER_CONNECTION, "heap", alone, after, connections);
                perConnection(values, Metric.DIRECT_PER_CONNECTION, "direct", alone, after, connections);
                perConnection(values, Metric.RSS_PER_CONNECTION, "resident", alone, after, connections);
                Mark counted = after.since(before);
                counted.perSecond("cpu").ifPresent(cpu -> values.put(Metric.IDLE_CPU, cpu / 1e9));
                return new Measured(values, List.of(counted));
            }
        }
    }

    private static void perConnection(
            Map<Metric, Double> values, Metric metric, String key, Mark alone, Mark after, long connections) {
        if (alone.get(key).isPresent() && after.get(key).isPresent()) {
            long grown = after.get(key).getAsLong() - alone.get(key).getAsLong();
            values.put(metric, (double) grown / connections);
        }
    }

    /** Ends the processes: the sender first, so that the receiver sees the end of its connections. */
    @Override
    public void close() {
        processes.forEach(PeerProcess::close);
    }
}
