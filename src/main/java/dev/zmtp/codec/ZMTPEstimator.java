package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.wire.FrameWriter;

/** Adds up the octets that a message will take, headers included, so that they are written into one buffer. */
public final class ZMTPEstimator {

    private final FrameWriter frames;
    private long size;

    ZMTPEstimator(ZMTPVersion version) {
        this.frames = new FrameWriter(version);
    }

    /** Forgets what was added up. */
    public void reset() {
        size = 0;
    }

    /** Adds a frame whose body has at most {@code size} octets. */
    public void frame(int size) {
        if (size < 0) {
            throw new IllegalArgumentException("frame size: " + size + " (expected: >= 0)");
        }
        this.size += frames.headerLength(size) + (long) size;
    }

    /**
     * The octets added up so far.
     *
     * @throws ArithmeticException if they are more than 2^31 - 1
     */
    public int size() {
        return Math.toIntExact(size);
    }
}
