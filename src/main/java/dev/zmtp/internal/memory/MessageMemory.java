package dev.zmtp.internal.memory;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;

/** The memory of a waiting message, which includes its objects as well as its bytes. */
public final class MessageMemory {

    /** The queue entry. */
    private static final int ENTRY = 64;

    /** The queue entry and the message. */
    private static final int MESSAGE_OBJECTS = ENTRY + 96;

    /** The buffer of a frame and its reference. */
    private static final int FRAME_OBJECTS = 132;

    /**
     * A message is copied if buffers of its frames are more than this many times as large as the message, because the
     * frames keep the whole buffers from being reused.
     */
    private static final long WASTE = 4;

    /** Buffers up to this size are not worth copying. */
    private static final int LEAST = 4 << 10;

    private MessageMemory() {}

    /** Returns the number of bytes of memory of the message, whose frames have {@code length} bytes in total. */
    public static long of(ZMTPMessage message, long length) {
        return MESSAGE_OBJECTS + (long) FRAME_OBJECTS * message.size() + length;
    }

    /**
     * Returns the share of a message that waits in one of {@code queues} queues: its own entry, and a part of the
     * memory that all queues share.
     */
    public static long share(ZMTPMessage message, long length, int queues) {
        long all = of(message, length);
        return queues > 1 ? ENTRY + (all - ENTRY) / queues : all;
    }

    /**
     * Takes ownership of the message. Returns it, or a copy if its frames are small parts of large buffers and there is
     * memory for a copy.
     */
    public static ZMTPMessage compact(ZMTPMessage message) {
        if (!isWasteful(message)) {
            return message;
        }
        ZMTPMessage copy;
        try {
            copy = message.copy();
        } catch (OutOfMemoryError e) {
            return message;
        } catch (Throwable e) { // a frame was released
            message.release();
            throw e;
        }
        message.release();
        return copy;
    }

    /** Returns whether {@link #compact} would copy the message. */
    @SuppressWarnings("ReferenceEquality") // checks for this very buffer
    public static boolean isWasteful(ZMTPMessage message) {
        long kept = 0;
        ByteBuf last = null;
        for (int i = 0; i < message.size(); i++) {
            ByteBuf frame = message.frame(i);
            ByteBuf root = root(frame);
            if (root != last && isSmallPart(frame, root)) { // frames that were read together have a single buffer
                kept += root.capacity();
                last = root;
            }
        }
        return kept > 0 && kept > WASTE * message.readableBytes();
    }

    /** Returns the whole buffer that the frame keeps. */
    private static ByteBuf root(ByteBuf frame) {
        ByteBuf root = frame;
        for (ByteBuf next = frame.unwrap(); next != null; next = next.unwrap()) {
            root = next;
        }
        return root;
    }

    private static boolean isSmallPart(ByteBuf frame, ByteBuf root) {
        return root.capacity() > LEAST && root.capacity() > WASTE * frame.readableBytes();
    }
}
