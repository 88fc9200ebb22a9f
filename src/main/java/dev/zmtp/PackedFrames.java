package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Small frames one after the other, with two bytes for the length of each: a buffer for each takes many times its few
 * bytes. Frames come out in the order in which they went in, when all are in.
 */
final class PackedFrames {

    /** As much as one frame keeps if it is retained for longer than its message. */
    private static final int MAX_BUFFER = 8 << 10;

    private static final int FEW = 16;
    private static final int BUFFER_OBJECT = 48;

    /** The buffers. Each frame is in one of them; if it did not fit into the last one, it is the first of the next. */
    private final ArrayDeque<ByteBuf> buffers = new ArrayDeque<>(1);

    private short[] lengths = new short[FEW];
    private int added;
    private int removed;
    private long memory = HeapSize.ofBytes(Short.BYTES * FEW);

    /** Appends the readable bytes of {@code frame}, which stays the caller's. They are no more than a small frame's. */
    void add(ByteBuf frame) {
        int length = frame.readableBytes();
        if (added == lengths.length) {
            memory -= HeapSize.ofBytes(Short.BYTES * added);
            lengths = Arrays.copyOf(lengths, 2 * added);
            memory += HeapSize.ofBytes(Short.BYTES * lengths.length);
        }
        ByteBuf last = buffers.peekLast();
        if (last == null || last.maxWritableBytes() < length) {
            last = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 0, MAX_BUFFER);
            buffers.add(last);
            memory += BUFFER_OBJECT + HeapSize.ofBytes(0);
        }
        memory -= HeapSize.ofBytes(last.capacity());
        last.writeBytes(frame, frame.readerIndex(), length);
        memory += HeapSize.ofBytes(last.capacity());
        lengths[added++] = (short) length;
    }

    /** Returns the next frame, which is the caller's to release. */
    ByteBuf remove() {
        int length = lengths[removed++];
        if (buffers.getFirst().readableBytes() < length) {
            buffers.remove().release();
        }
        return buffers.getFirst().readRetainedSlice(length);
    }

    /** The bytes of memory that this takes. */
    long memory() {
        return memory;
    }

    /** Releases what is left. */
    void release() {
        buffers.forEach(ByteBuf::release);
        buffers.clear();
    }
}
