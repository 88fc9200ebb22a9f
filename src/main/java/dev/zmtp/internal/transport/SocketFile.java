package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.BoundFile;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The path of a Unix domain socket, {@code *} for a new socket in its own directory, or {@code @} and an abstract name
 * of Linux. Before a bind, a socket without a listener is removed. A socket in use is retained, and so is a file of any
 * other kind. Our own file is removed after use.
 */
final class SocketFile implements Transport.Address {

    /** Maximum length of an address on Linux. Other systems have less room, and report it. */
    private static final int MAX_LENGTH = 107;

    /**
     * Maximum length of the name at which a file is bound first, which is that of the JDK's channels. A path must not
     * fail because of its other name.
     */
    private static final int MAX_SIDE_LENGTH = isLinux() ? 106 : 103;

    private final String text;
    private final boolean bind;
    private final Function<String, ? extends SocketAddress> addresses;

    private final @Nullable SocketAddress abstractAddress;

    /** Null for a new socket. */
    private final @Nullable Path given;

    private @Nullable Path path;

    /**
     * Path that the channel is bound to before its file gets the final path; null if it is bound to the final path
     * itself. A Netty channel deletes the file at its own path when it closes, even if another server has bound there
     * since.
     */
    private @Nullable Path bindsAt;

    private @Nullable Path temporary;
    private @Nullable BoundFile made;

    SocketFile(String text, boolean bind, Function<String, ? extends SocketAddress> addresses) {
        int length = text.getBytes(StandardCharsets.UTF_8).length;
        if (length > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "path: " + text + " of " + length + " bytes (expected: <= " + MAX_LENGTH + ")");
        }
        if (text.equals("@") || (isWild(text) && !bind)) {
            throw new IllegalArgumentException("path: " + text + " (expected: a path, or @ and a name)");
        }
        this.text = text;
        this.bind = bind;
        this.addresses = addresses;
        this.abstractAddress = isAbstract() ? abstractAddress() : null;
        this.given = isAbstract() || isWild(text) ? null : Path.of(text);
    }

    private SocketAddress abstractAddress() {
        try {
            return addresses.apply("\0" + text.substring(1));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(
                    "path: " + text + " (expected: a path, as this transport has no abstract names)", e);
        }
    }

    private static boolean isLinux() {
        return "linux".equals(PlatformDependent.normalizedOs());
    }

    private static boolean isWild(String text) {
        return text.startsWith("*");
    }

    private boolean isAbstract() {
        return text.startsWith("@");
    }

    @Override
    public Asks asks() {
        return bind && !isAbstract() ? Asks.FILES : Asks.NOTHING;
    }

    @Override
    public List<? extends SocketAddress> resolve() throws IOException {
        if (abstractAddress != null) {
            return List.of(abstractAddress);
        }
        Path file = given == null ? newFile() : given;
        if (bind) {
            StaleSocket stale = StaleSocket.at(file);
            if (stale != null) {
                stale.remove();
            }
        }
        path = file;
        bindsAt = bind ? beside(file) : null;
        return List.of(addresses.apply((bindsAt == null ? file : bindsAt).toString()));
    }

    /**
     * Returns a name in the same directory; null if that would be too long, or if our file could not be told from the
     * file of another server later, as on Windows. The channel then deletes its file itself.
     */
    static @Nullable Path beside(Path file) {
        Path other = StaleSocket.sideName(file);
        boolean fits = other.toString().getBytes(StandardCharsets.UTF_8).length <= MAX_SIDE_LENGTH;
        return fits && BoundFile.hasKeysBeside(file) ? other : null;
    }

    private Path newFile() throws IOException {
        temporary = Files.createTempDirectory("zmtp");
        return temporary.resolve("socket");
    }

    @Override
    public void checkPermissions(Set<PosixFilePermission> permissions) throws IOException {
        if (path == null) {
            throw new IOException(text + ": an abstract name (expected: a path, whose file has permissions)");
        }
        if (bindsAt == null) {
            throw new IOException(path + ": the file would have its path before its permissions (expected: a shorter"
                    + " path, on a file system with inode numbers)");
        }
    }

    @Override
    public void bound(@Nullable Set<PosixFilePermission> permissions) {
        if (path == null) {
            return;
        }
        if (permissions != null) { // first, so that the file never has its path with other permissions
            permit(Objects.requireNonNull(bindsAt), permissions);
        }
        if (bindsAt != null) {
            giveItsPath(bindsAt, path);
        }
        made = BoundFile.at(path);
    }

    private static void permit(Path file, Set<PosixFilePermission> permissions) {
        try {
            Files.setPosixFilePermissions(file, permissions);
        } catch (UnsupportedOperationException | IOException e) {
            String text = file + ": the permissions cannot be set: " + e.getMessage();
            throw new UncheckedIOException(new IOException(text, e));
        }
    }

    private static void giveItsPath(Path bindsAt, Path path) {
        try {
            try {
                Files.createLink(path, bindsAt);
                Files.delete(bindsAt);
            } catch (FileAlreadyExistsException e) {
                throw e;
            } catch (UnsupportedOperationException | IOException e) { // the only way without hard links
                Files.move(bindsAt, path); // which is not atomic
            }
        } catch (FileAlreadyExistsException e) {
            throw new UncheckedIOException(path + ": the socket is in use", e);
        } catch (IOException e) {
            throw new UncheckedIOException(path + ": the socket cannot have this path: " + e.getMessage(), e);
        }
    }

    @Override
    public void unbound() {
        try {
            if (made != null && made.key() != null) {
                made.delete();
            }
            if (temporary != null) {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            // The next bind to this path removes it.
        }
    }

    @Override
    public String boundTo(SocketAddress local) {
        return path == null ? text : path.toString();
    }

    @Override
    public String toString() {
        return text;
    }
}
