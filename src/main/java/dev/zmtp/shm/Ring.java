package dev.zmtp.shm;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory of one direction: bytes in a ring, two positions, and who sleeps.
 *
 * <pre>
 *      0  tail: how many bytes were written, ever
 *    128  head: how many of them were read
 *    256  1 if the reader sleeps until there is more
 *    384  1 if the writer sleeps until there is room
 *    512  the bytes; the one at position p is at 512 + p modulo the capacity
 * </pre>
 *
 * <p>Each number takes eight bytes, in the order of the machine, and has a pair of cache lines of its own, as the two
 * sides write them at the same time. Whatever the other side writes, nothing outside of the ring is read or written: a
 * side keeps its own position to itself, and checks that of the other.
 */
final class Ring {

    /** Bytes before those of the ring. */
    static final int CONTROL = 512;

    /** Of memory that a page of is the least that can be mapped. */
    static final int MIN_CAPACITY = 4 << 10;

    static final int MAX_CAPACITY = 1 << 28;

    private static final int TAIL = 0;
    private static final int HEAD = 128;
    private static final int READER_SLEEPS = 256;
    private static final int WRITER_SLEEPS = 384;

    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final ByteBuffer NONE = ByteBuffer.allocateDirect(0);

    private final int mask;
    private ByteBuffer memory;

    /** The ring in {@code memory}, which begins at a multiple of eight bytes and has room for a power of two. */
    Ring(ByteBuffer memory) {
        this.memory = memory;
        this.mask = memory.capacity() - CONTROL - 1;
    }

    /** Lets go of the memory, which is about to be unmapped: to use it would end the process. */
    void close() {
        memory = NONE;
    }

    /** Returns how much memory a ring for {@code capacity} bytes takes. */
    static int size(int capacity) {
        return CONTROL + capacity;
    }

    /** Checks a capacity, whoever asks for it. */
    static int checkCapacity(int capacity) {
        if (Integer.bitCount(capacity) != 1 || capacity < MIN_CAPACITY || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("capacity: " + capacity + " (expected: a power of two, " + MIN_CAPACITY
                    + " to " + MAX_CAPACITY + ")");
        }
        return capacity;
    }

    int capacity() {
        return mask + 1;
    }

    // Positions

    long tail() {
        return (long) LONG.getAcquire(memory, TAIL);
    }

    long head() {
        return (long) LONG.getAcquire(memory, HEAD);
    }

    /** The bytes before {@code tail} may be read. */
    void publishTail(long tail) {
        LONG.setRelease(memory, TAIL, tail);
    }

    /** The bytes before {@code head} may be overwritten. */
    void publishHead(long head) {
        LONG.setRelease(memory, HEAD, head);
    }

    /** Returns {@code position} if it is one that the other side may have, otherwise the other side is broken. */
    static long check(String what, long position, long least, long most) throws IOException {
        if (position - least < 0 || most - position < 0) {
            throw new IOException(
                    "shared memory: " + what + " at " + position + " (expected: " + least + " to " + most + ")");
        }
        return position;
    }

    /** Fails if a side was here before: whoever opens a ring begins at its start. */
    void checkUnused() throws IOException {
        long tail = tail();
        long head = head();
        if (tail != 0 || head != 0) {
            throw new IOException("shared memory: a ring written up to " + tail + " and read up to " + head
                    + " (expected: one that is new)");
        }
    }

    // Sleep

    /** The reader is about to sleep, or is awake. What it does next comes after that, for all to see. */
    void readerSleeps(boolean sleeps) {
        LONG.setVolatile(memory, READER_SLEEPS, sleeps ? 1L : 0L);
        VarHandle.fullFence();
    }

    /** The writer is about to sleep, or is awake. */
    void writerSleeps(boolean sleeps) {
        LONG.setVolatile(memory, WRITER_SLEEPS, sleeps ? 1L : 0L);
        VarHandle.fullFence();
    }

    /** Returns whether the reader sleeps and is to be woken, by the caller alone. */
    boolean takeSleepingReader() {
        return takeSleeping(READER_SLEEPS);
    }

    /** Returns whether the writer sleeps and is to be woken, by the caller alone. */
    boolean takeSleepingWriter() {
        return takeSleeping(WRITER_SLEEPS);
    }

    /**
     * The fence stands between a position that was just published and the look at whether the other side sleeps.
     * The other side has one between saying that it sleeps and its last look at the position. So one of the two sees
     * what the other wrote: it cannot be that this side sees no sleeper and that one sees nothing new.
     */
    private boolean takeSleeping(int index) {
        VarHandle.fullFence();
        if ((long) LONG.getOpaque(memory, index) == 0) {
            return false;
        }
        LONG.setVolatile(memory, index, 0L);
        return true;
    }

    // Bytes

    /** Copies {@code length} bytes of {@code source} to {@code position}, in two parts at the end of the ring. */
    void put(long position, ByteBuffer source, int index, int length) {
        int at = (int) position & mask;
        int first = Math.min(length, mask + 1 - at);
        memory.put(CONTROL + at, source, index, first);
        if (first < length) {
            memory.put(CONTROL, source, index + first, length - first);
        }
    }

    /** Copies {@code length} bytes from {@code position} to {@code target}. */
    void get(long position, ByteBuffer target, int index, int length) {
        int at = (int) position & mask;
        int first = Math.min(length, mask + 1 - at);
        target.put(index, memory, CONTROL + at, first);
        if (first < length) {
            target.put(index + first, memory, CONTROL, length - first);
        }
    }
}
