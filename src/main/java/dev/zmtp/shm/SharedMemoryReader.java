package dev.zmtp.shm;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The end of a ring of bytes that reads. Never blocks, and allocates nothing. For one thread at a time. */
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
            written = Ring.check("writer", ring.tail(), written, read + ring.capacity());
        }
        return (int) (written - read);
    }

    /**
     * Reads as many bytes as there are, and as {@code target} has remaining, and moves its position past them.
     *
     * @return how many these were; 0 if there are none
     * @throws IOException if the other side has broken the ring, which cannot be used any more
     */
    public int read(ByteBuffer target) throws IOException {
        int length = Math.min(target.remaining(), available());
        int position = target.position();
        ring.get(read, target, position, length);
        target.position(position + length);
        read += length;
        return length;
    }

    /**
     * Makes room for the writer: what was read may be overwritten.
     *
     * @return whether the writer sleeps, and is now to be woken; if so it is for the caller to do, once
     */
    public boolean release() {
        ring.publishHead(read);
        return ring.takeSleepingWriter();
    }

    /**
     * Says that this side is about to sleep until there is more to read, and looks once more.
     *
     * @return whether it may sleep; otherwise there is more by now
     */
    public boolean beforeSleep() throws IOException {
        ring.readerSleeps(true);
        if (available() == 0) {
            return true;
        }
        ring.readerSleeps(false);
        return false;
    }
}
