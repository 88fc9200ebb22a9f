package dev.zmtp.internal.socket.request;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

/**
 * The frame of a request's id. The transport copies it at once as a rule, and then it serves for the next id. Used on
 * the event loop.
 */
final class IdFrame {

    private ByteBuf frame = fresh();

    /** Not by the allocator, whose count of memory in use would keep the last one. */
    private static ByteBuf fresh() {
        return new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, Integer.BYTES, Integer.BYTES);
    }

    /** Returns a frame with this id, which the caller has to release. */
    ByteBuf of(int id) {
        int references = frame.refCnt();
        if (references != 1) {
            if (references > 1) { // it waits with its message; otherwise somebody has released it too often
                frame.release();
            }
            frame = fresh();
        }
        return frame.retain().setIndex(0, Integer.BYTES).setInt(0, id);
    }
}
