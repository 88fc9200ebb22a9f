package dev.zmtp.internal.connection;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.wire.Retention;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Data that was read and is not decoded yet. A buffer that is much larger than its data is copied. So are small reads,
 * into a common buffer: a buffer of its own would take about 150 bytes, and a peer could make thousands of them.
 */
final class ReadQueue {

    /** Maximum size of a small read. */
    private static final int SMALL = 512;

    /** Capacity of a buffer for small reads. */
    private static final int COMMON = 4 << 10;

    private final ConsistentDeque<ByteBuf> buffers = new ConsistentDeque<>();

    /** The last buffer if small reads can be added to it. */
    private @Nullable ByteBuf common;

    private long bytes;

    boolean isEmpty() {
        return buffers.isEmpty();
    }

    /** Returns the number of readable bytes. */
    long bytes() {
        return bytes;
    }

    /** Adds the next data to decode. Takes ownership of {@code in}, even if there is no memory. */
    void addFirst(ByteBuf in, ByteBufAllocator alloc) {
        int length = in.readableBytes();
        ByteBuf kept = Retention.isWorthKeeping(in, length) ? in : copy(in, length, alloc);
        try {
            buffers.addFirst(kept);
        } catch (OutOfMemoryError e) {
            kept.release();
            throw e;
        }
        bytes += length;
    }

    /** Adds the last data to decode. Takes ownership of {@code in}, even if there is no memory. */
    void add(ByteBuf in, ByteBufAllocator alloc) {
        int length = in.readableBytes();
        if (common != null && common.writableBytes() >= length) {
            common.writeBytes(in);
            in.release();
        } else if (length > SMALL && Retention.isWorthKeeping(in, length)) {
            addLast(in);
            common = null;
        } else {
            ByteBuf copy = copy(in, buffers.isEmpty() ? length : Math.max(length, COMMON), alloc);
            addLast(copy);
            common = copy;
        }
        bytes += length;
    }

    private void addLast(ByteBuf last) {
        try {
            buffers.add(last);
        } catch (OutOfMemoryError e) {
            last.release();
            throw e;
        }
    }

    private static ByteBuf copy(ByteBuf in, int capacity, ByteBufAllocator alloc) {
        try {
            return alloc.buffer(capacity).writeBytes(in);
        } finally {
            in.release();
        }
    }

    /** Removes and returns the next buffer to decode, which the caller must release; null if there is none. */
    @Nullable
    ByteBuf poll() {
        ByteBuf next = buffers.poll();
        bytes -= next == null ? 0 : next.readableBytes();
        if (buffers.isEmpty()) { // the last is no longer here
            common = null;
        }
        return next;
    }

    /** Releases all data. */
    void clear() {
        buffers.forEach(ByteBuf::release);
        buffers.clear();
        common = null;
        bytes = 0;
    }
}
