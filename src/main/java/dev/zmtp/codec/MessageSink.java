package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;

/** Makes messages of frames and fires them. On the channel's event loop only. */
interface MessageSink {

    /** A frame starts; its limits were judged. */
    void header(int length, boolean more);

    /** Takes octets of the frame from {@code in}; returns whether the frame is complete. */
    boolean body(ByteBuf in);

    /** As {@link #header} and {@link #body}, for a frame that is there whole. {@code body} stays the caller's. */
    void whole(ByteBuf body, boolean more);

    /** Releases half a message. Called exactly once. */
    void close();
}
