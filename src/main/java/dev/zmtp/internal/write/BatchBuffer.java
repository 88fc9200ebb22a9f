package dev.zmtp.internal.write;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The buffer that a batch is encoded into. It is allocated on demand and handed over as a whole. Its size follows the
 * data written between recent flushes.
 *
 * <p>A user's encoder, or a cipher, receives the buffer itself on a <i>lease</i>. If the connection ends during the
 * lease, that code still has the buffer. The buffer is then detached, and released when the lease ends.
 *
 * <p>Independent of channels and promises. Not thread safe.
 */
final class BatchBuffer {

    /** Maximum capacity of a buffer, except for a single frame that needs more. */
    static final int MAX_CAPACITY = 64 << 10;

    private static final int MIN_CAPACITY = 512;
    private static final int SMALL_FLUSHES = 16;

    /** The fraction of a buffer (one in this many) that can remain empty while its bytes wait to be sent. */
    private static final int WASTE = 8;

    private final ByteBufAllocator alloc;

    /** The open buffer, or null. Its own writer index is set when it is leased or handed over. */
    @Nullable
    ByteBuf open;

    /** The index of the next byte; 0 if there is no open buffer. */
    int index;

    /** The capacity of the open buffer; 0 if there is none. */
    int limit;

    /** The capacity of the next buffer. */
    private int capacity = MIN_CAPACITY;

    /** The number of consecutive flushes that would have fitted into half of the capacity. */
    private int smallFlushes;

    private boolean leased;

    /** The former open buffer, if the connection ended during a lease. */
    private @Nullable ByteBuf detached;

    BatchBuffer(ByteBufAllocator alloc) {
        this.alloc = alloc;
    }

    /** Returns whether there is an open buffer with too little room for {@code length} bytes. */
    boolean isTooSmallFor(int length) {
        return open != null && limit - index < length;
    }

    /** Increases the size of the next buffers, because the current buffer was too small. */
    void grow() {
        capacity = Math.min(MAX_CAPACITY, capacity * 2);
        smallFlushes = 0;
    }

    /**
     * Reduces the size of the next buffers after a series of small flushes. The reduction is slow because an occasional
     * large flush is common.
     */
    void shrinkIfSmall() {
        if (index >= capacity / 2 || capacity == MIN_CAPACITY) {
            smallFlushes = 0;
        } else if (++smallFlushes == SMALL_FLUSHES) {
            smallFlushes = 0;
            capacity /= 2;
        }
    }

    /**
     * Returns the open buffer with its writer index at the end, and room for {@code length} bytes. Allocates it if
     * needed.
     */
    ByteBuf writable(int length) {
        ByteBuf out = open;
        if (out == null) {
            out = alloc.ioBuffer(Math.max(length, capacity));
            open = out;
            limit = out.capacity();
        }
        return out.writerIndex(index);
    }

    /**
     * Appends the readable bytes of {@code bytes}, for which there must be room. The caller retains ownership of {@code
     * bytes}.
     */
    void append(ByteBuf bytes) {
        int length = bytes.readableBytes();
        ByteBuf out = writable(length);
        bytes.getBytes(bytes.readerIndex(), out, index, length);
        index += length;
    }

    /** Like {@link #writable}, for code that keeps the buffer until {@link #endLease}. */
    ByteBuf lease(int length) {
        ByteBuf out = writable(length);
        leased = true;
        return out;
    }

    /** Ends the lease. From now on no other code writes to the buffer. */
    void endLease() {
        leased = false;
        if (detached != null) {
            detached.release();
            detached = null;
        }
    }

    /** Continues after the bytes appended to {@code out}, the open buffer, which can have grown. */
    void continueAfter(ByteBuf out) {
        index = out.writerIndex();
        limit = out.capacity();
    }

    /**
     * Closes the buffer and returns it, to be released by the caller; or null if nothing was written.
     *
     * @param waits whether the buffer will have to wait, possibly for long. In that case a smaller buffer is returned
     *     if a large part of it is empty
     */
    @Nullable
    ByteBuf take(boolean waits) {
        ByteBuf full = open;
        int end = index;
        clear();
        if (full == null || end > 0) {
            return full == null ? null : trim(full.writerIndex(end), waits);
        }
        full.release();
        return null;
    }

    private ByteBuf trim(ByteBuf full, boolean waits) {
        int length = full.readableBytes();
        if (!waits || full.capacity() - length <= full.capacity() / WASTE) {
            return full;
        }
        ByteBuf exact;
        try {
            exact = alloc.ioBuffer(length);
        } catch (Throwable e) { // the allocator is out of memory, so the data is sent in this buffer
            return full;
        }
        exact.writeBytes(full);
        full.release();
        return exact;
    }

    /** Releases the open buffer and discards the written data. */
    void drop() {
        if (open != null) {
            if (leased) {
                detached = open;
            } else {
                open.release();
            }
        }
        clear();
    }

    /**
     * Discards the data written from {@code end} on. During a lease the rest is moved to another buffer.
     *
     * <p>If the allocator cannot provide another buffer and throws, all data is discarded.
     */
    void cut(int end) {
        if (!leased) {
            index = end;
            return;
        }
        ByteBuf old = Objects.requireNonNull(open);
        detached = old;
        clear();
        if (end > 0) {
            open = alloc.ioBuffer(end).writeBytes(old, 0, end);
            index = end;
            limit = end;
        }
    }

    private void clear() {
        open = null;
        index = 0;
        limit = 0;
    }
}
