package dev.zmtp.testing;

import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.local.LocalIoHandler;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An event loop on the test's own thread, in a time that stands still until it is moved, and the sockets on it. Its
 * transports are {@code inproc} and {@link LocalTransport}. Netty 4.1 has no such loop.
 */
public final class VirtualTime implements AutoCloseable {

    /** So fine are the moments at which tasks run. */
    private static final Duration STEP = Duration.ofMillis(1);

    /** Not 0, which is no time on the clock of any machine. */
    private static final Duration START = Duration.ofSeconds(1);

    private final MockTicker ticker = Ticker.newMockTicker();
    private final ManualIoEventLoop loop =
            new ManualIoEventLoop(null, Thread.currentThread(), LocalIoHandler.newFactory(), ticker);
    private final List<ZMTPSocket> sockets = new ArrayList<>();

    public VirtualTime() {
        ticker.advance(START.toNanos(), TimeUnit.NANOSECONDS);
    }

    public EventLoop loop() {
        return loop;
    }

    /** Opens a socket that lives in this time; {@link LocalTransport} is one of its transports. */
    public ZMTPSocket open(ZMTPSocketConfig.Builder config) {
        ZMTPSocket socket = ClockedSockets.open(
                ClockedSockets.with(config.group(loop), new LocalTransport()).build(), ticker::nanoTime);
        sockets.add(socket);
        return socket;
    }

    /** How much time has passed. */
    public Duration now() {
        return Duration.ofNanos(ticker.nanoTime()).minus(START);
    }

    /** Runs all that is due now. Returns how many tasks there were. */
    public int run() {
        int tasks = 0;
        for (int more = loop.runNow(); more > 0; more = loop.runNow()) {
            tasks += more;
        }
        return tasks;
    }

    /** Lets time pass, and runs at each millisecond what is due then. Returns how many tasks there were. */
    public int pass(Duration time) {
        int tasks = 0;
        for (Duration left = time; left.compareTo(Duration.ZERO) > 0; left = left.minus(STEP)) {
            ticker.advance(STEP.toNanos(), TimeUnit.NANOSECONDS);
            tasks += run();
        }
        return tasks;
    }

    @Override
    public void close() {
        sockets.forEach(socket -> socket.closeAsync(Duration.ZERO));
        pass(Duration.ofMillis(100));
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        for (int turn = 0; turn < 1_000 && !loop.isTerminated(); turn++) {
            ticker.advance(1, TimeUnit.SECONDS); // otherwise the loop sleeps until it is quiet, in real time
            loop.runNow();
        }
        if (!loop.isTerminated()) {
            throw new IllegalStateException("event loop: still running (expected: ended)");
        }
    }
}
