package dev.zmtp.shm;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Objects;

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

    private static final long SPIN_NANOS = 50_000;

    /** How long {@link #connect(SharedMemoryAddress)} waits, as long as a channel does by default. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

    private final BlockingBell bell;
    private final RingPair rings;
    private final InputStream input = new Input();
    private final OutputStream output = new Output();

    private final RingUse use;
    private volatile long readTimeout;

    /** Takes over what two sides have that have met. */
    SharedMemorySocket(BlockingBell bell, RingPair rings) {
        this.bell = bell;
        this.rings = rings;
        this.use = new RingUse(bell, rings);
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
        readTimeout = BlockingBell.nanos(timeout);
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

    /** Ends the connection. Threads that wait get a {@link ClosedChannelException}. */
    @Override
    public void close() throws IOException {
        try {
            bell.close();
        } finally {
            use.releaseIfOver();
        }
    }

    /** Closes a socket that cannot be used any more, unless it can still be read from. */
    private IOException ended(Throwable failure) {
        IOException cause =
                MemoryFault.causeOf(failure) instanceof IOException known ? known : new IOException(failure);
        if (!bell.hasEnded() && !(cause instanceof SocketTimeoutException)) {
            try {
                close();
            } catch (IOException e) {
                cause.addSuppressed(e);
            }
        }
        return cause;
    }

    private boolean spin(boolean reads) throws IOException {
        long start = System.nanoTime();
        while (System.nanoTime() - start < SPIN_NANOS) {
            if (reads ? rings.reader().available() > 0 : rings.writer().hasRoom()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    private final class Input extends InputStream {

        private final byte[] single = new byte[1];

        @Override
        public int read() throws IOException {
            use.reading().lock();
            try {
                return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
            } finally {
                use.leave(use.reading());
            }
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            if (length == 0) {
                return 0;
            }
            use.reading().lock();
            try {
                bell.checkOpen();
                return readSome(ByteBuffer.wrap(target, offset, length));
            } catch (IOException | InternalError e) {
                throw ended(e);
            } finally {
                use.leave(use.reading());
            }
        }

        private int readSome(ByteBuffer target) throws IOException {
            SharedMemoryReader reader = rings.reader();
            if (reader.available() == 0 && !spin(true)) {
                bell.await(reader::beforeSleep, readTimeout);
            }
            int read = reader.take(target);
            if (reader.release()) {
                bell.ring();
            }
            return read == 0 ? -1 : read;
        }

        @Override
        public int available() throws IOException {
            use.reading().lock();
            try {
                bell.checkOpen();
                int available = rings.reader().available();
                rings.reader().check();
                return available;
            } catch (IOException | InternalError e) {
                throw ended(e);
            } finally {
                use.leave(use.reading());
            }
        }

        @Override
        public void close() throws IOException {
            SharedMemorySocket.this.close();
        }
    }

    private final class Output extends OutputStream {

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
            use.writing().lock();
            try {
                writeAll(source);
            } catch (IOException | InternalError e) {
                throw ended(e);
            } finally {
                use.leave(use.writing());
            }
        }

        private void writeAll(ByteBuffer source) throws IOException {
            SharedMemoryWriter writer = rings.writer();
            while (source.hasRemaining()) {
                bell.checkOpen();
                if (bell.hasEnded()) {
                    throw new IOException("shared memory: the other side is gone");
                }
                if (writer.write(source) == 0) {
                    flushAndRing();
                    if (!spin(false)) {
                        bell.await(writer::beforeSleep, 0);
                    }
                }
            }
        }

        private void flushAndRing() throws IOException {
            if (rings.writer().flush()) {
                bell.ring();
            }
        }

        @Override
        public void flush() throws IOException {
            use.writing().lock();
            try {
                bell.checkOpen();
                flushAndRing();
            } catch (IOException | InternalError e) {
                throw ended(e);
            } finally {
                use.leave(use.writing());
            }
        }

        @Override
        public void close() throws IOException {
            boolean alone = use.writing().tryLock(); // otherwise the end of the socket ends the thread that writes
            try {
                if (alone && bell.isOpen()) {
                    flush();
                }
            } finally {
                if (alone) {
                    use.writing().unlock();
                }
                SharedMemorySocket.this.close();
            }
        }
    }
}
