package dev.zmtp.shm;

import dev.zmtp.internal.runtime.AfterReads;
import io.netty.channel.Channel;

/**
 * Turns of a channel on its event loop. Netty's loops run tasks that tasks have submitted for up to a second before
 * they check their sockets again, so the next turn does not always follow at once.
 */
final class RingTurns {

    /** Maximum time of consecutive turns that move data, before the event loop checks its sockets. */
    private static final long BUSY_NANOS = 50_000;

    /** Maximum time of consecutive turns that move no data. */
    private static final long IDLE_NANOS = 5_000;

    private final Channel channel;
    private final Runnable turn;
    private final Runnable queuedTurn = this::queuedTurn;
    private final Runnable afterPause = this::afterPause;
    private boolean queued;

    /** Times of the last turn, the last moved byte and the last pause of the loop, by {@link System#nanoTime}. */
    private long now = System.nanoTime();

    private long lastMoved = now;
    private long lastPause = now;

    RingTurns(Channel channel, Runnable turn) {
        this.channel = channel;
        this.turn = turn;
    }

    /** Requests a turn, unless a turn is already requested. */
    void queue() {
        if (queued) {
            return;
        }
        boolean pauses = now - lastPause > BUSY_NANOS || sinceMoved() > IDLE_NANOS;
        if (pauses && AfterReads.submit(channel.eventLoop(), afterPause)) {
            lastPause = now;
        } else {
            channel.eventLoop().execute(queuedTurn);
        }
        queued = true; // only now, because the event loop can fail to take it
    }

    private void afterPause() {
        try {
            channel.eventLoop().execute(queuedTurn);
        } catch (Throwable e) { // nothing else would ask for the turn, which closes the channel if it fails as well
            queuedTurn();
        }
    }

    private void queuedTurn() {
        queued = false;
        turn.run();
    }

    /**
     * Called at the beginning of a turn, queued or not. A turn that the other side's ring causes leaves a queued turn
     * in place, because otherwise each ring would add a turn.
     */
    void begin() {
        now = System.nanoTime();
    }

    /** Called if the current turn has moved any byte. */
    void moved() {
        lastMoved = now;
    }

    /** Returns the time from the last turn that moved data to the current turn, in nanoseconds. */
    long sinceMoved() {
        return now - lastMoved;
    }
}
