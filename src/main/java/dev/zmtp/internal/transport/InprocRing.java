package dev.zmtp.internal.transport;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A ring of messages on their way from an event loop to another. A single thread offers, and a single thread polls.
 * <p>Each thread has its numbers in separate cache lines, and the writer reads the numbers of the reader only when its
 * own numbers show no room.
 */
public final class InprocRing {

    /** Distance in longs between two numbers that are not in the same pair of cache lines. */
    private static final int APART = 16;

    /** Owned by the writer: the next slot, the total of offered bytes, and the part of them known to be read. */
    private static final int HEAD = APART;

    private static final int WRITTEN = HEAD + 1;
    private static final int KNOWN_READ = HEAD + 2;

    /** Owned by the reader: the next slot. */
    private static final int TAIL = HEAD + APART;

    /** Written by the reader for the writer: the total of bytes read. */
    private static final int READ = TAIL + APART;

    private static final int NUMBERS = READ + APART;

    private final AtomicReferenceArray<@Nullable Object> slots;
    private final AtomicLongArray numbers = new AtomicLongArray(NUMBERS);
    /** True if the writer waits for room. */
    private final AtomicBoolean waiting = new AtomicBoolean();

    private final int mask;
    private final long maxBytes;

    public InprocRing(QueueLimit limit) {
        int capacity = Integer.highestOneBit(Math.min(limit.messages(), 1 << 20) * 2 - 1);
        this.slots = new AtomicReferenceArray<>(capacity);
        this.mask = capacity - 1;
        this.maxBytes = limit.bytes();
    }

    /** Returns the bytes of a message, with which it should be offered. */
    static long sizeOf(Object msg) {
        if (msg instanceof ZMTPMessage message) {
            return message.readableBytes();
        }
        return msg instanceof ByteBuf bytes ? bytes.readableBytes() : 0;
    }

    @CheckReturnValue
    public boolean offer(Object message, long size) {
        if (!hasRoom()) {
            return false;
        }
        long head = numbers.getPlain(HEAD);
        numbers.setPlain(WRITTEN, numbers.getPlain(WRITTEN) + size);
        slots.setRelease((int) head & mask, message);
        numbers.setPlain(HEAD, head + 1);
        return true;
    }

    /** Like {@link #offer}. A writer that finds no room has to try again after a call of {@link #freeAndWake}. */
    @CheckReturnValue
    boolean offerOrWait(Object message, long size) {
        if (offer(message, size)) {
            return true;
        }
        waiting.set(true);
        VarHandle.fullFence(); // either the reader sees the writer wait, or we see the room
        if (offer(message, size)) {
            waiting.set(false);
            return true;
        }
        return false;
    }

    /** Returns whether an offer would succeed. Called by the writer. */
    public boolean hasRoom() {
        return slots.getAcquire((int) numbers.getPlain(HEAD) & mask) == null && hasRoomForBytes();
    }

    /** Returns the number of bytes within the limit, negative after a large message. Called by the writer. */
    long roomForBytes() {
        return maxBytes - (numbers.getPlain(WRITTEN) - numbers.getAcquire(READ));
    }

    private boolean hasRoomForBytes() {
        long written = numbers.getPlain(WRITTEN);
        if (written - numbers.getPlain(KNOWN_READ) < maxBytes) {
            return true;
        }
        long read = numbers.getAcquire(READ);
        numbers.setPlain(KNOWN_READ, read);
        return written - read < maxBytes;
    }

    @Nullable
    public Object poll() {
        long tail = numbers.getPlain(TAIL);
        int slot = (int) tail & mask;
        Object message = slots.getAcquire(slot);
        if (message != null) {
            slots.setRelease(slot, null);
            numbers.setPlain(TAIL, tail + 1);
        }
        return message;
    }

    /** Releases the remaining messages, after the reader's end. From any thread. */
    void clear() {
        for (int i = 0; i <= mask; i++) {
            Object message = slots.getAndSet(i, null);
            if (message != null) {
                ReferenceCountUtil.safeRelease(message); // the sender might have released it once too often
            }
        }
    }

    /** Called by the reader. */
    public boolean isEmpty() {
        return slots.getAcquire((int) numbers.getPlain(TAIL) & mask) == null;
    }

    /** Called by the reader, with the number of bytes taken since the last call. */
    public void free(long size) {
        if (size > 0) {
            numbers.setRelease(READ, numbers.getPlain(READ) + size);
        }
        VarHandle.fullFence(); // either we see the writer wait, or it sees the room
    }

    /** Like {@link #free}. Returns whether the writer was waiting for room. */
    @CheckReturnValue
    boolean freeAndWake(long size) {
        free(size);
        return waiting.get() && waiting.compareAndSet(true, false);
    }
}
