package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.websocket.ZMTPWebSocket;
import dev.zmtp.websocket.ZMTPWebSocketUpgrade;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** An HTTP server that answers requests, and is a ROUTER at the path {@code /echo}. */
public final class PagesAndEcho {

    private PagesAndEcho() {}

    /** Serves on port 8080 until it is killed. */
    public static void main(String... args) throws InterruptedException {
        System.out.println(
                "Pages on http://localhost:8080/ and a ROUTER on ws://localhost:8080/echo. Nothing to run beside it.");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        try {
            bind(group, 8080).sync().channel().closeFuture().sync();
        } finally {
            group.shutdownGracefully();
        }
    }

    static ChannelFuture bind(EventLoopGroup group, int port) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        addHandlers(ch);
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private static void addHandlers(Channel ch) {
        ZMTPWebSocketUpgrade upgrade = new ZMTPWebSocketUpgrade(
                "/echo",
                ZMTPWebSocket.DEFAULT.origins("http://localhost:8080"),
                () -> ZMTPCodec.of(ROUTER),
                pipeline -> pipeline.addLast(new EchoRouter.Echo()));
        ch.pipeline().addLast(new HttpServerCodec(), upgrade, new HttpObjectAggregator(1 << 16), new Pages());
    }

    private static final class Pages extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            FullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK,
                    Unpooled.copiedBuffer("a page\n", StandardCharsets.UTF_8));
            response.headers()
                    .set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes())
                    .set(HttpHeaderNames.CONNECTION, "close");
            ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
