package dev.zmtp.internal.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Assembles bodies that arrive in several reads, one body after the other.
 *
 * <p>Until half of a body has arrived, its bytes are kept as received, with large reads as slices and small reads
 * copied together. Then a buffer of exactly the body's length is allocated. The kept bytes are copied to it, and the
 * rest is written to it directly. A peer that announces much and sends little therefore costs little, and the bytes of
 * large reads are copied once.
 *
 * <p>The buffer can be {@linkplain #nextRead lent} to the transport, so that it reads the rest without a copy. If a
 * body is about as long as a read, its buffer is lent before any of it has arrived, and is dropped if the read fills
 * less than half of it.
 */
final class SplitBody {

    /** Maximum length of a body whose buffer is allocated immediately. */
    private static final int AT_ONCE = 4096;

    /**
     * Number of bytes that the transport reads after the end of a body. They contain the next header, so that the
     * length of the next body is known before much of it has arrived.
     */
    private static final int NEXT_HEADER = 256;

    /**
     * Minimum number of bytes of a read that are kept as a slice. Fewer bytes are copied, because a slice has its own
     * cost.
     */
    private static final int MIN_KEPT = 8 << 10;

    /** Maximum size of a buffer that small reads are copied to. */
    private static final int MAX_COPIED = 64 << 10;

    /** Minimum length of a body that is read alone. Several shorter bodies are read at a time. */
    private static final int MIN_ALONE = 32 << 10;

    /** Maximum length of a read of a part of a body. */
    private static final int MAX_CHUNK = 1 << 20;

    private final LongConsumer reservation;

    private final List<ByteBuf> parts = new ArrayList<>(0);

    /** The newest part that contains copies of small reads. It is filled before another buffer is allocated. */
    private @Nullable ByteBuf copies;

    private @Nullable ByteBuf whole;
    private int length;
    private int arrived;

    /** The number of bytes of memory that the parts use, or pin as slices. */
    private long held;

    private final LentBuffer lent = new LentBuffer();

    /**
     * @param reservation receives the number of additional bytes that are about to be allocated for a whole body, and
     *     can throw
     */
    SplitBody(LongConsumer reservation) {
        this.reservation = reservation;
    }

    /**
     * Returns whether a body is long enough for a separate read of the transport, and short enough that the memory for
     * all of it is not too much for a single read.
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

    /** Returns the number of received bytes of the incomplete body; 0 if no body was started. */
    int arrived() {
        return isOpen() ? arrived : 0;
    }

    /**
     * Reads the part of the body in {@code in}. Returns the whole body, which the caller must release, or null if more
     * bytes are needed.
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
        if (body.refCnt() > 1) { // it was lent to the transport, which can still write to it
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

    /** Reserves the memory of the whole body beyond its parts, which are released as soon as they are copied to it. */
    private void reserve(int whole) {
        if (whole > held) {
            reservation.accept(whole - held);
        }
    }

    /** Returns the buffer for the whole of an incomplete body; null if it is not allocated yet. */
    @Nullable
    ByteBuf whole() {
        return whole;
    }

    /** Returns the number of bytes of memory that are retained for an unfinished body. */
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

    /** Copies as many bytes as there is room for, and returns their number. */
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
     * Returns the buffer for the transport's next read, which the caller must release, or null if any buffer is
     * suitable.
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

    /** Returns a buffer for a whole body and the next header, which contains the received bytes. */
    private ByteBuf startOf(int length, ByteBufAllocator alloc) {
        ByteBuf buffer = alloc.ioBuffer(length + NEXT_HEADER, length + NEXT_HEADER);
        for (ByteBuf part : parts) {
            buffer.writeBytes(part, part.readerIndex(), part.readableBytes());
        }
        return buffer;
    }

    /**
     * Accepts bytes that the transport has read directly into {@code buffer}. Returns false, with nothing accepted, if
     * that would be a large buffer for few bytes.
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

    /** Releases the received bytes. */
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
