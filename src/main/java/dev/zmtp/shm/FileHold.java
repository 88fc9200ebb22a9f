package dev.zmtp.shm;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lock on a file while its server waits for the client. The operating system releases the lock of a killed process, so
 * a file that can be locked is not in use.
 */
final class FileHold implements Closeable {

    /** Locked files of this process, which would lose its lock if it opened and closed such a file again. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private static final Set<OpenOption> OPTIONS = Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

    private final Path path;
    private final FileChannel file;

    private FileHold(Path path, FileChannel file) {
        this.path = path;
        this.file = file;
    }

    /** Locks a file until this object is closed, which also closes {@code file}. */
    static FileHold of(Path path, FileChannel file) throws IOException {
        if (file.tryLock() == null) {
            throw new IOException("shared memory: " + path + " is locked by another process");
        }
        HELD.add(path);
        return new FileHold(path, file);
    }

    /** Removes a file, unless it is locked. */
    static void removeUnlessHeld(Path path) throws IOException {
        if (HELD.contains(path)) {
            return;
        }
        try (FileChannel file = FileChannel.open(path, OPTIONS)) {
            if (file.tryLock() != null) {
                Files.deleteIfExists(path);
            }
        } catch (OverlappingFileLockException e) {
            // Held by this process, though by classes of another class loader.
        }
    }

    /** Removes a file that could not be created from the locked files. */
    static void forget(Path path) {
        HELD.remove(path);
    }

    @Override
    public void close() throws IOException {
        try (file) {
            forget(path);
        }
    }
}
