package dev.zmtp.codec;

import dev.zmtp.wire.FrameReader;
import io.netty.buffer.ByteBuf;

/** Lets the messages go that a peer sends to a socket that only sends, as they arrive. */
final class Discard implements MessageSink {

    private final FrameReader reader;
    private int remaining;

    Discard(FrameReader reader) {
        this.reader = reader;
    }

    @Override
    public void header(int length, boolean more) {
        remaining = length;
    }

    @Override
    public boolean body(ByteBuf in) {
        int octets = Math.min(remaining, in.readableBytes());
        in.skipBytes(octets);
        remaining -= octets;
        if (remaining > 0) {
            return false;
        }
        reader.bodyTaken();
        return true;
    }

    @Override
    public void frame(ByteBuf in, int length, boolean more) {
        in.skipBytes(length);
    }

    @Override
    public void close() {}
}
