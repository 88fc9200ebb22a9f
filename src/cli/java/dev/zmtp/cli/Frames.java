package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Messages as arrays of bytes. */
final class Frames {

    private Frames() {}

    /** Returns copies of the frames, and releases the message. */
    static List<byte[]> take(ZMTPMessage message) {
        try {
            List<byte[]> frames = new ArrayList<>(message.size());
            for (ByteBuf frame : message) {
                frames.add(ByteBufUtil.getBytes(frame));
            }
            return frames;
        } finally {
            message.release();
        }
    }

    /** Returns a copy of the bytes of a buffer, whose position stays as it is. */
    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    static ZMTPMessage message(List<byte[]> frames) {
        return ZMTPMessage.from(frames.stream().map(Unpooled::wrappedBuffer).toArray(ByteBuf[]::new));
    }
}
