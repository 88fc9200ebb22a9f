package dev.zmtp.shm;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;

/**
 * Connection for threads that may block, with byte streams and without an event loop. At the other end is a channel of
 * a {@link SharedMemoryServerChannel}, or another {@code SharedMemorySocket}. A thread can read while another thread
 * writes.
 *
 * <p>A waiting thread spins for 50 microseconds and then sleeps until the other side rings. An interrupt ends the wait
 * with a {@link ClosedByInterruptException} and closes the connection, like with an NIO channel.
 *
 * <p>When the other side is closed or killed, the input ends after the content of the ring, and a later write fails
 * with an {@code IOException}, at the latest when the ring is full. Data written until then is lost. Close each socket
 * to unmap its memory, which happens at once or when the threads using it have left.
 */
public final class SharedMemorySocket implements Closeable {

    /** Timeout of {@link #connect(SharedMemoryAddress)}, the same as the default of a channel. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

    private final BlockingRings rings;
    private final RingInputStream input;
    private final RingOutputStream output;

    /** Takes over the bell and the rings of two sides that have met. */
    SharedMemorySocket(BlockingBell bell, RingPair rings) {
        this.rings = new BlockingRings(bell, rings);
        this.input = new RingInputStream(this.rings);
        this.output = new RingOutputStream(this.rings);
    }

    /**
     * Connects to a server, and waits for at most 30 seconds until it has accepted.
     *
     * @throws IOException if no process listens there, or if the server is of another kind or has no file
     */
    public static SharedMemorySocket connect(SharedMemoryAddress server) throws IOException {
        return connect(server, CONNECT_TIMEOUT);
    }

    /**
     * Connects to a server, and waits until it has accepted.
     *
     * @param timeout maximum time to wait; zero for no limit
     * @throws SocketTimeoutException if the timeout has expired
     * @throws IOException if no process listens there, or if the server is of another kind or has no file
     */
    public static SharedMemorySocket connect(SharedMemoryAddress server, Duration timeout) throws IOException {
        return BlockingMeeting.connect(server, timeout);
    }

    /**
     * Sets the read timeout. A read that has waited for this time fails with a {@link SocketTimeoutException}, and the
     * connection remains open.
     *
     * @param timeout maximum time to wait; zero for no limit, which is the default
     */
    public void readTimeout(Duration timeout) {
        input.timeout(BlockingBell.nanos(timeout));
    }

    /** Returns the stream of bytes from the other side. Closing it closes the socket. */
    public InputStream inputStream() {
        return input;
    }

    /**
     * Returns the stream of bytes to the other side, which are visible to the other side after a flush, or when the
     * ring is full. Closing the stream flushes it and closes the socket. A thread that is writing then receives a
     * {@link ClosedChannelException}.
     */
    public OutputStream outputStream() {
        return output;
    }

    /**
     * Flushes and ends the output. The other side reads the written data, and then the end of the stream. It can
     * continue to write if it is a {@code SharedMemorySocket}, or a channel that allows half closure. This method waits
     * for a thread that is writing. Later writes fail with a {@link SocketException}.
     */
    public void shutdownOutput() throws IOException {
        output.shutdown();
    }

    /** Closes the connection. Waiting threads receive a {@link ClosedChannelException}. */
    @Override
    public void close() throws IOException {
        rings.close();
    }
}
