package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** The memory that both sides of a connection have mapped, with this side's ends of its two rings. */
record RingPair(SharedFile file, SharedMemoryReader reader, SharedMemoryWriter writer, RingFilling filling) {

    /** Returns the ends of the server or of the client: the first ring is that from the server to the client. */
    static RingPair of(SharedFile file, boolean isServer) {
        SharedMemoryWriter writer = new SharedMemoryWriter(file.ring(isServer ? 0 : 1));
        SharedMemoryReader reader = new SharedMemoryReader(file.ring(isServer ? 1 : 0));
        return new RingPair(file, reader, writer, new RingFilling(writer));
    }

    /** Reads as much as there is into the room that {@code target} has; returns how many bytes these were. */
    int read(ByteBuf target) throws IOException {
        int index = target.writerIndex();
        int length = reader.read(target.internalNioBuffer(index, target.writableBytes()));
        target.writerIndex(index + length);
        return length;
    }
}
