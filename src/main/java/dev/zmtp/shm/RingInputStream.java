package dev.zmtp.shm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/** Stream of bytes from the other side, for a thread that may block. */
final class RingInputStream extends InputStream {

    private final BlockingRings rings;
    private final BlockingBell.Wait mayHaveToWait;
    private final byte[] single = new byte[1];
    private volatile long timeout;

    RingInputStream(BlockingRings rings) {
        this.rings = rings;
        // What was written before the last ring is in the ring of bytes.
        this.mayHaveToWait = () -> !rings.bell().hasRungLast() && rings.reader().beforeSleep();
    }

    /** Sets the read timeout in nanoseconds, 0 for no timeout. */
    void timeout(long nanos) {
        timeout = nanos;
    }

    @Override
    public int read() throws IOException {
        rings.use().reading().lock();
        try {
            return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
        } finally {
            rings.use().leave(rings.use().reading());
        }
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        rings.use().reading().lock();
        try {
            rings.bell().checkOpen();
            return readSome(ByteBuffer.wrap(target, offset, length));
        } catch (IOException | InternalError e) {
            throw rings.ended(e);
        } catch (Error e) {
            throw rings.failed(e);
        } finally {
            rings.use().leave(rings.use().reading());
        }
    }

    private int readSome(ByteBuffer target) throws IOException {
        SharedMemoryReader reader = rings.reader();
        if (reader.available() == 0 && !rings.spin(true)) {
            rings.bell().await(mayHaveToWait, timeout);
        }
        int read = reader.take(target);
        if (reader.release()) {
            rings.bell().ring();
        }
        return read == 0 ? -1 : read;
    }

    @Override
    public int available() throws IOException {
        rings.use().reading().lock();
        try {
            rings.bell().checkOpen();
            int available = rings.reader().available();
            rings.reader().check();
            return available;
        } catch (IOException | InternalError e) {
            throw rings.ended(e);
        } catch (Error e) {
            throw rings.failed(e);
        } finally {
            rings.use().leave(rings.use().reading());
        }
    }

    @Override
    public void close() throws IOException {
        rings.close();
    }
}
