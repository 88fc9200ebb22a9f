package dev.zmtp.cli;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.cli.CliTest.CommandRun;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code perf client} and {@code perf pingpong} measure. */
class PerfTest {

    private static final int RATE = 2_000;

    private String server(TestSockets sockets, BiConsumer<? super ZMTPPeer, ? super ZMTPMessage> handler) {
        ZMTPSocket router = sockets.open(ROUTER);
        router.onMessage(handler);
        return TestSockets.bind(router, "tcp://127.0.0.1:*");
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of("", arguments);
    }

    private CommandRun client(String endpoint) {
        return run(
                "perf",
                "client",
                "--json",
                "--rate",
                "" + RATE,
                "--warm-up",
                "200ms",
                "--duration",
                "1s",
                "--wait",
                "3s",
                endpoint);
    }

    private static JsonObject parsed(CommandRun run) {
        return JsonParser.parseString(run.output()).getAsJsonObject();
    }

    @Test
    @Tag("T120")
    void aStallOfTheServerShowsInAllMessagesThatWereDueMeanwhile(TestSockets sockets) {
        long stall = TimeUnit.MILLISECONDS.toNanos(200);
        int[] seen = {0};
        String endpoint = server(sockets, (peer, message) -> {
            if (++seen[0] == RATE) {
                long end = System.nanoTime() + stall;
                while (System.nanoTime() - end < 0) {
                    Thread.onSpinWait();
                }
            }
            peer.sendOrDrop(message);
        });

        CommandRun run = client(endpoint);

        JsonObject all = parsed(run);
        assertThat(run.code()).isZero();
        assertThat(all.get("lost").getAsLong()).isZero();
        assertThat(all.get("answered").getAsLong()).isEqualTo(RATE);
        JsonObject micros = all.getAsJsonObject("microseconds");
        assertThat(micros.get("100").getAsDouble()).isGreaterThanOrEqualTo(200_000 * 0.99);
        // A fifth of the messages was due while it stalled, and so a tenth waited for at least half of it.
        assertThat(micros.get("99").getAsDouble()).isGreaterThan(100_000);
    }

    @Test
    @Tag("T121")
    void messagesThatTheServerSwallowsAreLost(TestSockets sockets) {
        int[] seen = {0};
        String endpoint = server(sockets, (peer, message) -> {
            if (++seen[0] > RATE && seen[0] % 10 == 0) {
                message.release();
            } else {
                peer.sendOrDrop(message);
            }
        });

        CommandRun run = client(endpoint);

        JsonObject all = parsed(run);
        assertThat(run.code()).isEqualTo(ExitCode.FAILED);
        assertThat(all.get("lost").getAsLong()).isEqualTo(RATE / 50);
        assertThat(all.get("sent").getAsLong()).isEqualTo(RATE);
    }

    @Test
    void theLogHasTheRoundTripsOfEachSecond(TestSockets sockets, @TempDir Path directory) throws IOException {
        String endpoint = server(sockets, (peer, message) -> peer.sendOrDrop(message));
        String log = directory.resolve("log").toString();

        CommandRun run = run(
                "perf",
                "client",
                "--rate",
                "1000",
                "--warm-up",
                "0s",
                "--duration",
                "2500ms",
                "--log",
                log,
                "--wait",
                "10s",
                endpoint);

        assertThat(run.code()).isZero();
        List<Histogram> seconds = new ArrayList<>();
        try (HistogramLogReader reader = new HistogramLogReader(log)) {
            while (reader.hasNext()) {
                seconds.add((Histogram) reader.nextIntervalHistogram());
            }
        }
        assertThat(seconds).hasSizeGreaterThanOrEqualTo(3);
        assertThat(seconds.stream().mapToLong(Histogram::getTotalCount).sum()).isEqualTo(2_500);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--log", "--hdr"})
    void aFileOfPercentilesNeedsARate(String option) {
        CommandRun run = run("perf", "client", "--throughput", option, "file", "tcp://127.0.0.1:1");

        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.errors()).contains(option + ": with --throughput (expected: a constant rate)");
    }

    @Test
    void aServerThatDoesNotReadEndsTheRun(TestSockets sockets) {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).receiveQueueLimit(1, 1 << 20)); // no handler
        String endpoint = TestSockets.bind(router, "tcp://127.0.0.1:*");

        CommandRun run = run(
                "perf",
                "client",
                "--size",
                "100000",
                "--rate",
                "5000",
                "--warm-up",
                "0s",
                "--duration",
                "60s",
                "--wait",
                "300ms",
                endpoint);

        assertThat(run.code()).isEqualTo(ExitCode.FAILED);
        assertThat(run.output()).contains(", 0 answered, 300,000 lost");
    }

    @Test
    void aRoundTripAtATimeIsMeasured(TestSockets sockets) {
        String endpoint = server(sockets, (peer, message) -> peer.sendOrDrop(message));

        CommandRun run = run("perf", "pingpong", "--json", "--count", "100", endpoint);

        JsonObject all = parsed(run);
        assertThat(run.code()).isZero();
        assertThat(all.get("roundTrips").getAsLong()).isEqualTo(100);
        assertThat(all.get("replyBytes").getAsLong()).isEqualTo(4);
        assertThat(all.getAsJsonObject("microseconds").get("50").getAsDouble()).isPositive();
    }

    @Test
    void throughputIsWhatTheTransportHasTaken(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        pull.onMessage((peer, message) -> message.release());
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:*");

        CommandRun run = run(
                "perf", "client", "--throughput", "--warm-up", "10ms", "--duration", "100ms", "--size", "24", endpoint);

        assertThat(run.code()).isZero();
        assertThat(run.output()).matches("[1-9][0-9,]* msg/s of 24 bytes, [0-9,.]+ MB/s\n");
    }

    @Test
    void noThroughputIsAFailure(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        pull.onMessage((peer, message) -> message.release());
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:*");

        CommandRun run = run("perf", "client", "--throughput", "--warm-up", "0s", "--duration", "0s", endpoint);

        assertThat(run.code()).isEqualTo(ExitCode.FAILED);
        assertThat(run.output()).isEqualTo("0 msg/s of 100 bytes, 0.0 MB/s\n");
        assertThat(run.errors()).isEqualTo("zmtp: no message was sent in the measured time\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"client --rate 1000 --warm-up 0s --duration 100ms", "pingpong --count 100"})
    void aMeasurementWhoseFileCannotBeWrittenIsPrinted(String line, TestSockets sockets, @TempDir Path directory) {
        String endpoint = server(sockets, (peer, message) -> peer.sendOrDrop(message));
        String file = directory.resolve("no/directory").toString();

        CommandRun run = run(("perf " + line + " --hdr " + file + " " + endpoint).split(" "));

        assertThat(run.code()).isEqualTo(ExitCode.FAILED);
        assertThat(run.output()).contains("round trip");
        assertThat(run.errors()).isEqualTo("zmtp: --hdr " + file + ": no such file: " + file + "\n");
    }

    @Test
    void aServerThatIsNotThereIsATimeout() {
        CommandRun run = run("perf", "client", "-q", "--wait", "100ms", "tcp://127.0.0.1:1");

        assertThat(run.errors()).isEqualTo("zmtp: no server within 100 ms\n");
        assertThat(run.code()).isEqualTo(ExitCode.TIMEOUT);
    }
}
