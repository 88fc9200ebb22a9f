package dev.zmtp.internal.memory;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;

/** The memory that a message takes while it waits: its objects as well as its bytes. */
public final class MessageMemory {

    /** The entry in a queue. */
    private static final int ENTRY = 64;

    /** The entry, and the message. */
    private static final int MESSAGE_OBJECTS = ENTRY + 96;

    /** The buffer of a frame, and its reference. */
    private static final int FRAME_OBJECTS = 132;

    /** A frame that keeps more than so many times its length from being used again is copied. */
    private static final int WASTE = 4;

    /** A buffer of no more bytes is worth no copy. */
    private static final int LEAST = 4 << 10;

    private MessageMemory() {}

    /** Returns how many bytes of memory the message takes, which has {@code length} bytes in all its frames. */
    public static long of(ZMTPMessage message, long length) {
        return MESSAGE_OBJECTS + (long) FRAME_OBJECTS * message.size() + length;
    }

    /**
     * Returns what a message takes that waits in one of several queues: an entry of its own, and a part of what all of
     * them share. Whoever puts it there still has a reference, unless it is in no other.
     */
    public static long share(ZMTPMessage message, long length) {
        long all = of(message, length);
        int shares = message.refCnt() - 1;
        return shares > 1 ? ENTRY + (all - ENTRY) / shares : all;
    }

    /** Takes the message over. Returns it, or a copy in its place if its frames are small parts of large buffers. */
    public static ZMTPMessage compact(ZMTPMessage message) {
        for (int i = 0; i < message.size(); i++) {
            if (isWasteful(message.frame(i))) {
                try {
                    return message.copy();
                } finally {
                    message.release();
                }
            }
        }
        return message;
    }

    private static boolean isWasteful(ByteBuf frame) {
        ByteBuf root = frame;
        for (ByteBuf next = frame.unwrap(); next != null; next = next.unwrap()) {
            root = next;
        }
        return root.capacity() > LEAST && root.capacity() > (long) WASTE * frame.readableBytes();
    }
}
