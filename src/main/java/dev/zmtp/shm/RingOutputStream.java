package dev.zmtp.shm;

import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketException;
import java.nio.ByteBuffer;

/** Stream of bytes to the other side, for a thread that may block. */
final class RingOutputStream extends OutputStream {

    private final BlockingRings rings;

    private volatile boolean shutdown;

    RingOutputStream(BlockingRings rings) {
        this.rings = rings;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
        locked(() -> writeAll(source));
    }

    @Override
    public void flush() throws IOException {
        if (!shutdown) {
            locked(this::flushAndRing);
        }
    }

    /** Flushes, and signals that no data follows. */
    void shutdown() throws IOException {
        locked(() -> {
            flushAndRing();
            rings.bell().ringLast();
            shutdown = true;
        });
    }

    private interface Action {
        void run() throws IOException;
    }

    private void locked(Action action) throws IOException {
        rings.use().writing().lock();
        try {
            if (shutdown) { // which is no reason to end the input
                throw new SocketException("shared memory: the output is shut down");
            }
            run(action);
        } finally {
            rings.use().leave(rings.use().writing());
        }
    }

    private void run(Action action) throws IOException {
        try {
            rings.bell().checkOpen();
            action.run();
        } catch (IOException | InternalError e) {
            throw rings.ended(e);
        } catch (Error e) {
            throw rings.failed(e);
        }
    }

    private void writeAll(ByteBuffer source) throws IOException {
        SharedMemoryWriter writer = rings.writer();
        while (source.hasRemaining()) {
            rings.bell().checkOpen();
            if (rings.bell().hasEnded()) {
                throw new IOException("shared memory: the other side is gone");
            }
            if (writer.write(source) == 0) {
                flushAndRing();
                if (!rings.spin(false)) {
                    rings.bell().await(writer::beforeSleep, 0);
                }
            }
        }
    }

    private void flushAndRing() throws IOException {
        if (rings.writer().flush()) {
            rings.bell().ring();
        }
    }

    @Override
    public void close() throws IOException {
        boolean alone = rings.use().writing().tryLock(); // otherwise the end of the socket ends the thread that writes
        try {
            if (alone && rings.bell().isOpen()) {
                flush();
            }
        } finally {
            if (alone) {
                rings.use().writing().unlock();
            }
            rings.close();
        }
    }
}
