package dev.zmtp.test;

import io.netty.util.concurrent.Ticker;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until it is moved. */
final class VirtualTicker implements Ticker {

    /** The time at the beginning. It is not 0, which no clock of a process shows. */
    private static final long START = TimeUnit.SECONDS.toNanos(1);

    /** Number of calls for the time at which work at a moment counts as endless. */
    private static final long MAX_CALLS = 20_000_000;

    private static final long STEP = TimeUnit.SECONDS.toNanos(1);

    private final AtomicLong nanos = new AtomicLong(START);
    private volatile boolean running;

    /** Number of calls since the time was last moved. Netty asks for the time after each task. */
    private final AtomicLong calls = new AtomicLong();

    void advance(long more) {
        nanos.addAndGet(more);
        calls.set(0);
    }

    /** Allows as much work as at a new time. */
    void begin() {
        calls.set(0);
    }

    /** Moves the time whenever it is asked for, from now on. */
    void run() {
        running = true;
    }

    long sinceStart() {
        return nanos.get() - START;
    }

    @Override
    public long initialNanoTime() {
        return START;
    }

    @Override
    public long nanoTime() {
        if (running) {
            advance(STEP);
        } else if (calls.incrementAndGet() > MAX_CALLS) {
            throw new AssertionError("tasks: millions at " + Duration.ofNanos(sinceStart())
                    + " (expected: an end, so that the time can be moved)");
        }
        return nanos.get();
    }

    /** Never called by an event loop on the thread of a test. */
    @Override
    public void sleep(long delay, TimeUnit unit) {
        advance(unit.toNanos(delay));
    }
}
