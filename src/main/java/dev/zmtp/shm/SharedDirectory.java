package dev.zmtp.shm;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** A directory where servers create files, under names that nobody can foresee. Not for event loops: it may block. */
final class SharedDirectory {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(SharedDirectory.class);

    private static final Path MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "netty-zmtp-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{32}");

    /** Of names. That one of 128 random bits is taken is somebody's doing. */
    static final int ATTEMPTS = 4;

    /** A file that is younger may not be locked yet. */
    private static final Duration FRESH = Duration.ofMinutes(1);

    private final Path path;
    private final Supplier<String> names;

    /** The directory at {@code path}, whose files get these names. */
    SharedDirectory(Path path, Supplier<String> names) {
        this.path = path.toAbsolutePath();
        this.names = names;
    }

    /** The directory where memory is, or at least where files are temporary. */
    static SharedDirectory standard() {
        Path path = Files.isWritable(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        return new SharedDirectory(path, SharedDirectory::newName);
    }

    static String newName() {
        return PREFIX + HexFormat.of().formatHex(RandomBytes.next());
    }

    /** Checks a path that the other side has chosen, so that this one does not write to a file of any other kind. */
    static Path checkName(Path path) {
        Path name = path.getFileName();
        if (name == null || !NAME.matcher(name.toString()).matches()) {
            throw new IllegalArgumentException(
                    "file: " + path + " (expected: a name of " + PREFIX + " and 32 hexadecimal digits)");
        }
        return path;
    }

    /** Creates a file, and holds it. */
    SharedFile create(int rings, int capacity) throws IOException {
        Path file = path;
        for (int i = 0; i < ATTEMPTS; i++) {
            file = path.resolve(names.get());
            try {
                return SharedFile.create(file, rings, capacity);
            } catch (FileAlreadyExistsException e) {
                logger.debug("shared memory: another name than {}", file, e);
            } catch (IOException e) {
                throw new IOException(
                        "shared memory: " + FileHeader.fileSize(rings, capacity) + " bytes in " + path + ": " + e, e);
            }
        }
        throw new IOException(
                "shared memory: " + file + " is there, as are " + (ATTEMPTS - 1) + " others (expected: a new name)");
    }

    /** Removes what servers left that were killed during a meeting, if they were this user's. */
    void removeStale() {
        Instant limit = Instant.now().minus(FRESH);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, PREFIX + "*")) {
            int user = FileIdentity.ownUid();
            for (Path file : files) {
                removeIfStale(file, user, limit);
            }
        } catch (IOException | DirectoryIteratorException e) {
            logger.debug("shared memory: old files stay", e);
        }
    }

    private static void removeIfStale(Path file, int user, Instant limit) {
        try {
            if (NAME.matcher(file.getFileName().toString()).matches()
                    && FileIdentity.of(file).isOf(user)
                    && Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)
                            .toInstant()
                            .isBefore(limit)) {
                FileHold.removeUnlessHeld(file);
            }
        } catch (IOException e) {
            logger.debug("shared memory: {} stays", file, e); // or another process was faster
        }
    }
}
