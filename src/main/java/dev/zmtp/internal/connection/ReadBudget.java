package dev.zmtp.internal.connection;

import java.util.function.LongSupplier;

/**
 * The budget of a single read of a connection: the number of frames that are handled before its event loop continues
 * with the next connection, and the time.
 *
 * <p>A tiny frame costs its sender almost nothing but costs this side as much as a large frame, so bytes are not a
 * suitable measure. Frames alone are not sufficient either, because a handler can spend a hundred times as long on a
 * frame as the decoder.
 */
public final class ReadBudget {

    /** The number of frames between two checks of the clock. */
    private static final int FRAMES_PER_LOOK = 64;

    /** Maximum time, from the first check of the clock. */
    private static final long MAX_NANOS = 1_000_000;

    private final int maxFrames;
    private final LongSupplier nanoTime;

    private int left;
    private long firstLook;

    ReadBudget(int maxFrames, LongSupplier nanoTime) {
        this.maxFrames = maxFrames;
        this.nanoTime = nanoTime;
        this.left = maxFrames;
    }

    /** Resets the budget. */
    void begin() {
        left = maxFrames;
    }

    /** Counts a frame. */
    public void count() {
        left--;
        int counted = maxFrames - left;
        if (counted % FRAMES_PER_LOOK == 0) {
            look(counted);
        }
    }

    private void look(int counted) {
        long now = nanoTime.getAsLong();
        if (counted == FRAMES_PER_LOOK) {
            firstLook = now;
        } else if (now - firstLook > MAX_NANOS) {
            left = 0;
        }
    }

    /**
     * Returns whether the transport can read more. False after half of the frames, so that most reads are decoded
     * whole. Continuing in the middle of a read costs another round of the event loop.
     */
    boolean hasRoom() {
        return left > maxFrames / 2;
    }

    /** Returns whether the rest has to wait until other connections were served. */
    public boolean isOver() {
        return left <= 0;
    }
}
