package dev.zmtp.internal.websocket;

import dev.zmtp.internal.memory.MemoryAccount;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * The fragments of a message, which are collected because the header of a ZMTP frame contains the length of the whole
 * body. Browsers and proxies may send fragments (RFC 6455, section 5.4).
 *
 * <p>Memory is taken for bytes that have arrived, and at most twice as much. It counts for the memory budget. The
 * caller limits the length.
 */
final class FragmentedMessage {

    /** Place of the flags, which the last byte of the ZMTP header replaces. */
    private static final int FLAGS = ZmtpHeaders.MAX - 1;

    private static final int MIN_CAPACITY = 256;

    private final ByteBufAllocator alloc;
    private final MemoryAccount account;

    /** The payload after room for a ZMTP header; null before the first fragment with a payload. */
    private @Nullable ByteBuf collected;

    private boolean open;

    FragmentedMessage(ByteBufAllocator alloc, MemoryAccount account) {
        this.alloc = alloc;
        this.account = account;
    }

    void begin() {
        open = true;
    }

    /** Returns whether a message has begun whose last fragment was not read. */
    boolean isOpen() {
        return open;
    }

    /** Returns the number of collected bytes, including the flags. */
    int length() {
        return collected == null ? 0 : collected.writerIndex() - FLAGS;
    }

    /** Returns the flags of ZWS, the first byte of the payload, which must be there. */
    int flags() {
        return collected == null ? 0 : collected.getUnsignedByte(FLAGS);
    }

    /**
     * Reads and unmasks the next {@code count} bytes of {@code in}.
     *
     * @throws dev.zmtp.ZMTPException if the memory budget is exceeded
     */
    void add(ByteBuf in, int count, int key) {
        if (count == 0) {
            return;
        }
        ByteBuf out = withRoom(count);
        int index = out.writerIndex();
        out.writeBytes(in, count);
        Mask.apply(out, index, count, key);
        account.moved(count);
    }

    private ByteBuf withRoom(int count) {
        ByteBuf out = collected;
        if (out == null) {
            int capacity = Math.max(MIN_CAPACITY, ZmtpHeaders.MAX + count);
            account.reserve(capacity);
            out = alloc.buffer(capacity).writerIndex(FLAGS);
            collected = out;
        } else if (out.writableBytes() < count) {
            int capacity =
                    (int) Math.min(Integer.MAX_VALUE, Math.max((long) out.writerIndex() + count, 2L * out.capacity()));
            account.reserve(capacity - out.capacity());
            out.capacity(capacity);
        }
        return out;
    }

    /** Returns the ZMTP frame of the message, which must have a payload. The caller must release it. */
    ByteBuf take(int flags) {
        ByteBuf out = collected;
        if (out == null) {
            throw new IllegalStateException("fragments without a payload");
        }
        collected = null;
        open = false;
        account.add(-out.capacity(), 0);
        int length = out.writerIndex() - ZmtpHeaders.MAX;
        int start = ZmtpHeaders.MAX - ZmtpHeaders.length(length);
        ZmtpHeaders.set(out, start, flags, length);
        return out.readerIndex(start);
    }

    /** Releases the fragments, because the connection is over. */
    void close() {
        open = false;
        account.close();
        if (collected != null) {
            collected.release();
            collected = null;
        }
    }
}
