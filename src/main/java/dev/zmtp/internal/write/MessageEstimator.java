package dev.zmtp.internal.write;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.internal.wire.FrameWriter;

/** The total length of the frames of a message in one version. */
final class MessageEstimator implements ZMTPEstimator {

    private final FrameWriter frames;
    private long size;

    MessageEstimator(ZMTPVersion version) {
        this.frames = new FrameWriter(version);
    }

    @Override
    public void reset() {
        size = 0;
    }

    @Override
    public void frame(int size) {
        if (size < 0) {
            throw new IllegalArgumentException("frame size: " + size + " (expected: >= 0)");
        }
        this.size += frames.headerLength(size) + (long) size;
    }

    @Override
    public int size() {
        return Math.toIntExact(size);
    }
}
