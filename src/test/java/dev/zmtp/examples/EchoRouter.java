package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** A ROUTER that gives every message back to the peer that sent it: the smallest service. */
public final class EchoRouter {

    private EchoRouter() {}

    /** Serves on port 5555 until it is killed. */
    public static void main(String... args) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        try {
            Channel server = bind(group, new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555))
                    .sync()
                    .channel();
            System.out.println("ROUTER on " + server.localAddress());
            server.closeFuture().sync();
        } finally {
            group.shutdownGracefully();
        }
    }

    static ChannelFuture bind(EventLoopGroup group, SocketAddress address) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new Echo());
                    }
                })
                .bind(address);
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess success) {
                System.out.println(ctx.channel().remoteAddress() + " is a "
                        + success.handshake().remoteSocketType());
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.out.println(ctx.channel().remoteAddress() + " refused: "
                        + failure.cause().getMessage()); // the codec closes the channel
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message); // ours until here, and the codec's to release from here on
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush(); // one system call for all the echoes of one read
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            // Who does not take the echoes is not read from, so that they do not pile up here.
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
            ctx.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.out.println(ctx.channel().remoteAddress() + " failed: " + cause.getMessage());
            ctx.close();
        }
    }
}
