package dev.zmtp.codec;

/**
 * How many frames of one connection are handled before its event loop goes on to the next connection.
 *
 * <p>A tiny frame costs its sender next to nothing and costs us as much as a large one, so bytes are no measure here.
 */
final class Turn {

    private final int maxFrames;

    private int left;

    Turn(int maxFrames) {
        this.maxFrames = maxFrames;
        this.left = maxFrames;
    }

    /** A new turn begins. */
    void begin() {
        left = maxFrames;
    }

    /** A frame is handled in this turn. */
    void count() {
        left--;
    }

    /** Returns whether what is left has to wait for the next turn. */
    boolean isOver() {
        return left <= 0;
    }
}
