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
 * A server for threads that may block: it accepts {@link SharedMemorySocket}s, from those and from
 * {@link SharedMemoryChannel}s, at the {@link SharedMemoryAddress} that it is bound to. Only the user who runs it can
 * connect. Its methods may be called from any thread.
 *
 * <p>The path is that of a Unix domain socket. Its file is removed when the server is closed; one that is killed leaves
 * it, and whoever binds there again has to remove it first.
 */
public final class SharedMemoryServerSocket implements Closeable {

    private static final int DEFAULT_CAPACITY = 256 << 10;

    private final BoundFile file;
    private final ServerSocketChannel server;
    private final BlockingMeetings meetings;

    /** Held by the thread that accepts. */
    private final ReentrantLock accepting = new ReentrantLock();

    private SharedMemoryServerSocket(BoundFile file, ServerSocketChannel server, BlockingMeetings meetings) {
        this.file = file;
        this.server = server;
        this.meetings = meetings;
    }

    /**
     * Listens, with rings of 256 KiB for each direction of a connection.
     *
     * @throws BindException if there is a file at the path
     */
    public static SharedMemoryServerSocket bind(SharedMemoryAddress address) throws IOException {
        return bind(address, DEFAULT_CAPACITY);
    }

    /**
     * Listens.
     *
     * @param ringCapacity the bytes of a ring, of which a connection has one for each direction: a power of two, 4 KiB
     *     to 256 MiB
     * @throws BindException if there is a file at the path
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
     * Waits for a client, until it has mapped the memory. One that does not answer keeps no other one waiting, and is
     * given up after 30 seconds.
     *
     * @throws ClosedChannelException if the server is closed, also by another thread meanwhile
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

    /** Ends the server, and removes the file of its socket, but not another's. Connections that were accepted go on. */
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
