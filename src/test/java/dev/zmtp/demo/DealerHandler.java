package dev.zmtp.demo;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.concurrent.Future;

/** The DEALER's side: notes the echoes, and sends messages as fast as the connection takes them. */
final class DealerHandler extends SimpleChannelInboundHandler<ZMTPMessage> {

    /** Writes between two flushes. */
    private static final int BATCH = 128;

    private final Notes notes;

    // Of the event loop
    private ChannelHandlerContext ctx;
    private ZMTPMessage message;
    private long sent;
    private boolean due;

    DealerHandler(Notes notes) {
        this.notes = notes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /** Sends messages of one frame of {@code size} bytes until {@link #stopSending}. Called from any thread. */
    void startSending(Channel channel, int size) {
        channel.eventLoop().execute(() -> {
            message = ZMTPMessage.from(ctx.alloc().directBuffer(size).writeZero(size));
            sendSoon();
        });
    }

    /** Stops sending, and returns how many messages were sent. Called from any thread. */
    Future<Long> stopSending(Channel channel) {
        return channel.eventLoop().submit(() -> {
            releaseMessage();
            return sent;
        });
    }

    /** As a task of its own, so that the event loop gets to its other work between two batches. */
    private void sendSoon() {
        if (!due) {
            due = true;
            ctx.executor().execute(this::sendBatch);
        }
    }

    private void sendBatch() {
        due = false;
        if (message == null || !ctx.channel().isWritable()) {
            return; // ended, or channelWritabilityChanged goes on
        }
        for (int i = 0; i < BATCH && ctx.channel().isWritable(); i++) {
            // Encoding moves no index, so the same message can be written again and again.
            ctx.write(message.retain(), ctx.voidPromise());
            sent++;
        }
        ctx.flush();
        if (ctx.channel().isWritable()) {
            sendSoon();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            sendSoon();
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage echo) {
        notes.add(Demo.show(echo));
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ZMTPHandshakeFailure failure) {
            notes.add(failure.cause());
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        notes.add(cause);
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        releaseMessage();
        ctx.fireChannelInactive();
    }

    private void releaseMessage() {
        if (message != null) {
            message.release();
            message = null;
        }
    }
}
