package dev.zmtp.shm;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory of one direction, with the bytes of the ring, two positions, and the sleep states of both sides.
 *
 * <pre>
 *      0  tail: how many bytes were written, ever
 *    128  head: how many of them were read
 *    256  1 if the reader sleeps until there is more
 *    384  1 if the writer sleeps until there is room
 *    512  the bytes; the one at position p is at 512 + p modulo the capacity
 * </pre>
 *
 * <p>Each number takes eight bytes in native byte order, and has its own pair of cache lines because the two sides
 * write at the same time. No value written by the other side can cause an access outside the ring, because each side
 * keeps its own position private and checks the position of the other side.
 */
final class Ring {

    /** Number of bytes before the content of the ring. */
    static final int CONTROL = 512;

    /** Minimum capacity, because a page is the minimum that can be mapped. */
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

    /** Creates a ring in {@code memory}, which begins at a multiple of eight bytes and has room for a power of two. */
    Ring(ByteBuffer memory) {
        this.memory = memory;
        this.mask = memory.capacity() - CONTROL - 1;
    }

    /** Releases the memory, which is about to be unmapped. An access would crash the process. */
    void close() {
        memory = NONE;
    }

    /** Returns the memory size of a ring for {@code capacity} bytes. */
    static int size(int capacity) {
        return CONTROL + capacity;
    }

    /** Checks a capacity from any source. */
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

    /** Publishes that the bytes before {@code tail} can be read. */
    void publishTail(long tail) {
        LONG.setRelease(memory, TAIL, tail);
    }

    /** Publishes that the bytes before {@code head} can be overwritten. */
    void publishHead(long head) {
        LONG.setRelease(memory, HEAD, head);
    }

    /** Returns {@code position} if it is valid for the other side. Otherwise the other side is broken. */
    static long check(String what, long position, long least, long most) throws IOException {
        if (position - least < 0 || most - position < 0) {
            throw new IOException(
                    "shared memory: " + what + " at " + position + " (expected: " + least + " to " + most + ")");
        }
        return position;
    }

    /** Fails if a side has already used the ring, because a side that opens a ring begins at its start. */
    void checkUnused() throws IOException {
        long tail = tail();
        long head = head();
        if (tail != 0 || head != 0) {
            throw new IOException("shared memory: a ring written up to " + tail + " and read up to " + head
                    + " (expected: one that is new)");
        }
    }

    // Sleep

    /** Sets whether the reader is about to sleep. Its next accesses follow this in the order seen by all sides. */
    void readerSleeps(boolean sleeps) {
        LONG.setVolatile(memory, READER_SLEEPS, sleeps ? 1L : 0L);
        VarHandle.fullFence();
    }

    /** Sets whether the writer is about to sleep. */
    void writerSleeps(boolean sleeps) {
        LONG.setVolatile(memory, WRITER_SLEEPS, sleeps ? 1L : 0L);
        VarHandle.fullFence();
    }

    /** Returns whether the reader sleeps and must be woken by the caller, and by no other thread. */
    boolean takeSleepingReader() {
        return takeSleeping(READER_SLEEPS);
    }

    /** Returns whether the writer sleeps and must be woken by the caller, and by no other thread. */
    boolean takeSleepingWriter() {
        return takeSleeping(WRITER_SLEEPS);
    }

    /**
     * Clears the sleep state, and returns whether it was set. The fence is between the publication of a position and
     * the check of the other side's sleep state. The other side has a fence between announcing its sleep and its last
     * check of the position. At least one side therefore sees the other's write, so it is impossible that this side
     * sees no sleeper while the other side sees no new position.
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
