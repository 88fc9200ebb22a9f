package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.CheckReturnValue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;

/**
 * The write of an object through the ring of the other end. Messages are passed by reference. Bytes are copied, and
 * only those for which there is room, so that the ends share no memory and a buffer of any length keeps to the limit.
 */
final class InprocWrite {

    /** Returned if there is no room. */
    static final long NO_ROOM = -1;

    private InprocWrite() {}

    /**
     * Offers an object, or its first bytes, and returns the number of bytes that were accepted, or {@link #NO_ROOM}.
     * The caller keeps its reference.
     *
     * @throws IllegalReferenceCountException if the object was released by its sender
     */
    @CheckReturnValue
    static long offer(InprocRing ring, Object msg, ByteBufAllocator allocator) {
        Object offered = msg instanceof ByteBuf bytes
                ? copy(bytes, ring.roomForBytes(), allocator)
                : ReferenceCountUtil.retain(msg); // first, because the reader might release it before the buffer does
        long size = InprocRing.sizeOf(offered);
        if (ring.offerOrWait(offered, size)) {
            return size;
        }
        ReferenceCountUtil.release(offered);
        return NO_ROOM;
    }

    /** Copies a byte even if there is no room, so that the offer fails and is tried again when there is. */
    private static ByteBuf copy(ByteBuf bytes, long room, ByteBufAllocator allocator) {
        if (bytes.refCnt() == 0) { // copying could throw another exception, or nothing
            throw new IllegalReferenceCountException(0);
        }
        int length = (int) Math.min(bytes.readableBytes(), Math.max(1, room));
        ByteBuf copy = allocator.buffer(length);
        try {
            return copy.writeBytes(bytes, bytes.readerIndex(), length);
        } catch (Throwable e) { // a component of a composite buffer was released
            copy.release();
            throw e;
        }
    }

    /** Removes from the buffer what was accepted. */
    static void remove(ChannelOutboundBuffer out, Object msg, long accepted) {
        if (msg instanceof ByteBuf) {
            out.removeBytes(accepted);
        } else {
            out.remove();
        }
    }
}
