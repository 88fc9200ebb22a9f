package dev.zmtp.shm;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * File that two processes have mapped, with a {@link FileHeader} followed by {@link Ring}s of the same capacity. Only
 * its owner can open it.
 */
final class SharedFile implements AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(SharedFile.class);

    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /** Number of zeros written at a time to allocate the file's memory. */
    private static final int CHUNK = 64 << 10;

    private final Path path;
    private final FileHeader header;
    private final Mapping mapping;

    /** Lock of the file for the side that has created it. */
    private final Closeable hold;

    private SharedFile(Path path, FileHeader header, Mapping mapping, Closeable hold) {
        this.path = path;
        this.header = header;
        this.mapping = mapping;
        this.hold = hold;
    }

    /** Creates and locks a file at {@code path}. */
    static SharedFile create(Path path, int rings, int capacity) throws IOException {
        FileHeader header = FileHeader.of(rings, capacity);
        Set<StandardOpenOption> options =
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileChannel file = FileChannel.open(path, options, OWNER_ONLY);
        try {
            FileHold hold = FileHold.of(path, file);
            fill(file, header.fileSize());
            Mapping mapping = Mapping.of(file, header.fileSize());
            header.write(mapping.memory());
            return new SharedFile(path, header, mapping, hold);
        } catch (Throwable e) {
            FileHold.forget(path);
            try (file) {
                Files.deleteIfExists(path);
            } catch (IOException another) {
                e.addSuppressed(another);
            }
            throw e;
        }
    }

    /** Writes zeros. If a file had holes, a lack of memory for them would only be detected when the ring is used. */
    private static void fill(FileChannel file, long size) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(CHUNK, size));
        for (long left = size; left > 0; left -= zeros.limit()) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), left));
            while (zeros.hasRemaining()) {
                file.write(zeros);
            }
        }
    }

    /** Opens the file of another process, which must have exactly these rings, all of them unused. */
    static SharedFile open(Path path, int rings, int capacity) throws IOException {
        long size = FileHeader.fileSize(rings, capacity);
        Set<OpenOption> options = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        FileIdentity identity = FileIdentity.of(path);
        identity.check(path, FileIdentity.ownUid());
        try (FileChannel file = FileChannel.open(path, options)) {
            identity.checkStill(path);
            if (file.size() != size) {
                throw new IOException(
                        "shared memory: " + path + " of " + file.size() + " bytes (expected: " + size + ")");
            }
            return checked(path, rings, capacity, Mapping.of(file, size));
        }
    }

    private static SharedFile checked(Path path, int rings, int capacity, Mapping mapping) throws IOException {
        try {
            FileHeader header = FileHeader.read(mapping.memory(), rings, capacity);
            SharedFile file = new SharedFile(path, header, mapping, () -> {});
            for (int i = 0; i < rings; i++) {
                file.ring(i).checkUnused();
            }
            MemoryFault.check();
            return file;
        } catch (IOException | InternalError e) {
            Throwable cause = MemoryFault.causeOf(e);
            mapping.close();
            throw cause instanceof IOException known ? known : new IOException(cause);
        } catch (Throwable e) {
            mapping.close();
            throw e;
        }
    }

    Path path() {
        return path;
    }

    FileHeader header() {
        return header;
    }

    /** Returns the ring with this number, counted from 0. */
    Ring ring(int number) {
        int size = Ring.size(header.capacity());
        ByteBuffer memory = mapping.memory().slice(FileHeader.SIZE + number * size, size);
        return new Ring(memory.order(ByteOrder.nativeOrder()));
    }

    /** Unlocks the file, which others can then remove by its name. */
    void release() throws IOException {
        hold.close();
    }

    /** Removes the file's name when both sides have the file, or neither needs it. Existing mappings remain. */
    void unlink() throws IOException {
        try (hold) {
            Files.deleteIfExists(path);
        }
    }

    /**
     * Removes the file's name, if possible. A failure is only logged, because another user can have created a file of
     * this name after the other side removed it.
     */
    void removeName() {
        try {
            unlink();
        } catch (IOException e) {
            logger.debug("shared memory: {} stays", path, e);
        }
    }

    /** Removes the name and unmaps the memory of a file that no other side has. */
    void discard() {
        try {
            removeName();
        } finally {
            close();
        }
    }

    /** Unmaps the memory, unless the collector does. No thread may use its rings any more. */
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
