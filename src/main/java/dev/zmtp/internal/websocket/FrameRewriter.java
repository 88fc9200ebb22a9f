package dev.zmtp.internal.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Writes ZMTP frames over the WebSocket frames of a buffer, so that most reads of the transport remain a single buffer.
 *
 * <p>A header of ZMTP is shorter than the header and the flags that it replaces, so there is a gap before each body but
 * the first. Bodies are moved to close the gaps, a masked body while it is unmasked. Without that, a read of many tiny
 * frames would become as many buffers, and a peer could make the codec keep them. A long body that is not masked stays
 * in its place, and the frames before it leave as a slice.
 */
final class FrameRewriter {

    /** Maximum length of a body that is moved although it is not masked. */
    static final int MOVE_LIMIT = 512;

    private static final ByteBuffer NO_BYTES = ByteBuffer.allocate(0);

    private final ByteBufAllocator alloc;
    private final boolean masked;
    private final Consumer<ByteBuf> zmtp;

    private ByteBuf in = Unpooled.EMPTY_BUFFER;

    /** The bytes of the buffer, seen apart from it, because slices that have left use the buffer's own view. */
    private ByteBuffer bytes = NO_BYTES;

    /** The index in the buffer of the first of these bytes. */
    private int first;

    /** The start of the ZMTP bytes in the buffer that have not left yet. */
    private int start;

    private int end;

    /**
     * @param masked whether the payloads have a mask
     * @param zmtp takes ownership of the ZMTP bytes
     */
    FrameRewriter(ByteBufAllocator alloc, boolean masked, Consumer<ByteBuf> zmtp) {
        this.alloc = alloc;
        this.masked = masked;
        this.zmtp = zmtp;
    }

    /** Takes ownership of {@code buffer}, which has a single part, and whose readable bytes no other code uses. */
    void begin(ByteBuf buffer) {
        in = buffer;
        first = buffer.readerIndex();
        bytes = buffer.nioBuffer(first, buffer.readableBytes());
        start = first;
        end = first;
    }

    /**
     * Writes the header of a frame with a body of {@code length} bytes, and the first {@code part} of them, which are
     * read from the buffer.
     */
    void frame(int flags, long length, int part, int key) {
        int body = in.readerIndex();
        int header = ZmtpHeaders.length(length);
        if (!mayFollow(body - header, part)) {
            leave();
        }
        if (end == start) {
            beginAt(body - header, flags, length);
        } else {
            ZmtpHeaders.set(in, end, flags, length);
            end += header;
        }
        body(part, key);
    }

    /** Returns whether a frame that could begin at {@code index} can follow the frames before it without a gap. */
    private boolean mayFollow(int index, int part) {
        return end == index || (end < index && (masked || part <= MOVE_LIMIT));
    }

    /** Begins with a frame whose body need not be moved. */
    private void beginAt(int index, int flags, long length) {
        if (index >= end) {
            ZmtpHeaders.set(in, index, flags, length);
            start = index;
            end = in.readerIndex();
            return;
        }
        // A part of the header came in another read, or its length took two bytes and would take eight in ZMTP.
        ByteBuf header = alloc.buffer(ZmtpHeaders.MAX);
        ZmtpHeaders.set(header, 0, flags, length);
        zmtp.accept(header.writerIndex(ZmtpHeaders.length(length)));
        start = in.readerIndex();
        end = start;
    }

    /** Reads, unmasks and writes the next {@code part} bytes of a body. */
    void body(int part, int key) {
        int from = in.readerIndex();
        if (end == start) {
            start = from;
            end = from;
        }
        if (masked) {
            Mask.apply(bytes, from - first, end - first, part, key);
        } else if (end < from) {
            bytes.put(end - first, bytes, from - first, part);
        }
        end += part;
        in.skipBytes(part);
    }

    /** Passes on the ZMTP bytes that were written. */
    void leave() {
        if (end > start) {
            ByteBuf slice = in.retainedSlice(start, end - start);
            start = end;
            zmtp.accept(slice);
        }
    }

    /** Passes on the ZMTP bytes that were written, and the ownership of the buffer. */
    void finish() {
        ByteBuf buffer = in;
        in = Unpooled.EMPTY_BUFFER;
        bytes = NO_BYTES;
        int from = start;
        start = end;
        if (end > from) {
            zmtp.accept(buffer.setIndex(from, end));
        } else {
            buffer.release();
        }
    }
}
