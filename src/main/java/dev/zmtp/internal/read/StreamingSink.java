package dev.zmtp.internal.read;

import io.netty.buffer.ByteBuf;

/** A sink that takes a frame as it arrives. One that takes only whole frames has them put together first. */
public interface StreamingSink extends MessageSink {

    /** A frame starts that has not arrived completely. Its limits were checked. */
    void begin(int length, boolean more);

    /**
     * Takes a part of the frame, the next {@code length} bytes of {@code in}; {@code last} if the frame ends with it.
     */
    void part(ByteBuf in, int length, boolean last);
}
