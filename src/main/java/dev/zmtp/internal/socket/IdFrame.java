package dev.zmtp.internal.socket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * The frame of a request's id. The transport copies it at once as a rule, and then it serves for the next id. Used on
 * the event loop.
 */
final class IdFrame {

    private ByteBuf frame = fresh();

    private static ByteBuf fresh() {
        return Unpooled.buffer(Integer.BYTES, Integer.BYTES);
    }

    /** Returns a frame with this id, which the caller has to release. */
    ByteBuf of(int id) {
        if (frame.refCnt() > 1) { // it waits with its message
            frame.release();
            frame = fresh();
        }
        return frame.retain().setIndex(0, Integer.BYTES).setInt(0, id);
    }
}
