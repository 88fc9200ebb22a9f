package dev.zmtp.attack;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.util.function.Consumer;

/** Asks for a message, and leaves with it. */
final class FirstMessage extends SimpleChannelInboundHandler<ZMTPMessage> {

    private final Service service;
    private final Runnable served;
    private final Consumer<Throwable> failed;

    FirstMessage(Service service, Runnable served, Consumer<Throwable> failed) {
        this.service = service;
        this.served = served;
        this.failed = failed;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ZMTPHandshakeSuccess) {
            ctx.writeAndFlush(service.isPublisher() ? ZMTPSubscription.subscribe(Ticks.TOPIC) : Ticks.now(service))
                    .addListener(written -> written(ctx, written.isSuccess()));
        }
    }

    /** Nobody answers one that pushes: it is served when its message was sent. */
    private void written(ChannelHandlerContext ctx, boolean isSent) {
        if (service == Service.PULL && isSent) {
            served.run();
            ctx.close();
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
        served.run();
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        failed.accept(cause);
        ctx.close();
    }
}
