package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.wire.FrameWriter;

/** Adds up the bytes that a message will take, including headers, so that it is written into one buffer. */
public final class ZMTPEstimator {

    private final FrameWriter frames;
    private long size;

    ZMTPEstimator(ZMTPVersion version) {
        this.frames = new FrameWriter(version);
    }

    /** Starts again at 0. */
    public void reset() {
        size = 0;
    }

    /** Adds a frame whose body has at most {@code size} bytes. */
    public void frame(int size) {
        if (size < 0) {
            throw new IllegalArgumentException("frame size: " + size + " (expected: >= 0)");
        }
        this.size += frames.headerLength(size) + (long) size;
    }

    /**
     * The sum so far, in bytes.
     *
     * @throws ArithmeticException if it is more than 2^31 - 1
     */
    public int size() {
        return Math.toIntExact(size);
    }
}
