package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** A ROUTER that sends every message back to the peer that sent it: the smallest service. */
public final class EchoRouter {

    private EchoRouter() {}

    /** Serves on port 5555 until it is killed. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("ROUTER on 127.0.0.1:5555, echoes."
                + " Try: mvn -q test-compile exec:java@example -Dexample=DealerClient");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);
            Channel server =
                    bind(group, NioServerSocketChannel.class, address).sync().channel();
            System.out.println("ROUTER on " + server.localAddress());
            server.closeFuture().sync();
        } finally {
            group.shutdownGracefully();
        }
    }

    static ChannelFuture bind(EventLoopGroup group, Class<? extends ServerChannel> type, SocketAddress address) {
        return new ServerBootstrap()
                .group(group)
                .channel(type)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new Echo());
                    }
                })
                .bind(address);
    }

    static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message); // the codec releases it
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush(); // one system call for all echoes of one read
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.flush();
            // A peer that does not read its echoes is not read from, so they do not pile up here.
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure) {
                System.err.println(event); // shows the peer and the cause; the codec closes the channel
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause);
            ctx.close();
        }
    }
}
