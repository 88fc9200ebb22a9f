package dev.zmtp.internal.transport;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The file of a Unix domain socket without a listener. Another process can remove it, and bind to its path, at any
 * time.
 *
 * @param key distinguishes it from other files that exist at the same time
 * @param made the time when the socket was bound, because file systems reuse the keys of deleted files
 */
record StaleSocket(Path path, @Nullable Object key, FileTime made) {

    /** Bits of a file's mode that contain its type, and their value for a socket. */
    private static final int FILE_TYPE = 0170000;

    private static final int SOCKET = 0140000;

    /**
     * Returns the socket at the path; null if there is no file.
     *
     * @throws BindException if it is in use, or not a socket
     */
    static @Nullable StaleSocket at(Path path) throws IOException {
        BasicFileAttributes found;
        try {
            found = read(path);
        } catch (NoSuchFileException e) {
            return null;
        }
        if (!isSocket(path, found)) {
            throw new BindException(path + ": not a socket (expected: no file, or the file of a socket)");
        }
        if (isInUse(path)) {
            throw inUse(path);
        }
        return new StaleSocket(path, found.fileKey(), found.lastModifiedTime());
    }

    /**
     * Pipes and devices are not regular files either. Windows does not report the type, but has neither of them in a
     * file system.
     */
    static boolean isSocket(Path path, BasicFileAttributes found) throws IOException {
        try {
            Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return mode instanceof Integer bits && (bits & FILE_TYPE) == SOCKET;
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            return found.isOther() && !found.isDirectory(); // a directory that is a link is both
        }
    }

    private static BasicFileAttributes read(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private boolean is(BasicFileAttributes file) {
        return Objects.equals(key, file.fileKey()) && made.equals(file.lastModifiedTime());
    }

    private static BindException inUse(Path path) {
        return new BindException(path + ": the socket is in use");
    }

    private static boolean isInUse(Path path) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.configureBlocking(false); // the queue of a listener might be full
            probe.connect(UnixDomainSocketAddress.of(path));
            return true;
        } catch (ConnectException e) {
            return false; // refused, so there is no listener
        } catch (IOException e) {
            return Files.exists(path, LinkOption.NOFOLLOW_LINKS); // connecting is not permitted, or it is not a stream
        }
    }

    /** Returns a path in the same directory that most likely has no file. */
    static Path sideName(Path file) {
        return file.resolveSibling(
                ".zmtp" + Integer.toHexString(ThreadLocalRandom.current().nextInt()));
    }

    /**
     * Removes the file.
     *
     * @throws BindException if another process was faster, and has bound to the path
     */
    void remove() throws IOException {
        Path aside = sideName(path);
        try {
            Files.move(path, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            return; // another process has removed it
        }
        // Only now, because no other process replaces it there.
        if (is(read(aside))) {
            Files.deleteIfExists(aside);
        } else {
            Files.move(aside, path);
            throw inUse(path);
        }
    }
}
