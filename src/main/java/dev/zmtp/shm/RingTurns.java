package dev.zmtp.shm;

import io.netty.channel.Channel;
import io.netty.channel.SingleThreadEventLoop;

/**
 * The turns of a channel on its event loop. Netty's loops run tasks that come from tasks for up to a second before they
 * look at their sockets again, so the next turn does not always follow at once.
 */
final class RingTurns {

    /** How long turns follow each other, as long as something moves, before the event loop looks at its sockets. */
    private static final long BUSY_NANOS = 50_000;

    /** The same when nothing moves. */
    private static final long IDLE_NANOS = 5_000;

    private final Channel channel;
    private final Runnable turn;
    private final Runnable queuedTurn = this::queuedTurn;
    private final Runnable afterPause = this::afterPause;
    private boolean queued;

    /** By {@link System#nanoTime}: when the last turn began, when one moved a byte, and when the loop had a pause. */
    private long now = System.nanoTime();

    private long lastMoved = now;
    private long lastPause = now;

    RingTurns(Channel channel, Runnable turn) {
        this.channel = channel;
        this.turn = turn;
    }

    /** Asks for a turn, unless one was asked for. */
    void queue() {
        if (queued) {
            return;
        }
        queued = true;
        boolean pauses = now - lastPause > BUSY_NANOS || sinceMoved() > IDLE_NANOS;
        if (pauses && channel.eventLoop() instanceof SingleThreadEventLoop loop) {
            lastPause = now;
            loop.executeAfterEventLoopIteration(afterPause);
        } else {
            channel.eventLoop().execute(queuedTurn);
        }
    }

    private void afterPause() {
        channel.eventLoop().execute(queuedTurn);
    }

    private void queuedTurn() {
        queued = false;
        turn.run();
    }

    /**
     * To be called at the beginning of a turn, queued or not. One that the other side rings for leaves that which is
     * queued where it is, or each ring would add one.
     */
    void begin() {
        now = System.nanoTime();
    }

    /** To be called if this turn has moved any byte. */
    void moved() {
        lastMoved = now;
    }

    /** The nanoseconds from the last turn that moved anything to this one. */
    long sinceMoved() {
        return now - lastMoved;
    }
}
