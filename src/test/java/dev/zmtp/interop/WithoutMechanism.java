package dev.zmtp.interop;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;

/** Keeps our mechanism from the peer. It would refuse it, and close before its own is on the way if ours were quick. */
@Sharable
final class WithoutMechanism extends ChannelOutboundHandlerAdapter {

    private static final int SIGNATURE_LENGTH = 10;

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        if (((ByteBuf) msg).readableBytes() <= SIGNATURE_LENGTH) {
            ctx.write(msg, promise); // the signature or the revision
        } else {
            ((ByteBuf) msg).release();
            promise.setSuccess();
        }
    }
}
