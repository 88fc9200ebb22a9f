package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Where a {@link ZMTPEncoder} writes the frames of one message: straight into the buffer that goes to the transport.
 *
 * <p>Valid during one call of {@link ZMTPEncoder#encode}.
 */
public final class ZMTPWriter {

    private final ZMTPVersion version;
    private ByteBuf out = Unpooled.EMPTY_BUFFER;

    private boolean open;
    private int headerIndex;
    private int bodyIndex;
    private int size;
    private boolean more;

    ZMTPWriter(ZMTPVersion version) {
        this.version = version;
    }

    void begin(ByteBuf target) {
        out = target;
        open = false;
        more = true;
    }

    /** Checks that what was written since {@link #begin} is a whole message. */
    void end() {
        ByteBuf written = out;
        out = Unpooled.EMPTY_BUFFER;
        if (open) {
            checkWritten(written.writerIndex());
            open = false;
        }
        if (more) {
            throw new IllegalStateException("message: no last frame (expected: one with more = false)");
        }
    }

    /**
     * Starts a frame.
     *
     * <p>The buffer is the one that all frames go to: append exactly {@code size} octets at its writer index, or call
     * {@link #reframe} when there are fewer, and touch nothing else of it.
     *
     * @param size the octets of the body
     * @param more whether another frame follows
     * @return the buffer to append the body to, which is not the caller's to release
     */
    public ByteBuf frame(int size, boolean more) {
        ByteBuf out = this.out;
        int index = out.writerIndex();
        if (open) {
            checkWritten(index);
        }
        if (!this.more) {
            throw new IllegalStateException("frame: one behind the last (expected: more = true before)");
        }
        if (size < 0) {
            throw new IllegalArgumentException("frame size: " + size + " (expected: >= 0)");
        }
        int headerLength = version.headerLengthFor(size);
        out.ensureWritable(headerLength + size);
        if (headerLength == 2) {
            out.writeShort(version.shortHeader(more ? ZMTPVersion.MORE : 0, size));
        } else {
            version.writeLongHeader(out, more ? ZMTPVersion.MORE : 0, size);
        }
        this.size = size;
        this.more = more;
        headerIndex = index;
        bodyIndex = index + headerLength;
        open = true;
        return out;
    }

    /**
     * Corrects the size and the flag of the frame that was started last.
     *
     * @param size the octets that its body has, or will have: at most what was said last
     * @param more whether another frame follows
     * @return the buffer to append the body to, which is not the caller's to release
     */
    public ByteBuf reframe(int size, boolean more) {
        if (!open) {
            throw new IllegalStateException("reframe: no frame (expected: one that was started)");
        }
        if (size < 0 || size > this.size) {
            throw new IllegalArgumentException("frame size: " + size + " (expected: 0 to " + this.size + ")");
        }
        int end = out.writerIndex();
        out.writerIndex(headerIndex);
        if (size == 0 && bodyIndex - headerIndex > 2) {
            // JeroMQ refuses a long header that announces nothing. There is no body yet that would have to move.
            this.size = 0;
            this.more = more;
            version.writeHeader(out, more ? ZMTPVersion.MORE : 0, 0);
            bodyIndex = out.writerIndex();
            return out;
        }
        this.size = size;
        this.more = more;
        if (bodyIndex - headerIndex > 2) {
            version.writeLongHeader(out, more ? ZMTPVersion.MORE : 0, size);
        } else {
            version.writeHeader(out, more ? ZMTPVersion.MORE : 0, size);
        }
        out.writerIndex(end);
        return out;
    }

    private void checkWritten(int index) {
        if (index - bodyIndex != size) {
            throw new IllegalStateException(
                    "frame: " + (index - bodyIndex) + " octets written (expected: " + size + ")");
        }
    }
}
