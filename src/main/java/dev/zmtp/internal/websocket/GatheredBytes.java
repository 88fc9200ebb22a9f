package dev.zmtp.internal.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** Bytes that become a single write, partly copied and partly by reference. */
final class GatheredBytes {

    /**
     * Capacity from which on a buffer for copies is full. A full batch of the codec, 64 KiB, fits with the longer
     * headers. A larger buffer can be slow to allocate.
     */
    static final int FULL = 128 << 10;

    private final ByteBufAllocator alloc;

    /** The buffer for copies, or null. */
    private @Nullable ByteBuf open;

    /** The bytes before those of the open buffer, or null. */
    private @Nullable CompositeByteBuf before;

    /** The capacity of the next buffer for copies. */
    private int capacity;

    GatheredBytes(ByteBufAllocator alloc) {
        this.alloc = alloc;
    }

    /** Begins a write. Buffers for copies have at least this capacity, or are full. */
    void begin(int expected) {
        capacity = Math.min(FULL, expected);
    }

    /** Returns the buffer for copies, to which the caller appends about {@code length} bytes. */
    ByteBuf writable(int length) {
        if (open != null && open.readableBytes() >= FULL) {
            close();
        }
        if (open == null) {
            open = alloc.ioBuffer(Math.max(length, capacity));
        }
        return open;
    }

    /** Appends {@code bytes}, of which it takes ownership. */
    void add(ByteBuf bytes) {
        close();
        append(bytes);
    }

    private void close() {
        ByteBuf full = open;
        if (full != null) {
            open = null;
            append(full);
        }
    }

    private void append(ByteBuf bytes) {
        if (before == null) {
            before = alloc.compositeBuffer(Integer.MAX_VALUE);
        }
        before.addComponent(true, bytes);
    }

    /** Returns all bytes, which the caller must release. */
    ByteBuf take() {
        if (before != null) {
            close();
        }
        ByteBuf all = before != null ? before : open;
        open = null;
        before = null;
        return all == null ? Unpooled.EMPTY_BUFFER : all;
    }

    /** Releases all bytes, because the write has failed. */
    void drop() {
        take().release();
    }
}
