package dev.zmtp.internal.read;

import io.netty.buffer.ByteBuf;

/** A sink that processes a frame as it arrives. For other sinks, whole frames are assembled first. */
public interface StreamingSink extends MessageSink {

    /** Starts a frame that has not arrived completely. Its limits were checked. */
    void begin(int length, boolean more);

    /**
     * Processes a part of the frame, the next {@code length} bytes of {@code in}; {@code last} if the frame ends with
     * it.
     */
    void part(ByteBuf in, int length, boolean last);
}
