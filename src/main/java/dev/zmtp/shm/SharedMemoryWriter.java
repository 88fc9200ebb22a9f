package dev.zmtp.shm;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The end of a ring of bytes that writes. Never blocks. For one thread at a time.
 *
 * <p>If the other side cuts the file short, what has used the memory fails with an {@code IOException}, but for a look
 * that finds no room: {@link #beforeSleep} fails after it.
 *
 * <p>The reader sees what was written after the next {@link #flush}. That must come before a wait for room: what the
 * reader does not see, it does not read.
 */
public final class SharedMemoryWriter {

    private final Ring ring;

    /** What is written and what of it the reader knows. */
    private long written;

    private long published;

    /** What the reader has read, as far as this side has looked. */
    private long read;

    SharedMemoryWriter(Ring ring) {
        this.ring = ring;
    }

    /** The most bytes that are written and not read. */
    public int capacity() {
        return ring.capacity();
    }

    /**
     * Writes as many of the remaining bytes of {@code source} as there is room for, and moves its position past them.
     *
     * @return how many these were; 0 if the ring is full
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public int write(ByteBuffer source) throws IOException {
        int length = put(source);
        if (length > 0) {
            MemoryFault.check();
        }
        return length;
    }

    /** Writes as {@link #write} does, for a caller that flushes at once, which fails if the memory is not there. */
    int put(ByteBuffer source) throws IOException {
        int wanted = source.remaining();
        int length = (int) Math.min(wanted, room(wanted));
        int position = source.position();
        try {
            ring.put(written, source, position, length);
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
        source.position(position + length);
        written += length;
        return length;
    }

    /**
     * Returns whether anything can be written now.
     *
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public boolean hasRoom() throws IOException {
        return room(1) > 0;
    }

    /** Returns the room in the ring; looks at what was read meanwhile only if there is less than {@code wanted}. */
    private long room(int wanted) throws IOException {
        long room = ring.capacity() - (written - read);
        if (room >= wanted) {
            return room;
        }
        read = look();
        return ring.capacity() - (written - read);
    }

    private long look() throws IOException {
        try {
            return Ring.check("reader", ring.head(), read, published);
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        } catch (IOException e) {
            MemoryFault.check(); // what was read there was anything
            throw e;
        }
    }

    /**
     * Lets the reader see what was written.
     *
     * @return whether the reader sleeps, and is now to be woken; if so it is for the caller to do, once
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public boolean flush() throws IOException {
        try {
            if (published != written) {
                published = written;
                ring.publishTail(written);
            }
            boolean sleeps = ring.takeSleepingReader();
            MemoryFault.check();
            return sleeps;
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
    }

    /**
     * Says that this side, which has flushed, is about to sleep until there is room, and looks once more.
     *
     * @return whether it may sleep; otherwise there is room by now
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public boolean beforeSleep() throws IOException {
        try {
            ring.writerSleeps(true);
            boolean sleeps = !hasRoom();
            if (!sleeps) {
                ring.writerSleeps(false);
            }
            MemoryFault.check();
            return sleeps;
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
    }
}
