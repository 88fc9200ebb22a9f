package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Input of a channel from its ring, and the end of the input. Used on the channel's event loop. */
@SuppressWarnings("deprecation") // the handle of the allocator has no other name in Netty 4.1
final class RingInput {

    private final SharedMemoryChannel channel;

    /** Whether a read was requested. */
    private boolean pending;

    /** Buffer of the next read, while the loop looks for bytes. */
    private @Nullable ByteBuf spare;

    RingInput(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    void begin() {
        pending = true;
    }

    /** Cancels the pending read. */
    void clear() {
        pending = false;
    }

    /** Returns whether arriving data is to be read, including data that is then dropped. */
    boolean isPending() {
        return pending || channel.isInputShutdown();
    }

    /** Returns whether there was data to read and a pending read for it. */
    boolean read(RingPair rings) throws IOException {
        if (!isPending()) {
            releaseSpare();
            return false;
        }
        if (channel.isInputShutdown()) {
            return drop(rings);
        }
        RecvByteBufAllocator.Handle handle = handle();
        if (spare == null) { // before the look, or a fault of that would reach the allocator
            handle.reset(channel.config());
            spare = handle.allocate(channel.config().getAllocator());
        }
        if (!rings.reader().hasMore()) {
            return false;
        }
        pending = false;
        readInto(channel.pipeline(), rings, handle);
        return true;
    }

    private boolean drop(RingPair rings) throws IOException {
        releaseSpare();
        if (rings.reader().available() == 0) {
            return false;
        }
        rings.reader().skip();
        rings.release(channel.socket());
        return true;
    }

    private RecvByteBufAllocator.Handle handle() {
        return channel.unsafe().recvBufAllocHandle();
    }

    /** Releases the buffer before the channel sleeps, stops reading for now, or ends. */
    void releaseSpare() {
        if (spare != null) {
            spare.release();
            spare = null;
        }
    }

    private ByteBuf nextBuffer(RecvByteBufAllocator.Handle handle) {
        ByteBuf first = spare;
        spare = null;
        return first != null ? first : handle.allocate(channel.config().getAllocator());
    }

    private void readInto(ChannelPipeline pipeline, RingPair rings, RecvByteBufAllocator.Handle handle)
            throws IOException {
        do {
            ByteBuf buffer = nextBuffer(handle);
            try {
                handle.attemptedBytesRead(buffer.writableBytes());
                handle.lastBytesRead(rings.read(buffer));
                handle.incMessagesRead(1);
                rings.release(channel.socket());
            } catch (Throwable e) {
                buffer.release();
                throw e;
            }
            pipeline.fireChannelRead(buffer);
        } while (!channel.isInputShutdown() && rings.reader().available() > 0 && handle.continueReading());
        handle.readComplete();
        pipeline.fireChannelReadComplete();
    }

    /**
     * Ends the input after the other side has shut down its output and all data was read. A read detects this, like
     * with a socket.
     */
    void end() {
        if (!pending || channel.isInputShutdown()) {
            return;
        }
        pending = false;
        if (!channel.settings().allowsHalfClosure()) {
            channel.closeNow();
            return;
        }
        channel.inputEnded();
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }
}
