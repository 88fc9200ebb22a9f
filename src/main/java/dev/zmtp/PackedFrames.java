package dev.zmtp;

import dev.zmtp.internal.runtime.ConsistentDeque;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.util.Arrays;

/**
 * Small frames packed one after another, with two bytes for the length of each, because a separate buffer would take
 * many times the few bytes of a frame. Frames are removed in the order in which they were added, after all frames were
 * added.
 */
final class PackedFrames {

    /** Maximum length of a buffer, which bounds the memory that a single frame keeps if it outlives its message. */
    private static final int MAX_BUFFER = 8 << 10;

    private static final int FEW = 16;
    private static final int BUFFER_OBJECT = 48;

    /** Buffers with the frames. A frame that did not fit into the last buffer is the first frame of the next buffer. */
    private final ConsistentDeque<ByteBuf> buffers = new ConsistentDeque<>();

    private short[] lengths = new short[FEW];
    private int added;
    private int removed;
    private long memory = HeapSize.ofBytes(Short.BYTES * FEW);

    /** Appends the readable bytes of {@code frame}, which must be small and remains owned by the caller. */
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

    /** Returns the next frame, which the caller must release. */
    ByteBuf remove() {
        int length = lengths[removed++];
        if (buffers.getFirst().readableBytes() < length) {
            buffers.remove().release();
        }
        return buffers.getFirst().readRetainedSlice(length);
    }

    /** Returns the memory of the packed frames, in bytes. */
    long memory() {
        return memory;
    }

    /** Releases the remaining frames. */
    void release() {
        buffers.forEach(ByteBuf::release);
        buffers.clear();
    }
}
