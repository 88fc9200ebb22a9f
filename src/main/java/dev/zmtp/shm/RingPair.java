package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.io.IOException;

/** Memory that both sides of a connection have mapped, with this side's ends of its two rings. */
record RingPair(SharedFile file, SharedMemoryReader reader, SharedMemoryWriter writer, RingFilling filling)
        implements AutoCloseable {

    /** Returns the ends of the server or of the client. The first ring is for data from the server to the client. */
    static RingPair of(SharedFile file, boolean isServer) {
        SharedMemoryWriter writer = new SharedMemoryWriter(file.ring(isServer ? 0 : 1));
        SharedMemoryReader reader = new SharedMemoryReader(file.ring(isServer ? 1 : 0));
        return new RingPair(file, reader, writer, new RingFilling(writer));
    }

    /**
     * Reads as much data as available into the writable space of {@code target}, and returns the number of bytes. The
     * bytes are unverified until the reader has released them.
     */
    int read(ByteBuf target) throws IOException {
        int index = target.writerIndex();
        int length = reader.take(target.internalNioBuffer(index, target.writableBytes()));
        target.writerIndex(index + length);
        return length;
    }

    /** Frees space for the other side's writes, and wakes it by {@code socket} if it sleeps. */
    void release(Channel socket) throws IOException {
        if (reader.release()) {
            Doorbell.ring(socket);
        }
    }

    /** Makes written data visible to the other side, and wakes it by {@code socket} if it sleeps. */
    void flush(Channel socket) throws IOException {
        if (writer.flush()) {
            Doorbell.ring(socket);
        }
    }

    /** Unmaps the memory, unless the collector does. No thread may use it any more. */
    @Override
    public void close() {
        file.close();
    }
}
