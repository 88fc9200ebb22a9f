package dev.zmtp.bench;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;

/**
 * A network that takes everything at once: the cost of Netty's queue and of the socket is not the codec's. Channels of
 * one thread may share it.
 */
@ChannelHandler.Sharable
final class Network extends ChannelOutboundHandlerAdapter {

    private long bytes;

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        ByteBuf written = (ByteBuf) msg;
        bytes += written.readableBytes();
        written.release();
        if (!promise.isVoid()) {
            promise.setSuccess();
        }
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        // What was written has left.
    }

    /** Forgets what was written, such as the handshake. */
    void clear() {
        bytes = 0;
    }

    /** Returns how many bytes were written since the last call, which must be {@code expected}. */
    long take(long expected) {
        long taken = bytes;
        bytes = 0;
        if (taken != expected) {
            throw new IllegalStateException("bytes written: " + taken + " (expected: " + expected + ")");
        }
        return taken;
    }
}
