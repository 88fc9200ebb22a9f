package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;

/**
 * How one library on Netty is used, for one workload. In one process there is one such object, so that the JIT compiler
 * sees through these calls. What only some workloads need, a library without these workloads need not have.
 */
interface NettyLibrary {
    /** Adds the handlers that this library needs between the socket and the traffic. */
    void addCodec(ChannelPipeline pipeline, boolean binding);

    /** Whether {@code event} says that the handshake is complete. */
    boolean isReady(Object event);

    /** Returns a message of these frames, which it takes over. */
    Object message(ByteBufAllocator alloc, ByteBuf... frames);

    /** Returns {@code message} to be written once more; the caller keeps its own reference. */
    Object again(Object message);

    /** Returns a message of one frame of {@code size} bytes that starts with {@code time}. */
    default Object timed(ByteBufAllocator alloc, int size, long time) {
        throw new UnsupportedOperationException();
    }

    /** The first byte of a message that was received. */
    default int firstByte(Object message) {
        throw new UnsupportedOperationException();
    }

    /** The first eight bytes of a message that was received. */
    default long firstLong(Object message) {
        throw new UnsupportedOperationException();
    }

    /** Returns what to call after each write, so that many writes share one flush. */
    default Runnable flusher(Channel channel) {
        throw new UnsupportedOperationException();
    }
}
