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
 * A connection for threads that may block: bytes as streams, without an event loop. At the other end is a channel of a
 * {@link SharedMemoryServerChannel}, or another one of these. One thread may read while another one writes.
 *
 * <p>A thread that has to wait spins for 50 microseconds and then sleeps until the other side rings. An interrupt ends
 * the wait with a {@link ClosedByInterruptException} and closes the connection, as it does with a channel of NIO.
 *
 * <p>When the other side is closed or killed, the input ends after what is in the ring, and a write fails with an
 * {@code IOException}. Close each socket: that gives its memory back, at once or when the threads in it have left.
 */
public final class SharedMemorySocket implements Closeable {

    /** How long {@link #connect(SharedMemoryAddress)} waits, as long as a channel does by default. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

    private final BlockingRings rings;
    private final RingInputStream input;
    private final RingOutputStream output;

    /** Takes over what two sides have that have met. */
    SharedMemorySocket(BlockingBell bell, RingPair rings) {
        this.rings = new BlockingRings(bell, rings);
        this.input = new RingInputStream(this.rings);
        this.output = new RingOutputStream(this.rings);
    }

    /**
     * Connects to a server, and waits for 30 seconds at most until it has accepted.
     *
     * @throws IOException if no process listens there, or if what answers is not such a server or has no file
     */
    public static SharedMemorySocket connect(SharedMemoryAddress server) throws IOException {
        return connect(server, CONNECT_TIMEOUT);
    }

    /**
     * Connects to a server, and waits until it has accepted.
     *
     * @param timeout how long at most; zero for as long as it takes
     * @throws SocketTimeoutException if that was not long enough
     * @throws IOException if no process listens there, or if what answers is not such a server or has no file
     */
    public static SharedMemorySocket connect(SharedMemoryAddress server, Duration timeout) throws IOException {
        return BlockingMeeting.connect(server, timeout);
    }

    /**
     * Sets how long a read waits. One that has waited for that long fails with a {@link SocketTimeoutException}, and
     * the connection goes on.
     *
     * @param timeout zero for as long as it takes, which is the default
     */
    public void readTimeout(Duration timeout) {
        input.timeout(BlockingBell.nanos(timeout));
    }

    /** The bytes from the other side. Closing it closes the socket. */
    public InputStream inputStream() {
        return input;
    }

    /**
     * The bytes to the other side, which sees them after a flush, or when the ring is full. Closing it flushes, and
     * closes the socket; a thread that writes meanwhile gets a {@link ClosedChannelException}.
     */
    public OutputStream outputStream() {
        return output;
    }

    /**
     * Flushes, and ends the output: the other side reads what is written, and then the end. It can go on writing, if it
     * is one of these, or a channel that allows half closure. A thread that writes meanwhile is waited for; whoever
     * writes afterwards gets a {@link SocketException}.
     */
    public void shutdownOutput() throws IOException {
        output.shutdown();
    }

    /** Ends the connection. Threads that wait get a {@link ClosedChannelException}. */
    @Override
    public void close() throws IOException {
        rings.close();
    }
}
