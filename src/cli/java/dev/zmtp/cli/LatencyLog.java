package dev.zmtp.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.HdrHistogram.SingleWriterRecorder;
import org.jspecify.annotations.Nullable;

/** Writes the round trips of each second to a file, in the format of HdrHistogram's interval logs. */
final class LatencyLog implements AutoCloseable {

    private final Path file;
    private final PrintStream out;
    private final HistogramLogWriter log;
    private final long begin = System.currentTimeMillis();
    private final List<Connection> connections = new ArrayList<>();

    /** Set by the timer, and read after its end. */
    private volatile @Nullable Throwable failure;

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "latency log");
        thread.setDaemon(true);
        return thread;
    });

    LatencyLog(Path file) {
        this.file = file;
        try {
            out = new PrintStream(Files.newOutputStream(file), false, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw failed(Main.text(e));
        }
        log = new HistogramLogWriter(out);
        log.outputLogFormatVersion();
        log.outputComment("[Round trips from the intended time, in nanoseconds; Interval_Max in microseconds]");
        log.outputStartTime(begin);
        log.setBaseTime(begin);
        log.outputLegend();
    }

    private CliException failed(String reason) {
        return CliException.failed("--log " + file + ": " + reason);
    }

    /** Returns a recorder for the round trips of a connection. Called before {@link #start}. */
    SingleWriterRecorder newRecorder() {
        SingleWriterRecorder recorder = new SingleWriterRecorder(LatencyReport.MAX_NANOS, LatencyReport.DIGITS);
        connections.add(new Connection(recorder));
        return recorder;
    }

    void start() {
        connections.forEach(connection -> connection.recorder.reset()); // the first second begins now
        timer.scheduleAtFixedRate(this::writeInterval, 1, 1, TimeUnit.SECONDS);
    }

    /** A recorder, and the histogram of the last second, which is used again. */
    private static final class Connection {
        private final SingleWriterRecorder recorder;
        private @Nullable Histogram last;

        Connection(SingleWriterRecorder recorder) {
            this.recorder = recorder;
        }

        Histogram second() {
            last = recorder.getIntervalHistogram(last);
            return last;
        }
    }

    private void writeInterval() {
        try {
            Histogram all = LatencyReport.histogram();
            connections.forEach(connection -> all.add(connection.second()));
            log.outputIntervalHistogram(
                    seconds(all.getStartTimeStamp()),
                    seconds(all.getEndTimeStamp()),
                    all,
                    LatencyReport.NANOS_PER_MICRO);
        } catch (Throwable e) {
            failure = e;
            throw e; // no other second follows
        }
    }

    private double seconds(long millis) {
        return (millis - begin) / 1e3;
    }

    /**
     * Writes the rest.
     *
     * @throws CliException if not everything could be written
     */
    @Override
    public void close() {
        timer.execute(this::writeInterval);
        timer.shutdown();
        try {
            timer.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        out.close();
        if (out.checkError() || failure != null) {
            throw failed("not everything was written");
        }
    }
}
