package dev.zmtp.shm;

import java.net.SocketAddress;
import java.nio.file.Path;

/**
 * The address of a {@link SharedMemoryChannel}: the path of a Unix domain socket, where the two sides meet. It is
 * bounded by the operating system, to 107 bytes on Linux.
 */
public final class SharedMemoryAddress extends SocketAddress {

    private static final long serialVersionUID = 1;

    private final String path;

    /** The address of a server whose socket is at {@code path}. */
    public SharedMemoryAddress(Path path) {
        this(path.toString());
    }

    /** The address of a server whose socket is at {@code path}. */
    public SharedMemoryAddress(String path) {
        if (path.isEmpty()) {
            throw new IllegalArgumentException("path: empty (expected: that of a Unix domain socket)");
        }
        this.path = path;
    }

    /** The path of the Unix domain socket. */
    public String path() {
        return path;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SharedMemoryAddress that && path.equals(that.path);
    }

    @Override
    public int hashCode() {
        return path.hashCode();
    }

    @Override
    public String toString() {
        return "shm:" + path;
    }
}
