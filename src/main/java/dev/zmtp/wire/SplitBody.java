package dev.zmtp.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Puts together bodies that arrive in several reads, one body after the other.
 *
 * <p>Until half of a body is there, its bytes are kept as they came: large reads as slices, small ones copied together.
 * Then a buffer of exactly the body's length is allocated; what was kept is copied to it, and the rest goes there
 * directly. So a peer that announces much and sends little costs little, and the bytes of large reads are copied once.
 */
final class SplitBody {

    /** Bodies up to this size get their buffer at once. */
    private static final int AT_ONCE = 4096;

    /** Fewer bytes of a read are copied: a slice has a cost of its own. */
    private static final int MIN_KEPT = 8 << 10;

    /** The largest buffer that small reads are copied to. */
    private static final int MAX_COPIED = 64 << 10;

    private final LongConsumer reservation;

    private final List<ByteBuf> parts = new ArrayList<>(0);

    /** The newest of the parts that holds copies of small reads. It is filled up before another buffer is allocated. */
    private @Nullable ByteBuf copies;

    private @Nullable ByteBuf whole;
    private int length;
    private int arrived;

    /** The memory that the parts take, or pin as slices of it. */
    private long held;

    /** @param reservation is told how many bytes are about to be taken for a whole body, and may throw */
    SplitBody(LongConsumer reservation) {
        this.reservation = reservation;
    }

    /** Starts a body of {@code length} bytes, at least 1. */
    void begin(int length) {
        this.length = length;
        arrived = 0;
        held = 0;
    }

    /** Returns whether a body was started and is not complete. */
    boolean isOpen() {
        return arrived < length;
    }

    /** Returns how many bytes of the body that is not complete have arrived; 0 if none was started. */
    int arrived() {
        return isOpen() ? arrived : 0;
    }

    /**
     * Takes what {@code in} holds of the body; returns the whole body, which the caller must release, or null if more
     * must come.
     */
    @Nullable
    ByteBuf read(ByteBuf in, ByteBufAllocator alloc) {
        int count = Math.min(length - arrived, in.readableBytes());
        ByteBuf body = whole;
        if (body == null && (length <= AT_ONCE || arrived + count >= length / 2)) {
            body = gather(alloc);
        }
        if (body == null) {
            keep(in, count, alloc);
        } else {
            body.writeBytes(in, count);
        }
        arrived += count;
        if (arrived < length) {
            return null;
        }
        whole = null;
        return body;
    }

    private ByteBuf gather(ByteBufAllocator alloc) {
        if (length > AT_ONCE) {
            reservation.accept(length);
        }
        ByteBuf body = alloc.buffer(length, length);
        whole = body;
        copies = null;
        for (ByteBuf part : parts) {
            body.writeBytes(part);
            part.release();
        }
        parts.clear();
        held = length;
        return body;
    }

    /** The buffer for the whole of a body that is not complete; null if it is not allocated yet. */
    @Nullable
    ByteBuf whole() {
        return whole;
    }

    /** The bytes of memory that are kept of an unfinished body. */
    long kept() {
        return isOpen() ? held : 0;
    }

    /** Keeps bytes, and at most twice as much memory as bytes have arrived. */
    private void keep(ByteBuf in, int count, ByteBufAllocator alloc) {
        int left = count - copy(in, count);
        if (left >= MIN_KEPT && Retention.isWorthKeeping(in, left)) {
            held += Retention.keptBy(in);
            parts.add(in.readRetainedSlice(left));
        } else if (left > 0) {
            long allowed = 2L * (arrived + count) - held;
            int size = (int) Math.max(left, Math.min(allowed, MAX_COPIED));
            ByteBuf buffer = alloc.buffer(size, size);
            held += size;
            parts.add(buffer);
            copies = buffer;
            copy(in, left);
        }
    }

    /** Copies what there is room for; returns how many bytes were copied. */
    private int copy(ByteBuf in, int count) {
        ByteBuf buffer = copies;
        if (buffer == null) {
            return 0;
        }
        int copied = Math.min(count, buffer.writableBytes());
        buffer.writeBytes(in, copied);
        return copied;
    }

    /** Releases what has arrived. */
    void close() {
        length = 0;
        parts.forEach(ByteBuf::release);
        parts.clear();
        copies = null;
        if (whole != null) {
            whole.release();
            whole = null;
        }
    }
}
