package dev.zmtp.shm;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Unix domain socket of a {@link SharedMemorySocket}, by which threads sleep and wake the threads of the other side.
 * One of the waiting threads listens, also on behalf of the other.
 */
final class BlockingBell implements Closeable {

    /** Condition that a thread waits for. */
    interface Wait {
        /** Announces that this side sleeps, and checks once more. Returns whether it can sleep. */
        boolean beforeSleep() throws IOException;
    }

    private final SocketChannel socket;
    private final Selector selector;
    private final ByteBuffer heardBytes = ByteBuffer.allocate(64);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition heard = lock.newCondition();
    private boolean listening;

    /** Whether the other side has shut down its output. */
    private volatile boolean rungLast;

    /** Whether the other side is gone. */
    private volatile boolean ended;

    /** Takes over a connected socket, which is closed if this fails. */
    BlockingBell(SocketChannel socket) throws IOException {
        this.socket = socket;
        Selector opened = null;
        try {
            socket.configureBlocking(false);
            opened = Selector.open();
            socket.register(opened, SelectionKey.OP_READ);
        } catch (Throwable e) {
            socket.close();
            if (opened != null) {
                opened.close();
            }
            throw e;
        }
        selector = opened;
    }

    /** Returns a timeout in nanoseconds, where 0 means no timeout. */
    static long nanos(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout: " + timeout + " (expected: >= 0, 0 for none)");
        }
        return timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? 0 : timeout.toNanos();
    }

    boolean isOpen() {
        return socket.isOpen();
    }

    /** Returns whether the other side is gone. Data that it has written remains available. */
    boolean hasEnded() {
        return ended;
    }

    /** Returns whether the other side has shut down its output. Data written before remains available. */
    boolean hasRungLast() {
        return rungLast;
    }

    void checkOpen() throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Wakes the other side, unless it has left many rings unanswered. */
    void ring() {
        try {
            write(Doorbell.RING);
        } catch (IOException e) {
            ended = true;
        }
    }

    /** Signals to the other side, unless it is gone, that the output of this side is shut down. */
    void ringLast() throws IOException {
        boolean written;
        try {
            written = write(Doorbell.LAST_RING);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            ended = true; // what it has written can still be read
            return;
        }
        if (!written) {
            throw new IOException("shared memory: the other side has not heard the rings before the last one");
        }
    }

    private boolean write(byte ring) throws IOException {
        return socket.write(ByteBuffer.wrap(new byte[] {ring})) == 1;
    }

    /** Sends a few bytes of the meeting, for which there is room. */
    void send(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            socket.write(bytes);
        }
    }

    /**
     * Reads bytes of the meeting until {@code target} is full.
     *
     * @param end end of a wait with a timeout, by {@link System#nanoTime}; see {@link #await}
     */
    void receive(ByteBuffer target, long timeout, long end) throws IOException {
        while (target.hasRemaining()) {
            int read = socket.read(target);
            if (read < 0) {
                throw new IOException("shared memory: the other side ended the meeting (expected: an invitation)");
            }
            if (read == 0) {
                select(timeout, end);
            }
        }
    }

    /**
     * Waits until the caller's condition is met, or the other side is gone.
     *
     * @param timeout in nanoseconds, 0 for none
     * @throws SocketTimeoutException if the timeout has expired; the connection remains open
     * @throws ClosedByInterruptException if the thread was interrupted, which closes the connection
     */
    void await(Wait wait, long timeout) throws IOException {
        long end = System.nanoTime() + timeout;
        lock.lock();
        try {
            while (!ended && wait.beforeSleep()) {
                checkOpen();
                if (!listening) {
                    listen(timeout, end);
                } else if (timeout == 0) {
                    heard.await();
                } else if (heard.awaitNanos(end - System.nanoTime()) <= 0) {
                    throw timedOut(timeout);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a ring or the end of the connection, with the lock released during the wait. */
    private void listen(long timeout, long end) throws IOException {
        listening = true;
        lock.unlock();
        try {
            select(timeout, end);
            int read;
            do {
                heardBytes.clear();
                read = socket.read(heardBytes);
                hear(heardBytes.flip());
            } while (read == heardBytes.capacity());
            ended |= read < 0;
        } catch (ClosedChannelException | SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            ended = true; // reset, as the other side was killed
        } finally {
            lock.lock();
            listening = false;
            heard.signalAll();
        }
    }

    private void hear(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            rungLast |= bytes.get() == Doorbell.LAST_RING;
        }
    }

    /** Waits until the socket is readable. */
    private void select(long timeout, long end) throws IOException {
        long left = timeout == 0 ? 0 : end - System.nanoTime();
        if (timeout != 0 && left <= 0) {
            throw timedOut(timeout);
        }
        try {
            selector.select(TimeUnit.NANOSECONDS.toMillis(left) + (timeout == 0 ? 0 : 1));
            selector.selectedKeys().clear();
        } catch (ClosedSelectorException e) {
            throw new ClosedChannelException();
        }
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted();
        }
        checkOpen();
    }

    private static SocketTimeoutException timedOut(long timeout) {
        return new SocketTimeoutException(
                "shared memory: nothing from the other side within " + TimeUnit.NANOSECONDS.toMillis(timeout) + " ms");
    }

    private ClosedByInterruptException interrupted() {
        ClosedByInterruptException cause = new ClosedByInterruptException();
        try {
            close();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
        return cause;
    }

    /** Closes the connection. Waiting threads receive a {@link ClosedChannelException}. */
    @Override
    public void close() throws IOException {
        try {
            socket.close();
        } finally {
            selector.close(); // which wakes who waits, and lets the socket go
        }
    }
}
