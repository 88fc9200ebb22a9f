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

/** Directory in which servers create files, under unpredictable names. Not for event loops, because it can block. */
final class SharedDirectory {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(SharedDirectory.class);

    private static final Path MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "netty-zmtp-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{32}");

    /** Maximum number of names to try. A collision of 128 random bits is deliberate. */
    static final int ATTEMPTS = 4;

    /** Minimum age of a file to remove. A younger file is possibly not locked yet. */
    private static final Duration FRESH = Duration.ofMinutes(1);

    private final Path path;
    private final Supplier<String> names;

    /** Creates a directory at {@code path}, whose files get these names. */
    SharedDirectory(Path path, Supplier<String> names) {
        this.path = path.toAbsolutePath();
        this.names = names;
    }

    /** Returns the directory for shared memory, or if there is none the directory for temporary files. */
    static SharedDirectory standard() {
        Path path = Files.isWritable(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        return new SharedDirectory(path, SharedDirectory::newName);
    }

    static String newName() {
        return PREFIX + HexFormat.of().formatHex(RandomBytes.next());
    }

    /** Checks a path chosen by the other side, so that this side does not write to any other kind of file. */
    static Path checkName(Path path) {
        Path name = path.getFileName();
        if (name == null || !NAME.matcher(name.toString()).matches()) {
            throw new IllegalArgumentException(
                    "file: " + path + " (expected: a name of " + PREFIX + " and 32 hexadecimal digits)");
        }
        return path;
    }

    /** Creates and locks a file. */
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
        throw new IOException("shared memory: " + file + " and " + (ATTEMPTS - 1) + " other names are in use");
    }

    /** Removes the files of this user's servers that were killed during a meeting. */
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
