package dev.zmtp.testing;

import io.netty.channel.EventLoop;
import java.util.function.LongSupplier;

/**
 * How much a counter grows in one turn of an event loop: between two runs of a task that queues itself, as any other
 * task waits so long. It ends when the counter has stood still for a while.
 */
public final class Turns implements Runnable {

    /** In virtual time, everything that is due has run by then. */
    private static final int IDLE_RUNS = 100;

    private final EventLoop loop;
    private final LongSupplier counter;
    private long last;
    private long most;
    private int idle;

    private Turns(EventLoop loop, LongSupplier counter) {
        this.loop = loop;
        this.counter = counter;
    }

    /** Begins to count, in the next task of the loop. Called on its thread. */
    public static Turns of(EventLoop loop, LongSupplier counter) {
        Turns turns = new Turns(loop, counter);
        turns.last = counter.getAsLong();
        loop.execute(turns);
        return turns;
    }

    /** Begins again, after time has passed without anything to count. */
    public void again() {
        idle = 0;
        loop.execute(this);
    }

    @Override
    public void run() {
        long now = counter.getAsLong();
        idle = now == last ? idle + 1 : 0;
        most = Math.max(most, now - last);
        last = now;
        if (idle < IDLE_RUNS) {
            loop.execute(this);
        }
    }

    /** The most by which the counter has grown in a turn so far. */
    public long most() {
        return most;
    }
}
