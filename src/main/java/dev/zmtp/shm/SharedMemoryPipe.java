package dev.zmtp.shm;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A ring of bytes in a file that is mapped: one thread of one process writes, and one of any process reads. Neither
 * blocks. How the two find out about the file, and how one that waits is woken, is for their programs;
 * {@link SharedMemoryChannel} does both. Close each pipe, on both sides: that gives its memory back.
 */
public final class SharedMemoryPipe implements Closeable {

    private final SharedFile file;
    private final Ring ring;
    private final SharedMemoryReader reader;
    private final SharedMemoryWriter writer;
    private boolean closed;

    private SharedMemoryPipe(SharedFile file) {
        this.file = file;
        this.ring = file.ring(0);
        this.reader = new SharedMemoryReader(ring);
        this.writer = new SharedMemoryWriter(ring);
    }

    /**
     * Creates a pipe in a new file, which only the user of this process may open.
     *
     * @param capacity how many bytes fit: a power of two, 4 KiB to 256 MiB
     * @throws IOException if the file is there, or there is no memory for it
     */
    public static SharedMemoryPipe create(Path file, int capacity) throws IOException {
        SharedFile created = SharedFile.create(file, 1, Ring.checkCapacity(capacity));
        created.release(); // its name is the program's
        return new SharedMemoryPipe(created);
    }

    /**
     * Opens the pipe that another process of the same user, or of the superuser, has created, and that neither has used
     * yet.
     *
     * @throws IOException if the file is not there, is not that of a new pipe of {@code capacity} bytes, or may be
     *     opened by somebody else
     */
    public static SharedMemoryPipe open(Path file, int capacity) throws IOException {
        return new SharedMemoryPipe(SharedFile.open(file, 1, Ring.checkCapacity(capacity)));
    }

    /** The end to write to, for the side that writes. */
    public SharedMemoryWriter writer() {
        return writer;
    }

    /** The end to read from, for the side that reads. */
    public SharedMemoryReader reader() {
        return reader;
    }

    /** Removes the name of the file, when both sides have opened it. */
    public void unlink() throws IOException {
        file.unlink();
    }

    /**
     * Gives the memory back. To be called when no thread uses an end of this pipe any more: one that does while it is
     * closed may end the process. What uses one afterwards fails with an {@code IndexOutOfBoundsException}.
     */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            ring.close();
            file.close();
        }
    }
}
