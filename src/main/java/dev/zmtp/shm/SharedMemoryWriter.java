package dev.zmtp.shm;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Writing end of a ring of bytes. Never blocks. For one thread at a time.
 *
 * <p>If the other side truncates the file, methods that access the memory throw an {@code IOException}. A check that
 * finds no room does not notice the truncation, but the next {@link #beforeSleep} fails.
 *
 * <p>Written data is visible to the reader after the next {@link #flush}. Flush before waiting for room, because the
 * reader does not read data that is not visible to it.
 */
public final class SharedMemoryWriter {

    private final Ring ring;

    /** Position up to which data is written, and the part of it that is visible to the reader. */
    private long written;

    private long published;

    /** Last observed position of the reader. */
    private long read;

    SharedMemoryWriter(Ring ring) {
        this.ring = ring;
    }

    /** Returns the maximum number of bytes that are written and not read. */
    public int capacity() {
        return ring.capacity();
    }

    /**
     * Writes as many of the remaining bytes of {@code source} as fit, and moves its position past them.
     *
     * @return number of bytes written; 0 if the ring is full
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public int write(ByteBuffer source) throws IOException {
        int length = put(source);
        if (length > 0) {
            MemoryFault.check();
        }
        return length;
    }

    /** Like {@link #write}, for a caller that flushes at once, which fails if the memory is missing. */
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

    /** Returns the room in the ring. Checks the reader's position only if there is less room than {@code wanted}. */
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
     * Makes written data visible to the reader.
     *
     * @return whether the reader sleeps and must now be woken once, by the caller
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
     * Announces that this side, which has flushed, is about to sleep until there is room, and checks once more.
     *
     * @return whether it can sleep; otherwise room is available
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
