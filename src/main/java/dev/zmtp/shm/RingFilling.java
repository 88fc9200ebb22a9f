package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Copies flushed data into a ring until it is full. A channel completes no write before the other side can read it, so
 * all writes are copied first.
 */
final class RingFilling implements ChannelOutboundBuffer.MessageProcessor {

    private final SharedMemoryWriter writer;
    private long written;
    private boolean full;

    RingFilling(SharedMemoryWriter writer) {
        this.writer = writer;
    }

    /**
     * Returns the number of bytes of {@code out} that are now in the ring. They are not visible to the other side yet.
     */
    long fill(ChannelOutboundBuffer out) throws Exception {
        written = 0;
        full = false;
        out.forEachFlushedMessage(this);
        return written;
    }

    /** Returns whether the ring was too full for all data. */
    boolean isFull() {
        return full;
    }

    @Override
    public boolean processMessage(Object message) throws IOException {
        ByteBuf buffer = (ByteBuf) message;
        int length = buffer.readableBytes();
        int some = write(buffer, length);
        written += some;
        full = some < length;
        return !full;
    }

    /** Writes as many of the next {@code length} bytes of {@code source} as fit, and returns their number. */
    int write(ByteBuf source, int length) throws IOException {
        int index = source.readerIndex();
        if (source.nioBufferCount() == 1) {
            // The internal one is shared by all who have the same memory, such as duplicates on other event loops.
            boolean alone = source.unwrap() == null;
            return writer.put(alone ? source.internalNioBuffer(index, length) : source.nioBuffer(index, length));
        }
        int written = 0;
        for (ByteBuffer part : source.nioBuffers(index, length)) {
            int rest = part.remaining();
            int some = writer.put(part);
            written += some;
            if (some < rest) {
                break;
            }
        }
        return written;
    }
}
