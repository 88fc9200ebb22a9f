package dev.zmtp.shm;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedChannelException;

/** Shared parts of the streams of a {@link SharedMemorySocket}, which are the rings, the bell, and their end. */
final class BlockingRings implements Closeable {

    private static final long SPIN_NANOS = 50_000;

    private final BlockingBell bell;
    private final RingPair rings;
    private final RingUse use;

    /** Takes over the bell and the rings of two sides that have met. */
    BlockingRings(BlockingBell bell, RingPair rings) {
        this.bell = bell;
        this.rings = rings;
        this.use = new RingUse(bell, rings);
    }

    BlockingBell bell() {
        return bell;
    }

    SharedMemoryReader reader() {
        return rings.reader();
    }

    SharedMemoryWriter writer() {
        return rings.writer();
    }

    RingUse use() {
        return use;
    }

    /** Closes the connection. Waiting threads receive a {@link ClosedChannelException}. */
    @Override
    public void close() throws IOException {
        try {
            bell.close();
        } finally {
            use.releaseIfOver();
        }
    }

    /** Returns the cause of a stream's failure, and closes the connection, unless it can still be read from. */
    IOException ended(Throwable failure) {
        IOException cause =
                MemoryFault.causeOf(failure) instanceof IOException known ? known : new IOException(failure);
        if (!bell.hasEnded() && !(cause instanceof SocketTimeoutException)) {
            closeAfter(cause);
        }
        return cause;
    }

    /**
     * Returns the error of a stream, such as a lack of heap memory, and closes the connection. Data or a ring can be
     * lost, so that a later use would return wrong data or wait forever.
     */
    Error failed(Error error) {
        closeAfter(error);
        return error;
    }

    private void closeAfter(Throwable cause) {
        try {
            close();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Returns whether there is something to read, or room to write, after spinning for a moment. */
    boolean spin(boolean reads) throws IOException {
        long start = System.nanoTime();
        while (System.nanoTime() - start < SPIN_NANOS) {
            if (reads ? rings.reader().available() > 0 : rings.writer().hasRoom()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }
}
