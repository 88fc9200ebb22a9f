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

    /**
     * Returns whether the transport may bring more in this turn. Not after half of the frames, so that a read is mostly
     * decoded whole: to go on in the middle of one costs another round of the event loop.
     */
    boolean hasRoom() {
        return left > maxFrames / 2;
    }

    /** Returns whether what is left has to wait for the next turn. */
    boolean isOver() {
        return left <= 0;
    }
}
