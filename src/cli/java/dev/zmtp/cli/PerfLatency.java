package dev.zmtp.cli;

import com.google.gson.JsonObject;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Sends at a constant rate. The latency of a message counts from the time when it was due, so a stall of the client,
 * the network or the server shows in all messages that were due meanwhile.
 */
final class PerfLatency {

    /** Shorter waits are spent spinning, because a parked thread wakes up late. */
    private static final long SPIN = TimeUnit.MICROSECONDS.toNanos(100);

    private final PerfClient options;
    private final List<ZMTPSocket> sockets;
    private final List<Answers> answers = new ArrayList<>();
    private final long warmUp;
    private final long all;
    private long sent;

    /** @param log gets the round trips of each second; null for no log */
    PerfLatency(PerfClient options, List<ZMTPSocket> sockets, @Nullable LatencyLog log) {
        this.options = options;
        this.sockets = sockets;
        warmUp = (long) (options.rate * (options.warmUp.toNanos() / 1e9));
        all = warmUp + Math.max(1, (long) (options.rate * (options.duration.toNanos() / 1e9)));
        for (ZMTPSocket socket : sockets) {
            Answers its = new Answers(log == null ? null : log.newRecorder());
            answers.add(its);
            socket.onMessage((peer, message) -> its.add(message));
        }
        if (log != null) {
            log.start();
        }
    }

    /** What has come over a connection. Changed on its event loop. */
    private final class Answers {
        final Histogram roundTrips = LatencyReport.histogram();
        final AtomicLong count = new AtomicLong();
        private final @Nullable SingleWriterRecorder seconds;

        Answers(@Nullable SingleWriterRecorder seconds) {
            this.seconds = seconds;
        }

        void add(ZMTPMessage message) {
            long now = System.nanoTime();
            if (TimedBody.is(message) && TimedBody.number(message) >= warmUp) {
                long roundTrip = Math.min(Math.max(1, now - TimedBody.due(message)), LatencyReport.MAX_NANOS);
                roundTrips.recordValue(roundTrip);
                if (seconds != null) {
                    seconds.recordValue(roundTrip);
                }
                count.setRelease(count.getPlain() + 1);
            }
            message.release();
        }
    }

    int run(Console console) throws InterruptedException {
        long asked = (all - 1) / options.answerEvery - Math.floorDiv(warmUp - 1, options.answerEvery);
        if (asked == 0) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--answer-every: " + options.answerEvery + " (expected: at most the number of messages, "
                            + (all - warmUp) + ")");
        }
        double took = send();
        long last = System.nanoTime();
        while (sent == all && answered() < asked && System.nanoTime() - last < options.wait.toNanos()) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        long answered = answered();
        Histogram roundTrips = LatencyReport.histogram();
        for (int i = 0; i < sockets.size(); i++) {
            Histogram its = answers.get(i).roundTrips;
            sockets.get(i).eventLoop().submit(() -> roundTrips.add(its)).sync(); // one after the other
        }
        long measured = Math.max(0, sent - warmUp);
        report(console, measured, measured / took, answered, asked - answered, roundTrips);
        if (options.hdr != null) {
            LatencyReport.write(options.hdr, roundTrips);
        }
        if (measured / took < 0.99 * options.rate) {
            console.complain(String.format(
                    Locale.ROOT,
                    "the rate was %,.0f/s (expected: %,d/s, as asked for)",
                    measured / took,
                    options.rate));
        }
        return answered < asked ? ExitCode.FAILED : ExitCode.OK;
    }

    private long answered() {
        return answers.stream().mapToLong(its -> its.count.getAcquire()).sum();
    }

    /**
     * Sends until the end, or until there is no room for a message for the maximum waiting time, after which all other
     * messages are lost. Returns the time in seconds in which the measured messages were sent.
     */
    private double send() throws InterruptedException {
        ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
        double pause = 1e9 / options.rate;
        long start = System.nanoTime();
        long measured = start;
        for (long i = 0; i < all; i++) {
            long due = start + (long) (i * pause);
            if (i == warmUp) {
                measured = due;
            }
            awaitTime(due);
            boolean answer = i % options.answerEvery == 0;
            ZMTPMessage message = TimedBody.message(allocator, options.size, answer, i, due);
            try {
                sockets.get((int) (i % sockets.size())).send(message, options.wait);
            } catch (ZMTPSocketException e) {
                break;
            }
            sent++;
        }
        return Math.max(1e-9, (System.nanoTime() - measured) / 1e9);
    }

    private static void awaitTime(long due) {
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            if (left > SPIN) {
                LockSupport.parkNanos(left - SPIN);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private void report(Console console, long sent, double rate, long answered, long lost, Histogram roundTrips) {
        if (options.json) {
            JsonObject object = new JsonObject();
            object.addProperty("rate", options.rate);
            object.addProperty("bytes", options.size);
            object.addProperty("sent", sent);
            object.addProperty("sentPerSecond", rate);
            object.addProperty("answered", answered);
            object.addProperty("lost", lost);
            object.add("microseconds", LatencyReport.json(roundTrips));
            console.printLine(object.toString());
            return;
        }
        console.printLine(String.format(
                Locale.ROOT,
                "%,d msg/s of %,d bytes for %,.0f s, after %,.0f s: %,d sent (%,.0f/s), %,d answered, %,d lost",
                options.rate,
                options.size,
                options.duration.toNanos() / 1e9,
                options.warmUp.toNanos() / 1e9,
                sent,
                rate,
                answered,
                lost));
        LatencyReport.print(console, "latency from the intended time", roundTrips);
    }
}
