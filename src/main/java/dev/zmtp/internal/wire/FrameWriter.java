package dev.zmtp.internal.wire;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;

/**
 * Writes frames of a version into buffers, for {@link FrameReader} to read. Keeps no state between calls; immutable.
 *
 * <p>{@link ZMTPFraming} defines the layout.
 */
public final class FrameWriter {

    private final ZMTPFraming framing;

    /** A writer of the frames of {@code version}. */
    public FrameWriter(ZMTPVersion version) {
        this.framing = version.framing();
    }

    /** Returns the length of a whole frame with a body of {@code length} bytes. */
    public int frameLength(int length) {
        return framing.headerLengthForBody(length) + length;
    }

    /** Returns the length of the header before a body of {@code length} bytes. */
    public int headerLength(int length) {
        return framing.headerLengthForBody(length);
    }

    /**
     * Appends a frame to {@code out}: the header and the readable bytes of {@code body}, whose indices are not moved.
     */
    public void write(ByteBuf out, int flags, ByteBuf body) {
        int length = body.readableBytes();
        framing.writeHeader(out, flags, length);
        Copies.append(out, body, body.readerIndex(), length);
    }

    /** Appends the shortest header of a frame with a body of {@code length} bytes. */
    public void writeHeader(ByteBuf out, int flags, int length) {
        framing.writeHeader(out, flags, length);
    }

    /**
     * Replaces the header at {@code index}, which has {@code headerLength} bytes, by the header of another frame. Moves
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
