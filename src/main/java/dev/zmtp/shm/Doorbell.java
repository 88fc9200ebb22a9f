package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;

/**
 * The Unix domain socket once both sides have met: a byte, whatever it is, wakes this side, and the end of the stream
 * means that the other side has gone.
 */
final class Doorbell extends ChannelInboundHandlerAdapter {

    private static final ByteBuf RING = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(new byte[1]));

    private final SharedMemoryChannel channel;

    Doorbell(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    /** Wakes the other side, unless it has not answered many rings. */
    static void ring(Channel socket) {
        if (socket.isWritable()) {
            socket.writeAndFlush(RING.duplicate(), socket.voidPromise());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ReferenceCountUtil.release(msg);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        channel.woken();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        channel.peerGone();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close(); // the other side was killed: what it wrote is there all the same
    }
}
