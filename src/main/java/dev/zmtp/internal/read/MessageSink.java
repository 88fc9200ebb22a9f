package dev.zmtp.internal.read;

import io.netty.buffer.ByteBuf;

/** Makes messages of frames and fires them. On the channel's event loop only. */
public interface MessageSink {

    /**
     * Takes a frame that has arrived completely, the next {@code length} bytes of {@code in}. Its limits were checked.
     */
    void frame(ByteBuf in, int length, boolean more);

    /** Compacts an unfinished message, since the rest may take long to arrive. */
    default void compact() {}

    /** The bytes of memory that are kept of an unfinished message. */
    default long kept() {
        return 0;
    }

    /** Releases an unfinished message. Called exactly once. */
    void close();
}
