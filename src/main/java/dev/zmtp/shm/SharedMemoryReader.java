package dev.zmtp.shm;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The end of a ring of bytes that reads. Never blocks. For one thread at a time.
 *
 * <p>If the other side cuts the file short, what has used the memory fails with an {@code IOException}, but for a look
 * that finds nothing new: {@link #beforeSleep} fails after it.
 */
public final class SharedMemoryReader {

    private final Ring ring;

    /** What was read. */
    private long read;

    /** What may be read, as far as this side has looked. */
    private long written;

    SharedMemoryReader(Ring ring) {
        this.ring = ring;
    }

    /**
     * Returns how many bytes can be read now.
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
     * Whether {@link #available} is not 0, for a caller that runs no code of others before {@link #release}: that
     * reports a fault of this look.
     */
    boolean hasMore() throws IOException {
        if (written == read) {
            written = look();
        }
        return written != read;
    }

    /** Fails if what was read is not what was written, as the memory is not there. */
    void check() throws IOException {
        MemoryFault.check();
    }

    /**
     * Reads as many bytes as there are, and as {@code target} has remaining, and moves its position past them.
     *
     * @return how many these were; 0 if there are none
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public int read(ByteBuffer target) throws IOException {
        int length = take(target);
        if (length > 0) {
            check();
        }
        return length;
    }

    /** Reads as {@link #read} does, for a caller that releases at once: what it gets may be anything until then. */
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

    /** Passes over what can be read. */
    void skip() throws IOException {
        read += available();
    }

    /**
     * Makes room for the writer: what was read may be overwritten.
     *
     * @return whether the writer sleeps, and is now to be woken; if so it is for the caller to do, once
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
     * Says that this side is about to sleep until there is more to read, and looks once more.
     *
     * @return whether it may sleep; otherwise there is more by now
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
