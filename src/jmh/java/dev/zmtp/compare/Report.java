package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes what a comparison measured: {@code benchmarks.md} and its pictures. */
final class Report {

    /** Where pictures and raw results are put, below the directory of the report. */
    static final Path DETAILS = Path.of("docs", "benchmarks");

    /** The name of the raw results. */
    static final String RESULTS = "results.json";

    private static final Path NOTES = Path.of("src", "jmh", "notes.md");

    private static final String REPRODUCE = """
            # Benchmarks

            This file is generated: `mvn -Pcompare` writes it, and what stands in it is what was measured, rows that netty-zmtp loses included. Reasons and comments are under [Notes](#notes). From a clone, on Linux with a JDK (17 or later), Maven, gcc and libzmq's header (Debian: gcc, libzmq3-dev):

            ```sh
            mvn -q -Pcompare test-compile exec:exec@compare                                               # under four minutes
            mvn -q -Pcompare test-compile exec:exec@compare -Dcompare.args="--profile full --output ."    # about 55 minutes: this file
            ```

            The first writes into `target/compare/report`. `-Dcompare.args=--help` lists the options, and [`docs/benchmarks/results.json`](docs/benchmarks/results.json) holds the figures of every run.

            """;

    private static final String READ = """
            ## How to read it

            Each figure is the median over the rounds, with the least and the greatest in parentheses. In each round every peer runs once in every cell, in processes of its own that start afresh, and another peer comes first. **A ratio stands only where the ranges of the two rows do not overlap.** The last column compares each peer with netty-zmtp on the same transport, which it names in parentheses (JeroMQ counts as nio, libzmq as epoll): above 1, netty-zmtp is ahead.

            Know what these figures are not:

            - *Same-host loopback.* Sender and receiver share the machine, its caches and its cores, and no network is in between. What one side saves in CPU time the other gains; absolute figures on two machines differ.
            - *A round trip is a closed loop:* the next request waits for the reply, so that a stall is one slow sample and not the many that would have come meanwhile. Requests in flight are a closed loop too. In an *open loop* messages leave by a schedule, and latency counts from the time at which a message was meant to leave (no coordinated omission); "late" is the share that left more than 1 ms behind it. What a cold start could not send in time is forgotten before the end of the warm-up.
            - *Percent of the peer's own maximum* is of what came through in the same round where the sender was asked for more than it can do, and only back pressure stopped it (messages of the same kind, counted by the receiver). It is another rate for each peer: it shows how a peer behaves at its own limit, not which one is faster.
            - One thread or event loop at each side, TCP_NODELAY, and each library's own defaults for everything else: high-water marks, buffer pools, batching. Where one message is sent many times, each library shares its content as far as that is faster: netty-zmtp and netty4-zmtp retain it, JeroMQ wraps one array, libzmq copies a zmq_msg_t by reference from 34 octets on. Raw Netty moves the same octets, prepared before and only counted on arrival where that is possible: it is the ceiling, not a rival. One way it sends blocks of 64 KiB, each with one flush, while codecs flush after 128 messages, as an application may: that is 12 KiB of messages of 100 octets, which is more system calls. *raw-netty ..., 128 a flush* sends blocks of 128 messages: the ceiling at equal batching. (Codecs flush earlier where 64 KiB are full, so larger messages need no such row.)
            - CPU seconds are user and system time, of each process or, in tables of latencies and of one process, of all. The end that takes more is the bottleneck: a Netty end has one thread, JeroMQ and libzmq have two, and threads of the collector and the compiler count too. Octets allocated are those on the Java heap, of a whole process, for each message. Peak RSS (VmHWM) of a JVM is mostly its fixed heap of 1 GiB as far as it was touched.
            - Of idle connections the accepting side is measured, against itself before the first connection: octets in use after a garbage collection, and what is resident then (VmRSS, not the peak), which in a JVM includes heap that was touched and is free again. The CPU time is without that collection.
            - A JVM is warm after a warm-up of seconds, not fully optimized.

            """;

    private static final String GOALS = """
            Each is judged by the medians below, also where ranges overlap and their ratio says little. The user's own objects of the custom codec are counted as a 64-bit HotSpot with compressed pointers lays them out.

            """;

    private static final String BEHIND = """
            All rows of netty4-zmtp, JeroMQ and libzmq that are ahead of netty-zmtp on the same transport by the medians, also if ranges overlap: found by the program, not chosen. Reasons are under [Notes](#notes).

            """;

    private Report() {}

    /** Writes the report of {@code results} into {@code directory}. */
    static void write(Results results, Path directory) throws IOException {
        Path details = directory.resolve(DETAILS);
        Map<String, String> plots = Plots.draw(results, details);
        Files.createDirectories(directory);
        Files.write(
                directory.resolve("benchmarks.md"),
                text(results, plots, notes()).getBytes(UTF_8));
    }

    /** The text, with the pictures {@code plots}, file names and titles, and {@code notes} at its end. */
    static String text(Results results, Map<String, String> plots, String notes) {
        StringBuilder text = new StringBuilder(REPRODUCE);
        text.append("## Where\n\n| | |\n| --- | --- |\n");
        results.environment()
                .forEach((name, value) -> text.append("| ")
                        .append(name)
                        .append(" | ")
                        .append(value.replace("|", "\\|"))
                        .append(" |\n"));
        text.append('\n').append(READ);
        text.append("## Goals\n\n" + GOALS);
        text.append(Goals.of(results)).append('\n');
        text.append("## Where netty-zmtp is behind\n\n" + BEHIND);
        text.append(Behind.of(results)).append('\n');
        if (!plots.isEmpty()) {
            text.append("## Pictures\n\nMedians; both axes are logarithmic.\n\n");
            plots.forEach((file, title) -> text.append("![")
                    .append(title)
                    .append("](docs/benchmarks/")
                    .append(file)
                    .append(")\n\n"));
        }
        text.append("## Figures\n\n");
        for (Cell cell : results.cells()) {
            text.append("### ").append(cell.title()).append("\n\n`--cell ^").append(cell.id());
            text.append("$`\n\n").append(Table.of(results, cell)).append('\n');
        }
        return text.append("## Notes\n\n").append(notes).toString();
    }

    private static String notes() throws IOException {
        return Files.exists(NOTES) ? new String(Files.readAllBytes(NOTES), UTF_8) : "None.\n";
    }
}
