package dev.zmtp.shm;

import dev.zmtp.internal.runtime.BoundFile;
import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Server for threads that may block. It accepts {@link SharedMemorySocket}s from other sockets of this class and from
 * {@link SharedMemoryChannel}s, at the {@link SharedMemoryAddress} that it is bound to. Only processes of its user can
 * connect. Its methods can be called from any thread.
 *
 * <p>The path is that of a Unix domain socket. Its file is removed when the server is closed. A killed server leaves
 * the file, which must be removed before the next bind to this path.
 */
public final class SharedMemoryServerSocket implements Closeable {

    private static final int DEFAULT_CAPACITY = 256 << 10;

    private final BoundFile file;
    private final ServerSocketChannel server;
    private final BlockingMeetings meetings;

    /** Held by the accepting thread. */
    private final ReentrantLock accepting = new ReentrantLock();

    private SharedMemoryServerSocket(BoundFile file, ServerSocketChannel server, BlockingMeetings meetings) {
        this.file = file;
        this.server = server;
        this.meetings = meetings;
    }

    /**
     * Listens, with rings of 256 KiB for each direction of a connection.
     *
     * @throws BindException if a file exists at the path
     */
    public static SharedMemoryServerSocket bind(SharedMemoryAddress address) throws IOException {
        return bind(address, DEFAULT_CAPACITY);
    }

    /**
     * Listens, with rings of this capacity for each direction of a connection.
     *
     * @param ringCapacity capacity of a ring in bytes, a power of two from 4 KiB to 256 MiB
     * @throws BindException if a file exists at the path
     */
    public static SharedMemoryServerSocket bind(SharedMemoryAddress address, int ringCapacity) throws IOException {
        int capacity = Ring.checkCapacity(ringCapacity);
        SharedDirectory directory = SharedDirectory.standard();
        directory.removeStale();
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            bind(server, address);
        } catch (Throwable e) {
            server.close();
            throw e;
        }
        BoundFile file = BoundFile.at(Path.of(address.path()));
        try {
            BlockingMeetings meetings = new BlockingMeetings(server, directory, capacity, System::nanoTime);
            return new SharedMemoryServerSocket(file, server, meetings);
        } catch (Throwable e) {
            server.close();
            file.delete();
            throw e;
        }
    }

    private static void bind(ServerSocketChannel server, SharedMemoryAddress address) throws IOException {
        try {
            server.bind(UnixDomainSocketAddress.of(address.path()));
        } catch (BindException e) {
            BindException named = new BindException(address.path() + ": " + e.getMessage());
            named.initCause(e);
            throw named;
        }
    }

    /**
     * Waits for a client, until it has mapped the memory. A client that does not answer does not delay other clients,
     * and is abandoned after 30 seconds, or after 2 if it is one of 64 and another waits.
     *
     * @throws ClosedChannelException if the server is closed, including by another thread during the call
     * @throws ClosedByInterruptException if the thread was interrupted, which closes the server
     */
    public SharedMemorySocket accept() throws IOException {
        try {
            accepting.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new ClosedByInterruptException();
        }
        try {
            return meetings.next();
        } catch (ClosedByInterruptException e) {
            close();
            throw e;
        } finally {
            accepting.unlock();
        }
    }

    /**
     * Closes the server, and removes the file of its socket, but not that of another server. Accepted connections
     * continue.
     */
    @Override
    public void close() throws IOException {
        if (!server.isOpen()) {
            return;
        }
        server.close();
        meetings.wakeUp();
        accepting.lock(); // whoever accepts leaves, at the latest with the client that it serves now
        try {
            meetings.close();
        } finally {
            accepting.unlock();
            file.delete();
        }
    }
}
