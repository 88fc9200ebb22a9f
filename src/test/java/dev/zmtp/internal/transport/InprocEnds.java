package dev.zmtp.internal.transport;

import dev.zmtp.testing.TestSockets;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.CompletableFuture;

/** Both ends of a connection within the process, without sockets. */
final class InprocEnds implements AutoCloseable {

    final Channel client;
    final Channel accepted;
    private final Channel server;

    /**
     * @param readers the loops of the accepted end, whose last handler is {@code reader}
     * @param limit of what is on its way to the accepted end
     */
    InprocEnds(EventLoopGroup writers, EventLoopGroup readers, QueueLimit limit, ChannelHandler reader)
            throws InterruptedException {
        InprocAddress address = new InprocAddress(this, "ends");
        CompletableFuture<Channel> active = new CompletableFuture<>();
        server = new ServerBootstrap()
                .group(readers)
                .channelFactory(() -> new InprocServerChannel(limit))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(new Activity(active), reader);
                    }
                })
                .bind(address)
                .sync()
                .channel();
        client = new Bootstrap()
                .group(writers)
                .channelFactory(() -> new InprocChannel(QueueLimit.DEFAULT))
                .handler(new ChannelInboundHandlerAdapter())
                .connect(address)
                .sync()
                .channel();
        accepted = TestSockets.get(active);
    }

    private static final class Activity extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Channel> active;

        Activity(CompletableFuture<Channel> active) {
            this.active = active;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            active.complete(ctx.channel());
            ctx.fireChannelActive();
        }
    }

    @Override
    public void close() {
        close(client);
        close(server);
    }

    private static void close(Channel channel) {
        if (channel.isOpen()) { // otherwise its loop can have ended
            channel.close().syncUninterruptibly();
        }
    }
}
