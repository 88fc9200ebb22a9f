package dev.zmtp.internal.wire;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;

/**
 * Puts frames of one version into buffers: what {@link FrameReader} reads. Keeps nothing between calls; immutable.
 *
 * <p>The layout itself stands in {@link ZMTPFraming}.
 */
public final class FrameWriter {

    private final ZMTPFraming framing;

    /** A writer of the frames of {@code version}. */
    public FrameWriter(ZMTPVersion version) {
        this.framing = version.framing();
    }

    /** Returns the length of a whole frame with a body of {@code length} bytes. */
    public int frameLength(int length) {
        return framing.headerLengthFor(length) + length;
    }

    /** Returns the length of the header before a body of {@code length} bytes. */
    public int headerLength(int length) {
        return framing.headerLengthFor(length);
    }

    /**
     * Appends a frame to {@code out}: the header and the readable bytes of {@code body}, whose indices are not moved.
     */
    public void write(ByteBuf out, int flags, ByteBuf body) {
        int length = body.readableBytes();
        framing.writeHeader(out, flags, length);
        int index = out.writerIndex();
        out.ensureWritable(length);
        body.getBytes(body.readerIndex(), out, index, length);
        out.writerIndex(index + length);
    }

    /** Appends the shortest header of a frame with a body of {@code length} bytes. */
    public void writeHeader(ByteBuf out, int flags, int length) {
        framing.writeHeader(out, flags, length);
    }

    /**
     * Puts the header of a frame at {@code index} in place of one of {@code headerLength} bytes that was there; moves
     * no index.
     */
    public void replaceHeader(ByteBuf out, int index, int headerLength, int flags, int length) {
        int end = out.writerIndex();
        out.writerIndex(index);
        if (headerLength > 2) {
            framing.writeLongHeader(out, flags, length);
        } else {
            framing.writeHeader(out, flags, length);
        }
        out.writerIndex(end);
    }
}
