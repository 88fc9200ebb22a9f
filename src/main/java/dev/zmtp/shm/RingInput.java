package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import java.io.IOException;

/** The input of a channel from its ring, and the end of it. Used on the channel's event loop. */
final class RingInput {

    private final SharedMemoryChannel channel;

    /** Somebody has asked for a read. */
    private boolean pending;

    RingInput(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    void begin() {
        pending = true;
    }

    /** Forgets that there was to be a read. */
    void clear() {
        pending = false;
    }

    /** Whether what arrives is to be read, if only to be dropped. */
    boolean isPending() {
        return pending || channel.isInputShutdown();
    }

    /** Returns whether there was anything to read, and a read to do it. */
    boolean read(RingPair rings) throws IOException {
        if (!isPending() || rings.reader().available() == 0) {
            return false;
        }
        if (channel.isInputShutdown()) {
            rings.reader().skip();
            rings.release(channel.socket());
        } else {
            pending = false;
            readInto(channel.pipeline(), rings);
        }
        return true;
    }

    @SuppressWarnings("deprecation") // the allocator's handle, which has no other name in Netty 4.1
    private void readInto(ChannelPipeline pipeline, RingPair rings) throws IOException {
        RecvByteBufAllocator.Handle handle = channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        do {
            ByteBuf buffer = handle.allocate(channel.config().getAllocator());
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

    /** The other side has shut down its output, and all of that is read. A read finds it, as it does with a socket. */
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
