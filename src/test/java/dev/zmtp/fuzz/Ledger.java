package dev.zmtp.fuzz;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

/**
 * Counts to the byte what is allocated and not released, and fails requests for more than is allowed.
 *
 * <p>A pool would hide both: what it hands out is larger than what was asked for, and stays taken when it is given
 * back.
 */
final class Ledger extends AbstractByteBufAllocator {

    private final UnpooledByteBufAllocator memory;
    private long allowed = Long.MAX_VALUE;
    private String refused = "";

    Ledger(boolean direct) {
        super(direct);
        memory = new UnpooledByteBufAllocator(direct, true);
    }

    /** From here on no single buffer may be larger. */
    void allow(long bytes) {
        allowed = bytes;
    }

    /** The bytes that are allocated now. */
    long taken() {
        return memory.metric().usedHeapMemory() + memory.metric().usedDirectMemory();
    }

    /** Fails if more than was allowed was asked for, wherever the exception for that has gone. */
    void check() {
        FuzzFailure.unless(refused.isEmpty(), "memory", refused);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        judge(initialCapacity);
        return memory.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        judge(initialCapacity);
        return memory.directBuffer(initialCapacity, maxCapacity);
    }

    private void judge(int bytes) {
        if (bytes > allowed) {
            refused = bytes + " bytes at once (expected: <= " + allowed + ")";
            throw new FuzzFailure("memory: " + refused);
        }
    }

    @Override
    public boolean isDirectBufferPooled() {
        return false;
    }
}
