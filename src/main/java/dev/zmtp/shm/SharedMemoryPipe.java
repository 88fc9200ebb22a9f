package dev.zmtp.shm;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Ring of bytes in a mapped file, with a single writing thread in one process and a single reading thread in any
 * process. Neither thread blocks. The programs have to exchange the file's path and wake waiting threads.
 * {@link SharedMemoryChannel} does both. Close each pipe on both sides to unmap its memory.
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
     * Creates a pipe in a new file, which only the user of this process can open.
     *
     * @param capacity capacity in bytes, a power of two from 4 KiB to 256 MiB
     * @throws IOException if the file exists, or there is no memory for it
     */
    public static SharedMemoryPipe create(Path file, int capacity) throws IOException {
        SharedFile created = SharedFile.create(file, 1, Ring.checkCapacity(capacity));
        created.release(); // its name is the program's
        return new SharedMemoryPipe(created);
    }

    /**
     * Opens an unused pipe that another process of the same user, or of the superuser, has created.
     *
     * @throws IOException if the file does not exist, is not that of a new pipe of {@code capacity} bytes, or can be
     *     opened by another user
     */
    public static SharedMemoryPipe open(Path file, int capacity) throws IOException {
        return new SharedMemoryPipe(SharedFile.open(file, 1, Ring.checkCapacity(capacity)));
    }

    /** Returns the writer, for the writing side. */
    public SharedMemoryWriter writer() {
        return writer;
    }

    /** Returns the reader, for the reading side. */
    public SharedMemoryReader reader() {
        return reader;
    }

    /** Removes the name of the file. Call this when both sides have opened the file. */
    public void unlink() throws IOException {
        file.unlink();
    }

    /**
     * Unmaps the memory. Must be called when no thread uses an end of this pipe any more, because an access during the
     * call can crash the process. Later accesses fail with an {@code IndexOutOfBoundsException}.
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
