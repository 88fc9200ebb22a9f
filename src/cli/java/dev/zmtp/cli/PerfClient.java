package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The side that sends at a constant rate, or as fast as it can. */
@Command(
        name = "client",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Sends messages to a perf server at a constant rate, and measures their latency.",
            "Message i is due at start + i / rate, and its latency counts from that time, whenever it was sent in fact."
        })
final class PerfClient implements Callable<Integer> {

    private final Console console;

    @Mixin
    final SocketOptions options = new SocketOptions();

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "10000",
            description = "Messages per second, 1 to 10 million. Default: 10000.")
    int rate = 10_000;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "10s",
            description = "Time that is measured. Default: 10s.")
    Duration duration = Duration.ofSeconds(10);

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5s",
            description = "Time before it, at the same rate. Default: 5s.")
    Duration warmUp = Duration.ofSeconds(5);

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            defaultValue = "100",
            description = "Length of a message, 24 to 1 MiB. Default: 100.")
    int size = 100;

    @Option(
            names = "--answer-every",
            paramLabel = "N",
            defaultValue = "1",
            description = "Each N-th message is answered and measured. Default: 1.")
    int answerEvery = 1;

    @Option(
            names = "--sockets",
            paramLabel = "N",
            defaultValue = "1",
            description = "Number of connections, used in turn. Default: 1.")
    int sockets = 1;

    @Option(names = "--throughput", description = "Sends as fast as possible to perf server --throughput.")
    private boolean throughput;

    @Option(names = "--hdr", paramLabel = "FILE", description = "Writes all percentiles for plotting.")
    @Nullable
    Path hdr;

    @Option(names = "--log", paramLabel = "FILE", description = "Writes an interval log of seconds of HdrHistogram.")
    @Nullable
    Path log;

    @Option(names = "--json", description = "Prints an object in JSON, with percentiles in microseconds.")
    boolean json;

    @Option(
            names = "--wait",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5s",
            description = "Maximum time to connect, and to wait for the last answers. Default: 5s.")
    Duration wait = Duration.ofSeconds(5);

    PerfClient(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws Exception {
        check("--rate", rate, 1, 10_000_000);
        check("--size", size, TimedBody.MIN_SIZE, TimedBody.MAX_SIZE);
        check("--answer-every", answerEvery, 1, Integer.MAX_VALUE);
        check("--sockets", sockets, 1, 1_000);
        if (sockets > 1 && options.captures()) {
            throw new CliException(ExitCode.USAGE, "--capture: " + sockets + " sockets (expected: 1)");
        }
        if (throughput && (hdr != null || log != null)) {
            throw new CliException(
                    ExitCode.USAGE,
                    (hdr != null ? "--hdr" : "--log") + ": with --throughput (expected: a constant rate)");
        }
        List<ZMTPSocket> opened = new ArrayList<>();
        boolean hasFailed = true;
        try {
            for (int i = 0; i < sockets; i++) {
                opened.add(options.open(console, throughput ? ZMTPSocketType.PUSH : ZMTPSocketType.DEALER));
            }
            for (ZMTPSocket socket : opened) {
                SocketOptions.awaitPeers(socket, 1, wait, "no server");
            }
            int code = measure(opened);
            hasFailed = false;
            return code;
        } finally {
            for (ZMTPSocket socket : opened) {
                SocketOptions.report(console, options.abort(socket), hasFailed);
            }
        }
    }

    private int measure(List<ZMTPSocket> opened) throws Exception {
        if (throughput) {
            return new PerfThroughput(this, opened).run(console);
        }
        try (LatencyLog its = log == null ? null : new LatencyLog(log)) {
            return new PerfLatency(this, opened, its).run(console);
        }
    }

    private static void check(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new CliException(ExitCode.USAGE, option + ": " + value + " (expected: " + min + " to " + max + ")");
        }
    }
}
