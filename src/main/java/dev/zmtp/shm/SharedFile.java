package dev.zmtp.shm;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A file that two processes have mapped: one {@link Ring} after the other, all of the same capacity. Only its owner may
 * open it.
 */
final class SharedFile implements AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(SharedFile.class);

    private static final Path MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "netty-zmtp-";

    /** No other process has the same, not even one of another container; a secret it is not. */
    private static final String NAME = ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime()) + "-";

    private static final AtomicLong COUNTER = new AtomicLong();

    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /** How much is written at a time, so that the file has all of its memory. */
    private static final int CHUNK = 64 << 10;

    /** A file has a name as long as a meeting takes. One that is older is of a server that was killed. */
    private static final Duration STALE = Duration.ofMinutes(1);

    private final Path path;
    private final Mapping mapping;
    private final int capacity;

    private SharedFile(Path path, Mapping mapping, int capacity) {
        this.path = path;
        this.mapping = mapping;
        this.capacity = capacity;
    }

    private static long size(int rings, int capacity) {
        return (long) rings * Ring.size(Ring.checkCapacity(capacity));
    }

    private static Path directory() {
        return Files.isWritable(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
    }

    /** Removes what servers left that were killed during a meeting, if they were this user's. */
    static void removeStale() {
        Instant limit = Instant.now().minus(STALE);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory(), PREFIX + "*")) {
            for (Path file : files) {
                if (Files.getLastModifiedTime(file).toInstant().isBefore(limit)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            logger.debug("shared memory: old files stay", e); // another user's, or another process was faster
        }
    }

    /** Returns the path of a new file where memory is, or at least where files are temporary. */
    static Path newPath() {
        return directory().resolve(PREFIX + NAME + COUNTER.incrementAndGet());
    }

    /** Creates a file at {@code path}. */
    static SharedFile create(Path path, int rings, int capacity, Mapping.Lifetime lifetime) throws IOException {
        long size = size(rings, capacity);
        Set<StandardOpenOption> options =
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try (FileChannel file = FileChannel.open(path, options, OWNER_ONLY)) {
            try {
                fill(file, size);
                return new SharedFile(path, Mapping.of(file, size, lifetime), capacity);
            } catch (Throwable e) {
                Files.deleteIfExists(path);
                throw e;
            }
        }
    }

    /** Writes zeros. A file with holes would find out that there is no memory for them when the ring is used. */
    private static void fill(FileChannel file, long size) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(CHUNK, size));
        for (long left = size; left > 0; left -= zeros.limit()) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), left));
            while (zeros.hasRemaining()) {
                file.write(zeros);
            }
        }
    }

    /** Checks a path that the other side has chosen, so that this one does not write to a file of any other kind. */
    static Path checkName(Path path) {
        Path name = path.getFileName();
        if (name == null || !name.toString().startsWith(PREFIX)) {
            throw new IllegalArgumentException("file: " + path + " (expected: a name that begins with " + PREFIX + ")");
        }
        return path;
    }

    /** Opens the file of another process, which must have exactly these rings. */
    static SharedFile open(Path path, int rings, int capacity, Mapping.Lifetime lifetime) throws IOException {
        long size = size(rings, capacity);
        Set<OpenOption> options = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("shared memory: " + path + " is not there (expected: a file)");
        }
        try (FileChannel file = FileChannel.open(path, options)) {
            if (file.size() != size) {
                throw new IOException(
                        "shared memory: " + path + " of " + file.size() + " bytes (expected: " + size + ")");
            }
            return new SharedFile(path, Mapping.of(file, size, lifetime), capacity);
        }
    }

    Path path() {
        return path;
    }

    int capacity() {
        return capacity;
    }

    /** The ring with this number, from 0. */
    Ring ring(int number) {
        int size = Ring.size(capacity);
        return new Ring(mapping.memory().slice(number * size, size).order(ByteOrder.nativeOrder()));
    }

    /** Removes the file's name: both sides have it. What is mapped stays. */
    void unlink() throws IOException {
        Files.deleteIfExists(path);
    }

    /** Gives the memory back, unless the collector does. No thread may use a ring of it any more. */
    @Override
    public void close() {
        try {
            MemoryFault.check(); // or the Cleaner would meet it
        } catch (IOException e) {
            logger.debug("shared memory: closed after a fault", e);
        } finally {
            mapping.close();
        }
    }
}
