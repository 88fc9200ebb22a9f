package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.runtime.CheckReturnValue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The number of messages and bytes that a socket can still accept. Any thread takes from it, so a sender knows at once
 * whether there is room. The event loop gives back. It can be negative, because a peer that leaves takes its room with
 * it.
 */
public final class Credit {

    private final AtomicLong messages = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();

    /** Takes room for a message of {@code size} bytes. At most one message exceeds the remaining bytes. */
    @CheckReturnValue
    boolean take(long size) {
        long left = bytes.get();
        while (left > 0) {
            if (bytes.compareAndSet(left, left - size)) {
                if (messages.getAndDecrement() > 0) {
                    return true;
                }
                give(1, size);
                return false;
            }
            left = bytes.get();
        }
        return false;
    }

    /** Like {@link #take}, for a message whose number is bounded elsewhere. */
    @CheckReturnValue
    boolean takeBytes(long size) {
        if (bytes.get() <= 0) {
            return false;
        }
        give(-1, -size);
        return true;
    }

    public void give(long messages, long bytes) {
        this.messages.getAndAdd(messages);
        this.bytes.getAndAdd(bytes);
    }

    boolean isOpen() {
        return messages.get() > 0 && bytes.get() > 0;
    }

    /** Returns whether more than this is left. */
    boolean exceeds(long messages, long bytes) {
        return this.messages.get() > messages && this.bytes.get() > bytes;
    }

    @Override
    public String toString() {
        return messages + " messages, " + bytes + " bytes";
    }
}
