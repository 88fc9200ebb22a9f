package dev.zmtp.internal.wire;

import io.netty.buffer.ByteBuf;

/** Copies from buffer to buffer that create no object. */
public final class Copies {

    private Copies() {}

    /**
     * Appends {@code length} bytes of {@code in} from {@code index} on to {@code out}. Moves no index of {@code in}.
     * {@code ByteBuf.writeBytes(ByteBuf)} creates a {@code ByteBuffer} for each call in Netty's adaptive buffers.
     */
    public static void append(ByteBuf out, ByteBuf in, int index, int length) {
        int to = out.writerIndex();
        out.ensureWritable(length);
        in.getBytes(index, out, to, length);
        out.writerIndex(to + length);
    }
}
