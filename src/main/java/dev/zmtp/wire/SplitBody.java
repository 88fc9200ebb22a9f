package dev.zmtp.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bodies of frames whose octets arrive in several reads, one after the other.
 *
 * <p>Until half of them are there, they are kept as they came: large reads as they are, small ones copied together. Then the
 * one buffer of the body is taken, of exactly its length; they are copied there, and what follows goes there directly. So a
 * peer that announces much and sends little costs little, and the octets of large reads are copied once.
 */
final class SplitBody {

    /** Bodies up to here get their buffer at once. */
    private static final int AT_ONCE = 4096;

    /** Fewer octets of a read are copied: a slice costs some hundred octets itself. */
    private static final int MIN_KEPT = 8 << 10;

    /** How large a buffer for the octets of small reads becomes at most. */
    private static final int MAX_COPIED = 64 << 10;

    private final List<ByteBuf> parts = new ArrayList<>(0);

    /** The newest one of the parts that is a copy of small reads. What room it has is filled before anything else is taken. */
    private @Nullable ByteBuf copies;

    private @Nullable ByteBuf whole;
    private int length;
    private int arrived;

    /** The memory that the parts take, or keep from being used again. */
    private long held;

    /** Starts with a body of {@code length} octets, at least 1. */
    void begin(int length) {
        this.length = length;
        arrived = 0;
        held = 0;
    }

    /** Whether a body was begun whose end is still to come. */
    boolean isOpen() {
        return arrived < length;
    }

    /** Takes what {@code in} holds of the body; returns the whole body, the caller's to release, or null if more must come. */
    @Nullable
    ByteBuf read(ByteBuf in, ByteBufAllocator alloc) {
        int octets = Math.min(length - arrived, in.readableBytes());
        ByteBuf body = whole;
        if (body == null && (length <= AT_ONCE || arrived + octets >= length / 2)) {
            body = gather(alloc);
        }
        if (body == null) {
            keep(in, octets, alloc);
        } else {
            body.writeBytes(in, octets);
        }
        arrived += octets;
        if (arrived < length) {
            return null;
        }
        whole = null;
        return body;
    }

    private ByteBuf gather(ByteBufAllocator alloc) {
        ByteBuf body = alloc.buffer(length, length);
        whole = body;
        copies = null;
        for (ByteBuf part : parts) {
            body.writeBytes(part);
            part.release();
        }
        parts.clear();
        return body;
    }

    /** Keeps octets, and at most twice as much memory as there are octets until now. */
    private void keep(ByteBuf in, int octets, ByteBufAllocator alloc) {
        int left = octets - copy(in, octets);
        if (left >= MIN_KEPT && Retention.isWorthKeeping(in, left)) {
            held += Retention.keptBy(in);
            parts.add(in.readRetainedSlice(left));
        } else if (left > 0) {
            long allowed = 2L * (arrived + octets) - held;
            int size = (int) Math.max(left, Math.min(allowed, MAX_COPIED));
            ByteBuf buffer = alloc.buffer(size, size);
            held += size;
            parts.add(buffer);
            copies = buffer;
            copy(in, left);
        }
    }

    /** Copies what there is room for; returns how many octets that were. */
    private int copy(ByteBuf in, int octets) {
        ByteBuf buffer = copies;
        if (buffer == null) {
            return 0;
        }
        int copied = Math.min(octets, buffer.writableBytes());
        buffer.writeBytes(in, copied);
        return copied;
    }

    /** Releases what has come. */
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
