package dev.zmtp.internal.read;

import io.netty.buffer.ByteBuf;

/** Discards messages that a peer sends to a socket that only sends, as they arrive. */
public final class DiscardingSink implements StreamingSink {

    @Override
    public void begin(int length, boolean more) {}

    @Override
    public void part(ByteBuf in, int length, boolean last) {
        in.skipBytes(length);
    }

    @Override
    public void frame(ByteBuf in, int length, boolean more) {
        in.skipBytes(length);
    }

    @Override
    public void close() {}
}
