package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;

/** Makes messages of frames and fires them. On the channel's event loop only. */
interface MessageSink {

    /** A frame starts; its limits were judged. */
    void header(int length, boolean more);

    /** Takes octets of the frame from {@code in}; returns whether the frame is complete. */
    boolean body(ByteBuf in);

    /** As {@link #header} and {@link #body}, for a frame that is there whole: the next {@code length} octets of {@code in}. */
    void frame(ByteBuf in, int length, boolean more);

    /** Releases half a message. Called exactly once. */
    void close();
}
