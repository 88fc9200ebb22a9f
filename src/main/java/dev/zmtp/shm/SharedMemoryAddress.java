package dev.zmtp.shm;

import java.net.SocketAddress;
import java.nio.file.Path;

/**
 * Address of a {@link SharedMemoryChannel}, which is the path of the Unix domain socket at which the two sides meet.
 * Its length is limited by the operating system, to 107 bytes on Linux.
 */
public final class SharedMemoryAddress extends SocketAddress {

    private static final long serialVersionUID = 1;

    private final String path;

    /** Creates the address of a server whose socket is at {@code path}. */
    public SharedMemoryAddress(Path path) {
        this(path.toString());
    }

    /** Creates the address of a server whose socket is at {@code path}. */
    public SharedMemoryAddress(String path) {
        if (path.isEmpty()) {
            throw new IllegalArgumentException("path: empty (expected: that of a Unix domain socket)");
        }
        this.path = path;
    }

    /** Returns the path of the Unix domain socket. */
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
