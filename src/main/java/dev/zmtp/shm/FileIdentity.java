package dev.zmtp.shm;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identity of the file at a path and its owner, with the file key, the numeric owner id, and the mode with the file
 * type. The ids are numeric, because resolving a name could query the network.
 */
record FileIdentity(Object key, int uid, int mode) {

    /** Mode of a regular file that only its owner can read and write. */
    private static final int OWNERS_FILE = 0100600;

    private static final int ROOT = 0;
    private static final int UNKNOWN = -1;
    private static final Path STATUS = Path.of("/proc/self/status");

    /** Real, effective and saved user, and the user that owns new files. */
    private static final Pattern UID = Pattern.compile("^Uid:\\s+\\d+\\s+\\d+\\s+\\d+\\s+(\\d+)$", Pattern.MULTILINE);

    private static volatile int ownUid = UNKNOWN;

    static FileIdentity of(Path path) throws IOException {
        try {
            Map<String, Object> is = Files.readAttributes(path, "unix:fileKey,uid,mode", LinkOption.NOFOLLOW_LINKS);
            return new FileIdentity(requireNonNull(is.get("fileKey")), (int) requireNonNull(is.get("uid")), (int)
                    requireNonNull(is.get("mode")));
        } catch (NoSuchFileException e) {
            throw new IOException("shared memory: " + path + " does not exist", e);
        }
    }

    /** Returns whether it is a file that only {@code user} can access. */
    boolean isOf(int user) {
        return uid == user && mode == OWNERS_FILE;
    }

    /**
     * Checks that only {@code user} and the superuser can access the file, because other users with access could
     * truncate it.
     */
    void check(Path path, int user) throws IOException {
        if (!isOf(user) && !isOf(ROOT)) {
            throw new IOException("shared memory: " + path + ": owner " + Integer.toUnsignedString(uid) + ", mode "
                    + Integer.toOctalString(mode) + " (expected: owner " + Integer.toUnsignedString(user)
                    + " or 0, mode " + Integer.toOctalString(OWNERS_FILE) + ")");
        }
    }

    /** Checks that {@code path} still refers to the same file. */
    void checkStill(Path path) throws IOException {
        if (!equals(of(path))) {
            throw new IOException("shared memory: " + path + " was replaced by another file");
        }
    }

    /** Returns the user ID of this process. */
    static int ownUid() throws IOException {
        if (ownUid == UNKNOWN) {
            ownUid = Files.isReadable(STATUS) ? uidIn(Files.readString(STATUS)) : uidOfNewFile();
        }
        return ownUid;
    }

    /**
     * Parses the user ID from the process status. The owner of {@code /proc/self} is not used, because it is root if
     * the program has capabilities.
     */
    private static int uidIn(String status) throws IOException {
        Matcher uid = UID.matcher(status);
        if (!uid.find()) {
            throw new IOException("shared memory: " + STATUS + " without a Uid (expected: one)");
        }
        return Integer.parseUnsignedInt(uid.group(1));
    }

    private static int uidOfNewFile() throws IOException {
        Path file = Files.createTempFile("netty-zmtp", null);
        try {
            return of(file).uid;
        } finally {
            Files.delete(file);
        }
    }
}
