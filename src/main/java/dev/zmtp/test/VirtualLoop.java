package dev.zmtp.test;

import dev.zmtp.internal.socket.context.Surroundings;
import dev.zmtp.internal.transport.InprocTransport;
import dev.zmtp.internal.transport.Transport;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.local.LocalIoHandler;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.internal.ThreadExecutorMap;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An event loop on the thread that creates it, with a clock, random numbers and transports of its own. */
final class VirtualLoop extends ManualIoEventLoop implements Surroundings {

    /** Schemes of transports that open ports or files, or start threads. */
    private static final Set<String> OUTSIDE = Set.of("tcp", "ws", "wss", "ipc", "shm");

    /** Maximum time of a run in nanoseconds, which never passes, and makes Netty ask for the time after each task. */
    private static final long ASK_TIME = 1;

    private static final int CLOSING_TURNS = 1_000;

    private final VirtualTicker ticker;
    private final SplittableRandom random;
    private final @Nullable EventExecutor outer;
    private final Transport messages = InprocTransport.ofMessages(this);
    private final Transport bytes = InprocTransport.ofBytes("test", this);

    VirtualLoop(long seed) {
        this(new VirtualTicker(), seed);
    }

    private VirtualLoop(VirtualTicker ticker, long seed) {
        super(null, Thread.currentThread(), LocalIoHandler.newFactory(), ticker);
        this.ticker = ticker;
        this.random = new SplittableRandom(seed);
        this.outer =
                ThreadExecutorMap.setCurrentExecutor(this); // also between runs, a call that waits would wait forever
    }

    Transport bytes() {
        return bytes;
    }

    Duration time() {
        return Duration.ofNanos(ticker.sinceStart());
    }

    int runDue() {
        ticker.begin();
        int tasks = 0;
        for (int more = runNow(ASK_TIME); more > 0; more = runNow(ASK_TIME)) {
            tasks += more;
        }
        return tasks;
    }

    int advance(long nanos) {
        ticker.begin();
        long end = currentNanos() + nanos;
        int tasks = runDue();
        for (int more = runTimer(end); more >= 0; more = runTimer(end)) {
            tasks += more;
        }
        ticker.advance(end - currentNanos());
        return tasks + runDue();
    }

    /** Moves the time to the next timer, and returns the number of tasks that run then; -1 if there is none by then. */
    int runTimer(long end) {
        long next = nextScheduledTaskNano();
        if (next < 0 || next > end - currentNanos()) {
            return -1;
        }
        ticker.advance(next);
        return runDue();
    }

    /** Returns whether the loop has ended. */
    boolean end() {
        shutdownGracefully(0, 0, TimeUnit.SECONDS);
        ticker.run(); // while time stands still, Netty sleeps in real time until the loop is quiet
        for (int turn = 0; turn < CLOSING_TURNS && !isTerminated(); turn++) {
            runNow();
        }
        leaveThread();
        return isTerminated();
    }

    /** Lets the thread wait again. */
    void leaveThread() {
        if (ThreadExecutorMap.currentExecutor() == this) { // otherwise a later loop of this thread is not closed yet
            ThreadExecutorMap.setCurrentExecutor(outer == null || outer.isTerminated() ? null : outer);
        }
    }

    @Override
    public long currentNanos() {
        return ticker.nanoTime();
    }

    @Override
    public long beginNanos() {
        return ticker.initialNanoTime();
    }

    @Override
    public synchronized long random() {
        return random.nextLong();
    }

    @Override
    public Map<String, Transport> transports(Map<String, Transport> configured) {
        Map<String, Transport> transports = new LinkedHashMap<>(configured);
        transports.keySet().removeAll(OUTSIDE);
        transports.put(messages.scheme(), messages);
        transports.put(bytes.scheme(), bytes);
        return transports;
    }
}
