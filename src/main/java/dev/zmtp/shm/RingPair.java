package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.io.IOException;

/** The memory that both sides of a connection have mapped, with this side's ends of its two rings. */
record RingPair(SharedFile file, SharedMemoryReader reader, SharedMemoryWriter writer, RingFilling filling)
        implements AutoCloseable {

    /** Returns the ends of the server or of the client: the first ring is that from the server to the client. */
    static RingPair of(SharedFile file, boolean isServer) {
        SharedMemoryWriter writer = new SharedMemoryWriter(file.ring(isServer ? 0 : 1));
        SharedMemoryReader reader = new SharedMemoryReader(file.ring(isServer ? 1 : 0));
        return new RingPair(file, reader, writer, new RingFilling(writer));
    }

    /**
     * Reads as much as there is into the room that {@code target} has; returns how many bytes these were. Until the
     * reader has released them, they may be anything.
     */
    int read(ByteBuf target) throws IOException {
        int index = target.writerIndex();
        int length = reader.take(target.internalNioBuffer(index, target.writableBytes()));
        target.writerIndex(index + length);
        return length;
    }

    /** Makes room for what the other side writes, and wakes it by {@code socket} if it sleeps. */
    void release(Channel socket) throws IOException {
        if (reader.release()) {
            Doorbell.ring(socket);
        }
    }

    /** Lets the other side see what was written, and wakes it by {@code socket} if it sleeps. */
    void flush(Channel socket) throws IOException {
        if (writer.flush()) {
            Doorbell.ring(socket);
        }
    }

    /** Gives the memory back, unless the collector does. No thread may use it any more. */
    @Override
    public void close() {
        file.close();
    }
}
