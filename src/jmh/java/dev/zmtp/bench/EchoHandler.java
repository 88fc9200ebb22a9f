package dev.zmtp.bench;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Sends back what it receives. */
final class EchoHandler extends ChannelInboundHandlerAdapter {

    private final FlushPolicy policy;
    private Flushes flushes;

    EchoHandler(FlushPolicy policy) {
        this.policy = policy;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        flushes = new Flushes(policy, ctx.channel());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ctx.write(msg, ctx.voidPromise());
        flushes.written();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        flushes.readComplete();
    }
}
