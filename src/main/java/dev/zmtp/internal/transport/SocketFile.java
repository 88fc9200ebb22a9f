package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.BoundFile;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The path of a Unix domain socket, {@code *} for a new one in its own directory, or {@code @} and an abstract name of
 * Linux. Before a bind, a socket that nothing listens on is removed. A socket in use stays, and so does a file of any
 * other kind. Our own file is removed after use.
 */
final class SocketFile implements Transport.Address {

    /** What fits into an address of Linux. Other systems have less room, and report it. */
    private static final int MAX_LENGTH = 107;

    private final String text;
    private final boolean bind;
    private final Function<String, ? extends SocketAddress> addresses;

    private final @Nullable SocketAddress abstractAddress;

    /** Null for a new one. */
    private final @Nullable Path given;

    private @Nullable Path path;
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

    private static boolean isWild(String text) {
        return text.startsWith("*");
    }

    private boolean isAbstract() {
        return text.startsWith("@");
    }

    @Override
    public boolean mayBlock() {
        return bind && !isAbstract();
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
        return List.of(addresses.apply(file.toString()));
    }

    private Path newFile() throws IOException {
        temporary = Files.createTempDirectory("zmtp");
        return temporary.resolve("socket");
    }

    @Override
    public void bound() {
        made = path == null ? null : BoundFile.at(path);
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
