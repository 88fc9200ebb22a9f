package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The memory that both sides of a connection have mapped, with this side's ends of its two rings. */
record RingPair(SharedFile file, SharedMemoryReader reader, SharedMemoryWriter writer) {

    /** Returns the ends of the server or of the client: the first ring is that from the server to the client. */
    static RingPair of(SharedFile file, boolean isServer) {
        SharedMemoryWriter writer = new SharedMemoryWriter(file.ring(isServer ? 0 : 1));
        SharedMemoryReader reader = new SharedMemoryReader(file.ring(isServer ? 1 : 0));
        return new RingPair(file, reader, writer);
    }

    /** Reads as much as there is into the room that {@code target} has; returns how many bytes these were. */
    int read(ByteBuf target) throws IOException {
        int index = target.writerIndex();
        int length = reader.read(target.internalNioBuffer(index, target.writableBytes()));
        target.writerIndex(index + length);
        return length;
    }

    /** Writes as many of the next {@code length} bytes of {@code source} as there is room for; returns how many. */
    int write(ByteBuf source, int length) throws IOException {
        int index = source.readerIndex();
        if (source.nioBufferCount() == 1) {
            // The internal one is shared by all who have the same memory, such as duplicates on other event loops.
            boolean alone = source.unwrap() == null;
            return writer.write(alone ? source.internalNioBuffer(index, length) : source.nioBuffer(index, length));
        }
        int written = 0;
        for (ByteBuffer part : source.nioBuffers(index, length)) {
            int rest = part.remaining();
            int some = writer.write(part);
            written += some;
            if (some < rest) {
                break;
            }
        }
        return written;
    }
}
