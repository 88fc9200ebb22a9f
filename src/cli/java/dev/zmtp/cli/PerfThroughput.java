package dev.zmtp.cli;

import com.google.gson.JsonObject;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.PooledByteBufAllocator;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Sends as fast as the peer takes it. */
final class PerfThroughput {

    private final PerfClient options;
    private final List<ZMTPSocket> sockets;

    PerfThroughput(PerfClient options, List<ZMTPSocket> sockets) {
        this.options = options;
        this.sockets = sockets;
    }

    int run(Console console) throws InterruptedException {
        send(options.warmUp);
        long before = written();
        long since = System.nanoTime();
        send(options.duration);
        double seconds = (System.nanoTime() - since) / 1e9;
        long written = written() - before;
        double rate = written / seconds;
        double megabytes = rate * options.size / 1e6;
        if (options.json) {
            JsonObject all = new JsonObject();
            all.addProperty("messagesPerSecond", rate);
            all.addProperty("megabytesPerSecond", megabytes);
            all.addProperty("bytes", options.size);
            console.printLine(all.toString());
        } else {
            console.printLine(
                    String.format(Locale.ROOT, "%,.0f msg/s of %,d bytes, %,.1f MB/s", rate, options.size, megabytes));
        }
        if (written > 0) {
            return ExitCode.OK;
        }
        console.complain("no message was sent in the measured time");
        return ExitCode.FAILED;
    }

    /** Returns the number of messages that the transport has taken. */
    private long written() {
        return sockets.stream().mapToLong(socket -> socket.stats().written()).sum();
    }

    private void send(Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long i = 0; System.nanoTime() - end < 0; i++) {
            ZMTPSocket socket = sockets.get((int) (i % sockets.size()));
            Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
            try {
                socket.send(TimedBody.message(PooledByteBufAllocator.DEFAULT, options.size, false, i, 0), left);
            } catch (ZMTPSocketException e) { // there was no room until the end
                return;
            }
        }
    }
}
