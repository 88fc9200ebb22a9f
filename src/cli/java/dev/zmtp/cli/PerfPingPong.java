package dev.zmtp.cli;

import com.google.gson.JsonObject;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** One message at a time there and back. */
@Command(
        name = "pingpong",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Sends one message at a time to a perf server, and measures the time until the answer.")
final class PerfPingPong implements Callable<Integer> {

    private final Console console;

    @Mixin
    private SocketOptions options = new SocketOptions();

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "500000",
            description = "Number of round trips, after a tenth as many that are not measured. Default: 500000.")
    private long count = 500_000;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            defaultValue = "4",
            description =
                    "Length of the messages, 1 to 1 MiB. Default: 4. The length of answers is an option of the server.")
    private int size = 4;

    @Option(
            names = "--wait",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5s",
            description = "Fails if no answer comes for so long. Default: 5s.")
    private Duration wait = Duration.ofSeconds(5);

    @Option(names = "--busy", description = "The event loop never sleeps, which takes a core.")
    private boolean busy;

    @Option(names = "--hdr", paramLabel = "FILE", description = "Writes all percentiles for plotting.")
    private @Nullable Path hdr;

    @Option(names = "--json", description = "Prints an object in JSON, with percentiles in microseconds.")
    private boolean json;

    private final Histogram roundTrips = LatencyReport.histogram();
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    // On the event loop
    private ByteBuf body = Unpooled.EMPTY_BUFFER;
    private long warmUp;
    private long number;
    private long sentAt;
    private volatile long progress;
    private long replySize;

    PerfPingPong(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws Exception {
        if (count < 1 || size < 1 || size > TimedBody.MAX_SIZE) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--count: " + count + ", --size: " + size + " (expected: at least 1, and 1 to " + TimedBody.MAX_SIZE
                            + ")");
        }
        warmUp = count / 10;
        ZMTPSocketConfig.Builder config = options.config(ZMTPSocketType.DEALER);
        if (busy) {
            BusyLoop.use(options, config);
        }
        ZMTPSocket dealer = options.open(console, config);
        body = Unpooled.directBuffer(size).writeZero(size);
        boolean hasFailed = true;
        try {
            dealer.onMessage((peer, answer) -> answered(dealer, answer));
            SocketOptions.awaitPeers(dealer, 1, wait, "no server");
            dealer.eventLoop().execute(() -> send(dealer));
            await();
            report();
            if (hdr != null) {
                LatencyReport.write(hdr, roundTrips);
            }
            hasFailed = false;
        } finally {
            String missing = options.abort(dealer);
            body.release();
            SocketOptions.report(console, missing, hasFailed);
        }
        return ExitCode.OK;
    }

    private void send(ZMTPSocket dealer) {
        sentAt = System.nanoTime();
        dealer.sendOrDrop(ZMTPMessage.from(body.retainedDuplicate()));
    }

    private void answered(ZMTPSocket dealer, ZMTPMessage answer) {
        long now = System.nanoTime();
        replySize = answer.readableBytes();
        answer.release();
        if (number >= warmUp) {
            roundTrips.recordValue(Math.min(now - sentAt, roundTrips.getHighestTrackableValue()));
        }
        number++;
        progress = number;
        if (number == warmUp + count) {
            done.complete(null);
        } else {
            send(dealer);
        }
    }

    private void await() throws Exception {
        long seen = 0;
        while (true) {
            try {
                done.get(wait.toNanos(), TimeUnit.NANOSECONDS);
                return;
            } catch (TimeoutException e) {
                if (progress == seen) {
                    throw new CliException(ExitCode.TIMEOUT, "no answer within " + wait.toMillis() + " ms");
                }
                seen = progress;
            }
        }
    }

    private void report() {
        if (json) {
            JsonObject all = new JsonObject();
            all.addProperty("roundTrips", count);
            all.addProperty("bytes", size);
            all.addProperty("replyBytes", replySize);
            all.add("microseconds", LatencyReport.json(roundTrips));
            console.printLine(all.toString());
            return;
        }
        console.printLine(String.format(
                Locale.ROOT,
                "%,d round trips, %,d bytes there and %,d back, after %,d",
                count,
                size,
                replySize,
                warmUp));
        LatencyReport.print(console, "latency", roundTrips);
    }
}
