package dev.zmtp.internal.write;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.internal.wire.FrameWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Writes the frames of consecutive messages into the buffer that is passed to the transport. */
final class MessageWriter implements ZMTPWriter {

    private final ZMTPFraming framing;
    private final FrameWriter frames;
    private ByteBuf out = Unpooled.EMPTY_BUFFER;

    private boolean open;
    private int headerIndex;
    private int bodyIndex;
    private int size;
    private boolean more;

    MessageWriter(ZMTPVersion version) {
        this.framing = version.framing();
        this.frames = new FrameWriter(version);
    }

    @SuppressWarnings("ReferenceEquality") // usually it is already set; avoids a GC write barrier
    void begin(ByteBuf target) {
        if (out != target) {
            out = target;
        }
        open = false;
        more = true;
    }

    /** Prevents further writes, because the encoder does not own the buffer after the call. */
    void end() {
        open = false;
        more = false;
    }

    /** Checks that the frames written since {@link #begin} are a whole message. */
    void checkComplete() {
        if (open) {
            checkWritten(out.writerIndex());
        }
        if (more) {
            throw new IllegalStateException("message: no last frame (expected: one with more = false)");
        }
    }

    @Override
    public ByteBuf frame(int size, boolean more) {
        ByteBuf out = this.out;
        int index = out.writerIndex();
        if (open) {
            checkWritten(index);
        }
        if (!this.more) {
            throw new IllegalStateException("frame after the last frame; the frame before it needs more = true");
        }
        if (size < 0) {
            throw new IllegalArgumentException("frame size: " + size + " (expected: >= 0)");
        }
        int headerLength = framing.headerLengthForBody(size);
        out.ensureWritable(headerLength + size);
        if (headerLength == 2) { // without the writer, because the depth of inlining by the JIT is limited
            out.setShort(index, framing.shortHeader(flags(more), size)).writerIndex(index + 2);
        } else {
            framing.writeLongHeader(out, flags(more), size);
        }
        this.size = size;
        this.more = more;
        headerIndex = index;
        bodyIndex = index + headerLength;
        open = true;
        return out;
    }

    @Override
    public ByteBuf reframe(int size, boolean more) {
        if (!open) {
            throw new IllegalStateException("reframe: no frame (expected: one that was started)");
        }
        if (size < 0 || size > this.size) {
            throw new IllegalArgumentException("frame size: " + size + " (expected: 0 to " + this.size + ")");
        }
        this.size = size;
        this.more = more;
        if (size == 0 && bodyIndex - headerIndex > 2) {
            // JeroMQ rejects a long header with a length of zero.
            checkWritten(out.writerIndex()); // no body has been written that would have to move
            frames.writeHeader(out.writerIndex(headerIndex), flags(more), 0);
            bodyIndex = out.writerIndex();
        } else {
            frames.replaceHeader(out, headerIndex, bodyIndex - headerIndex, flags(more), size);
        }
        return out;
    }

    private static int flags(boolean more) {
        return more ? ZMTPFraming.MORE : 0;
    }

    private void checkWritten(int index) {
        if (index - bodyIndex != size) {
            throw new IllegalStateException(
                    "frame: " + (index - bodyIndex) + " bytes written (expected: " + size + ")");
        }
    }
}
