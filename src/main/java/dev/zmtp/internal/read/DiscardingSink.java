package dev.zmtp.internal.read;

import io.netty.buffer.ByteBuf;

/** Discards the messages that a peer sends to a send-only socket, as they arrive. */
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
