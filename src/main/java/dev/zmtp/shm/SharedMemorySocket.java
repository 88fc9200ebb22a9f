package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection to a {@link SharedMemoryServerChannel} for threads that may block: bytes as streams, without an event
 * loop. One thread may read while another one writes.
 *
 * <p>A thread that has to wait spins for 50 microseconds and then sleeps until the other side rings. An interrupt ends
 * the wait with a {@link ClosedByInterruptException} and closes the connection, as it does with a channel of NIO.
 *
 * <p>When the other side is closed or killed, the input ends after what is in the ring, and a write fails with an
 * {@code IOException}. The memory is given back when nothing refers to the socket or its streams any more.
 */
public final class SharedMemorySocket implements Closeable {

    private static final long SPIN_NANOS = 50_000;

    /** Any byte rings. */
    private static final int RING = 1;

    private final SocketChannel socket;
    private final RingPair rings;
    private final InputStream input = new Input();
    private final OutputStream output = new Output();

    /** Who listens to the socket does so for the thread of the other stream, too. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Condition heard = lock.newCondition();
    private boolean listening;

    /** The other side is gone. */
    private volatile boolean ended;

    private SharedMemorySocket(SocketChannel socket, RingPair rings) {
        this.socket = socket;
        this.rings = rings;
    }

    /**
     * Connects to a server, and waits until it has accepted.
     *
     * @throws IOException if no process listens there, or if what answers is not such a server or has no file
     */
    public static SharedMemorySocket connect(SharedMemoryAddress server) throws IOException {
        SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            socket.connect(UnixDomainSocketAddress.of(server.path()));
            ByteBuf fixed = read(socket, Invitation.FIXED);
            ByteBuf path = read(socket, Invitation.length(fixed) - Invitation.FIXED);
            RingPair rings =
                    Invitation.read(Unpooled.wrappedBuffer(fixed, path)).accept(Mapping.Lifetime.UNTIL_COLLECTED);
            socket.write(ByteBuffer.wrap(Invitation.answer(rings.file())));
            return new SharedMemorySocket(socket, rings);
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private static ByteBuf read(SocketChannel socket, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (socket.read(bytes) < 0) {
                throw new IOException("shared memory: the other side ended the meeting (expected: an invitation)");
            }
        }
        return Unpooled.wrappedBuffer(bytes.flip());
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
        socket.close();
    }

    private void ring() {
        try {
            socket.write(ByteBuffer.wrap(new byte[] {RING}));
        } catch (IOException e) {
            ended = true; // what it wrote is there all the same
        }
    }

    /** Closes a socket that cannot be used any more, unless it can still be read from. */
    private IOException ended(Throwable failure) {
        IOException cause =
                MemoryFault.causeOf(failure) instanceof IOException known ? known : new IOException(failure);
        if (!ended) {
            try {
                close();
            } catch (IOException e) {
                cause.addSuppressed(e);
            }
        }
        return cause;
    }

    private void checkOpen() throws IOException {
        if (!socket.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** What a thread waits for. */
    private interface Wait {
        /** Says that this side sleeps, and looks once more; returns whether it may. */
        boolean beforeSleep() throws IOException;
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

    /** Returns when there is what the caller waits for, or the other side is gone. */
    private void await(Wait wait) throws IOException {
        lock.lock();
        try {
            while (!ended && wait.beforeSleep()) {
                checkOpen();
                if (listening) {
                    heard.await();
                } else {
                    listen();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new ClosedByInterruptException();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a ring, or the end, with the lock open meanwhile. */
    private void listen() throws IOException {
        listening = true;
        lock.unlock();
        try {
            if (socket.read(ByteBuffer.allocate(64)) < 0) {
                ended = true;
            }
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            ended = true; // reset, as the other side was killed
        } finally {
            lock.lock();
            listening = false;
            heard.signalAll();
        }
    }

    private final class Input extends InputStream {

        private final byte[] single = new byte[1];

        @Override
        public synchronized int read() throws IOException {
            return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
        }

        @Override
        public synchronized int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            if (length == 0) {
                return 0;
            }
            checkOpen();
            SharedMemoryReader reader = rings.reader();
            try {
                if (reader.available() == 0 && !spin(true)) {
                    await(reader::beforeSleep);
                }
                int read = reader.take(ByteBuffer.wrap(target, offset, length));
                if (reader.release()) {
                    ring();
                }
                return read == 0 ? -1 : read;
            } catch (IOException | InternalError e) {
                throw ended(e);
            }
        }

        @Override
        public synchronized int available() throws IOException {
            checkOpen();
            try {
                int available = rings.reader().available();
                rings.reader().check();
                return available;
            } catch (IOException | InternalError e) {
                throw ended(e);
            }
        }

        @Override
        public void close() throws IOException {
            SharedMemorySocket.this.close();
        }
    }

    private final class Output extends OutputStream {

        /** Not the monitor: who closes the stream must not wait for a thread that waits for room. */
        private final ReentrantLock writing = new ReentrantLock();

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
            writing.lock();
            try {
                writeAll(source);
            } catch (IOException | InternalError e) {
                throw ended(e);
            } finally {
                writing.unlock();
            }
        }

        private void writeAll(ByteBuffer source) throws IOException {
            SharedMemoryWriter writer = rings.writer();
            while (source.hasRemaining()) {
                checkOpen();
                if (ended) {
                    throw new IOException("shared memory: the other side is gone");
                }
                if (writer.write(source) == 0) {
                    flush();
                    if (!spin(false)) {
                        await(writer::beforeSleep);
                    }
                }
            }
        }

        @Override
        public void flush() throws IOException {
            writing.lock();
            try {
                if (rings.writer().flush()) {
                    ring();
                }
            } catch (IOException | InternalError e) {
                throw ended(e);
            } finally {
                writing.unlock();
            }
        }

        @Override
        public void close() throws IOException {
            boolean alone = writing.tryLock(); // otherwise the end of the socket ends the thread that writes
            try {
                if (alone && socket.isOpen()) {
                    flush();
                }
            } finally {
                if (alone) {
                    writing.unlock();
                }
                SharedMemorySocket.this.close();
            }
        }
    }
}
