package dev.zmtp.internal.connection;

import java.util.function.LongSupplier;

/**
 * The budget of one read of a connection: how many frames are handled before its event loop goes on to the next
 * connection, and for how long.
 *
 * <p>A tiny frame costs its sender next to nothing and costs us as much as a large one, so bytes are no measure here.
 * Frames alone do not suffice either: what a handler does with one may take a hundred times as long as decoding it.
 */
public final class ReadBudget {

    /** The clock is read after this many frames. */
    private static final int FRAMES_PER_LOOK = 64;

    /** From the first look at the clock on. */
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

    /** The budget is whole again. */
    void begin() {
        left = maxFrames;
    }

    /** A frame is handled. */
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
     * Returns whether the transport may bring more. Not after half of the frames, so that a read is mostly
     * decoded whole: to go on in the middle of one costs another round of the event loop.
     */
    boolean hasRoom() {
        return left > maxFrames / 2;
    }

    /** Returns whether the rest has to wait until others were served. */
    public boolean isOver() {
        return left <= 0;
    }
}
