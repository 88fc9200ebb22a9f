package dev.zmtp.internal.wire;

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
 *
 * <p>The transport may be {@linkplain #nextRead lent} that buffer, so that it reads the rest without a copy. If a body
 * is about as long as a read, its buffer is lent before any of it has arrived, and is dropped if the read fills less
 * than half.
 */
final class SplitBody {

    /** Bodies up to this size get their buffer at once. */
    private static final int AT_ONCE = 4096;

    /**
     * With the end of a body, the transport reads this many bytes more: the next header, so that the length of the next
     * body is known before much of it has arrived.
     */
    private static final int NEXT_HEADER = 256;

    /** Fewer bytes of a read are copied: a slice has a cost of its own. */
    private static final int MIN_KEPT = 8 << 10;

    /** The largest buffer that small reads are copied to. */
    private static final int MAX_COPIED = 64 << 10;

    /** Shorter bodies are read several at a time. */
    private static final int MIN_ALONE = 32 << 10;

    /** The longest read of a part of a body. */
    private static final int MAX_CHUNK = 1 << 20;

    private final LongConsumer reservation;

    private final List<ByteBuf> parts = new ArrayList<>(0);

    /** The newest of the parts that holds copies of small reads. It is filled up before another buffer is allocated. */
    private @Nullable ByteBuf copies;

    private @Nullable ByteBuf whole;
    private int length;
    private int arrived;

    /** The memory that the parts take, or pin as slices of it. */
    private long held;

    private final LentBuffer lent = new LentBuffer();

    /** @param reservation is told how many more bytes are about to be taken for a whole body, and may throw */
    SplitBody(LongConsumer reservation) {
        this.reservation = reservation;
    }

    /**
     * Returns whether a body is so long that the transport should read it alone, and not so long that memory for all of
     * it would be much for one read.
     */
    private static boolean isAboutARead(long length, int usual) {
        return length > AT_ONCE && length >= Math.min(usual, MIN_ALONE) - NEXT_HEADER && length <= 2L * usual;
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
        ByteBuf buffer = lent.takeBack(in);
        if (buffer == null || !isReadInPlace(buffer, in, count)) {
            append(in, count, alloc);
        }
        arrived += count;
        if (arrived < length) {
            return null;
        }
        ByteBuf body = whole;
        whole = null;
        return body;
    }

    private void append(ByteBuf in, int count, ByteBufAllocator alloc) {
        ByteBuf body = whole;
        if (body == null && (length <= AT_ONCE || arrived + count >= length / 2)) {
            body = gather(alloc);
        }
        if (body == null) {
            keep(in, count, alloc);
            return;
        }
        if (body.refCnt() > 1) { // the transport was lent it, and may still write to it
            whole = alloc.buffer(length, length).writeBytes(body);
            body.release();
            body = whole;
        }
        body.writeBytes(in, count);
    }

    private ByteBuf gather(ByteBufAllocator alloc) {
        if (length > AT_ONCE) {
            reserve(length);
        }
        ByteBuf body = alloc.buffer(length, length);
        whole = body;
        for (ByteBuf part : parts) {
            body.writeBytes(part);
        }
        releaseParts();
        held = length;
        return body;
    }

    /** Asks for what the whole body takes beyond its parts, which are released as soon as they are copied to it. */
    private void reserve(int whole) {
        if (whole > held) {
            reservation.accept(whole - held);
        }
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

    private void releaseParts() {
        parts.forEach(ByteBuf::release);
        parts.clear();
        copies = null;
    }

    // Reads of the transport

    /**
     * Returns the buffer for the transport's next read, which the caller must release, or null if any will do.
     *
     * @param length the length of the body whose header was read
     * @param usual the length of a read that the transport makes on its own
     */
    @Nullable
    ByteBuf nextRead(int length, ByteBufAllocator alloc, int usual) {
        int arrived = arrived();
        int rest = length - arrived;
        ByteBuf body = whole;
        if (isAboutARead(length, usual)) {
            if (body == null && arrived <= AT_ONCE) {
                return lent.lend(startOf(length, alloc), arrived);
            }
            if (body == null || body.capacity() == length) { // from now on in step with the peer's frames
                return alloc.ioBuffer(rest + NEXT_HEADER);
            }
        }
        if (body != null) {
            boolean pays = rest >= MIN_KEPT && body.isDirect() && body.refCnt() == 1;
            return pays ? lent.lend(body.retain(), arrived) : null;
        }
        long allowed = Math.min(MAX_CHUNK, 2L * arrived - kept() + usual);
        int chunk = (int) Math.min(allowed, length / 2 - arrived);
        return arrived >= usual / 2 && chunk > 0 ? alloc.ioBuffer(chunk) : null;
    }

    /** A buffer for all of a body and the next header, which holds what has arrived. */
    private ByteBuf startOf(int length, ByteBufAllocator alloc) {
        ByteBuf buffer = alloc.ioBuffer(length + NEXT_HEADER, length + NEXT_HEADER);
        for (ByteBuf part : parts) {
            buffer.writeBytes(part, part.readerIndex(), part.readableBytes());
        }
        return buffer;
    }

    /**
     * Takes bytes that the transport has read into {@code buffer}, where they belong. Returns false, with nothing
     * taken, if that would be a large buffer for few bytes.
     */
    private boolean isReadInPlace(ByteBuf buffer, ByteBuf in, int count) {
        if (whole == null) {
            if (!Retention.isWorthKeeping(buffer, arrived + count)) {
                return false;
            }
            reserve(length);
            releaseParts();
            held = buffer.capacity();
            whole = buffer.retain();
        }
        buffer.writerIndex(arrived + count);
        in.skipBytes(count);
        return true;
    }

    /** Releases what has arrived. */
    void close() {
        length = 0;
        lent.forget();
        releaseParts();
        if (whole != null) {
            whole.release();
            whole = null;
        }
    }
}
