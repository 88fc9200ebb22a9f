package dev.zmtp.testing;

import io.netty.buffer.ByteBuf;

/** An allocator of heap buffers that is out of memory whenever a test wants it to be. */
public final class FullAllocator extends HeapAllocator {

    /** Whether there is no memory. */
    public volatile boolean full;

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        if (full) {
            throw new OutOfMemoryError("full");
        }
        return super.newHeapBuffer(initialCapacity, maxCapacity);
    }
}
