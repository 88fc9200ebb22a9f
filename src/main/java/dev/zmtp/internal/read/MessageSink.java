package dev.zmtp.internal.read;

import io.netty.buffer.ByteBuf;

/** Assembles messages from frames and fires them. Used only on the channel's event loop. */
public interface MessageSink {

    /** Processes a complete frame, the next {@code length} bytes of {@code in}. Its limits were checked. */
    void frame(ByteBuf in, int length, boolean more);

    /** Compacts an unfinished message, because its rest can take long to arrive. */
    default void compact() {}

    /** Returns the number of bytes of memory that are retained for an unfinished message. */
    default long kept() {
        return 0;
    }

    /** Releases an unfinished message. Called exactly once. */
    void close();
}
