package dev.zmtp.compare.peer;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Sends one batch after another while the channel is writable, and counts their messages. */
abstract class BatchSender extends ChannelInboundHandlerAdapter implements Runnable {

    private final Counter messages;
    private ChannelHandlerContext ctx;
    private boolean due;

    BatchSender(Counter messages) {
        this.messages = messages;
    }

    /** Makes what {@link #send} sends. */
    abstract void prepare(ChannelHandlerContext ctx);

    /** Writes a batch and flushes it; returns the number of its messages. */
    abstract int send(ChannelHandlerContext ctx);

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == NettyTraffic.GO) {
            this.ctx = ctx;
            prepare(ctx);
            sendSoon();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (this.ctx != null && ctx.channel().isWritable()) {
            sendSoon();
        }
    }

    /** Sends in a task of its own, so that other connections have their turn between two batches. */
    private void sendSoon() {
        if (!due) {
            due = true;
            ctx.channel().eventLoop().execute(this);
        }
    }

    @Override
    public void run() {
        due = false;
        if (!ctx.channel().isWritable()) {
            return; // channelWritabilityChanged goes on
        }
        messages.add(send(ctx));
        if (ctx.channel().isWritable()) {
            sendSoon();
        }
    }
}
