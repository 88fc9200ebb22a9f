package dev.zmtp.shm;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Reading end of a ring of bytes. Never blocks. For one thread at a time.
 *
 * <p>If the other side truncates the file, methods that access the memory throw an {@code IOException}. A check that
 * finds no new data does not notice the truncation, but the next {@link #beforeSleep} fails.
 */
public final class SharedMemoryReader {

    private final Ring ring;

    /** Position up to which data was read. */
    private long read;

    /** Last observed position of the writer. */
    private long written;

    SharedMemoryReader(Ring ring) {
        this.ring = ring;
    }

    /**
     * Returns the number of bytes that can be read now.
     *
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public int available() throws IOException {
        if (written == read) {
            written = look();
            if (written != read) {
                MemoryFault.check(); // before the caller makes room for it, by code that knows nothing of faults
            }
        }
        return (int) (written - read);
    }

    private long look() throws IOException {
        try {
            return Ring.check("writer", ring.tail(), written, read + ring.capacity());
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        } catch (IOException e) {
            MemoryFault.check(); // what was read there was anything
            throw e;
        }
    }

    /**
     * Returns whether {@link #available} is not 0. For callers that run no foreign code before {@link #release}, which
     * reports a fault of this check.
     */
    boolean hasMore() throws IOException {
        if (written == read) {
            written = look();
        }
        return written != read;
    }

    /** Fails if the memory is missing, so that the data read is not the data written. */
    void check() throws IOException {
        MemoryFault.check();
    }

    /**
     * Reads as many bytes as are available and fit into {@code target}, and moves its position past them.
     *
     * @return number of bytes read; 0 if none are available
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public int read(ByteBuffer target) throws IOException {
        int length = take(target);
        if (length > 0) {
            check();
        }
        return length;
    }

    /** Like {@link #read}, for a caller that releases at once. The data is unverified until then. */
    int take(ByteBuffer target) throws IOException {
        int length = Math.min(target.remaining(), available());
        int position = target.position();
        try {
            ring.get(read, target, position, length);
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
        target.position(position + length);
        read += length;
        return length;
    }

    /** Skips all readable data. */
    void skip() throws IOException {
        read += available();
    }

    /**
     * Frees the space of read data, which the writer can then overwrite.
     *
     * @return whether the writer sleeps and must now be woken once, by the caller
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public boolean release() throws IOException {
        try {
            ring.publishHead(read);
            boolean sleeps = ring.takeSleepingWriter();
            check();
            return sleeps;
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
    }

    /**
     * Announces that this side is about to sleep until there is more to read, and checks once more.
     *
     * @return whether it can sleep; otherwise more data is available
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public boolean beforeSleep() throws IOException {
        try {
            ring.readerSleeps(true);
            boolean sleeps = available() == 0;
            if (!sleeps) {
                ring.readerSleeps(false);
            }
            MemoryFault.check();
            return sleeps;
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
    }
}
