package dev.zmtp.internal.write;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The buffer that a batch is encoded into: allocated when it is needed, handed over as a whole, as large as what was
 * written between recent flushes.
 *
 * <p>A user's encoder, or a cipher, gets the buffer itself on a <i>lease</i>. If the connection ends meanwhile, that
 * code still holds the buffer. It is then detached, and released when the lease ends.
 *
 * <p>Knows no channel and no promise. Not thread safe.
 */
final class BatchBuffer {

    /** No buffer grows beyond this, but for a single frame that needs more. */
    static final int MAX_CAPACITY = 64 << 10;

    private static final int MIN_CAPACITY = 512;
    private static final int SMALL_FLUSHES = 16;

    /** The part of a buffer that may stay empty while its bytes wait to be sent. */
    private static final int WASTE = 8;

    private final ByteBufAllocator alloc;

    /** The open buffer, or null. Its own writer index is set when it is leased or handed over. */
    @Nullable
    ByteBuf open;

    /** Where the next byte goes; 0 if there is no open buffer. */
    int index;

    /** The capacity of the open buffer; 0 if there is none. */
    int limit;

    /** The capacity of the next buffer. */
    private int capacity = MIN_CAPACITY;

    /** How many flushes in a row would have fitted into half of the capacity. */
    private int smallFlushes;

    private boolean leased;

    /** What was the open buffer when the connection ended during a lease. */
    private @Nullable ByteBuf detached;

    BatchBuffer(ByteBufAllocator alloc) {
        this.alloc = alloc;
    }

    /** Returns whether there is an open buffer that has too little room for {@code length} bytes. */
    boolean isTooSmallFor(int length) {
        return open != null && limit - index < length;
    }

    /** The next buffers will be larger: this one was too small. */
    void grow() {
        capacity = Math.min(MAX_CAPACITY, capacity * 2);
        smallFlushes = 0;
    }

    /**
     * The next buffers will be smaller if this was one small flush of many. Slowly: one large flush now and then is
     * common.
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
     * Returns the open buffer with its writer index at the end, and room for {@code length} bytes; allocates it if
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

    /** Appends the readable bytes of {@code bytes}, for which there is room, and which stays the caller's. */
    void append(ByteBuf bytes) {
        int length = bytes.readableBytes();
        ByteBuf out = writable(length);
        bytes.getBytes(bytes.readerIndex(), out, index, length);
        index += length;
    }

    /** As {@link #writable}, for code that keeps the buffer until {@link #endLease}. */
    ByteBuf lease(int length) {
        ByteBuf out = writable(length);
        leased = true;
        return out;
    }

    /** The lease is over: no other code writes to the buffer any more. */
    void endLease() {
        leased = false;
        if (detached != null) {
            detached.release();
            detached = null;
        }
    }

    /** Goes on after what was appended to {@code out}, the open buffer, which may have grown. */
    void continueAfter(ByteBuf out) {
        index = out.writerIndex();
        limit = out.capacity();
    }

    /**
     * Closes the buffer and returns it, to be released by the caller; or null if nothing was written.
     *
     * @param waits whether it will have to wait, perhaps for long: then it is a smaller one if a good part of it is
     *     empty
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
        } catch (Throwable e) { // the allocator has no more memory: what is written goes as it is
            return full;
        }
        exact.writeBytes(full);
        full.release();
        return exact;
    }

    /** Releases the open buffer and what was written. */
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
     * Forgets what was written from {@code end} on. During a lease the rest moves to another buffer.
     *
     * <p>If the allocator has no other buffer and throws, everything was forgotten.
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
