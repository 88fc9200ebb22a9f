package dev.zmtp.internal.socket.request;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * The frames before the data of a request, which are a name for each ROUTER on its way, then an empty frame (RFC 28).
 */
final class Envelope {

    /** Maximum number of names. A reply has all of them as well, and might otherwise be too long for its way back. */
    private static final int MAX_NAMES = 64;

    /** Maximum length of a name (RFC 28), in bytes. */
    private static final int MAX_NAME = 255;

    private Envelope() {}

    /** Returns the number of frames of the envelope, including the empty frame; 0 if the message is not a request. */
    static int length(ZMTPMessage message) {
        int end = Math.min(MAX_NAMES + 1, message.size() - 1);
        for (int i = 0; i < end; i++) {
            int length = message.frame(i).readableBytes();
            if (length == 0) {
                return i + 1;
            }
            if (length > MAX_NAME) {
                return 0;
            }
        }
        return 0;
    }

    /** Returns the frame of an id. It is on the heap, where four bytes take less time than with an allocator. */
    static ByteBuf id(int id) {
        return Unpooled.wrappedBuffer(
                new byte[] {(byte) (id >>> 24), (byte) (id >>> 16), (byte) (id >>> 8), (byte) id});
    }

    /**
     * Returns the data after the frames of an envelope. Null if its sender has released the data or a frame of it.
     */
    @Nullable
    static ZMTPMessage enveloped(ZMTPMessage data, ByteBuf... envelope) {
        if (data.refCnt() == 0) {
            return null;
        }
        for (int i = 0; i < data.size(); i++) {
            if (data.frame(i).refCnt() == 0) {
                return null;
            }
        }
        return data.prepend(envelope);
    }

    /** Returns a copy of the first frames, which refers to no other buffer. */
    static ByteBuf[] copy(ZMTPMessage message, int frames) {
        ByteBuf[] copy = new ByteBuf[frames];
        for (int i = 0; i < frames; i++) {
            ByteBuf frame = message.frame(i);
            copy[i] = frame.isReadable() ? Unpooled.wrappedBuffer(ByteBufUtil.getBytes(frame)) : Unpooled.EMPTY_BUFFER;
        }
        return copy;
    }
}
