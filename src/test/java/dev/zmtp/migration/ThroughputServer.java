package dev.zmtp.migration;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.CharsetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** An old-style program: a ROUTER that counts what a client sends, and reports the count when the client is done. */
final class ThroughputServer {

    private final Channel channel;

    ThroughputServer(EventLoopGroup group) {
        channel = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ZMTPSocketType.ROUTER), new Counter());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    SocketAddress address() {
        return channel.localAddress();
    }

    private static final class Counter extends ChannelInboundHandlerAdapter {
        private long messages;
        private long bytes;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ZMTPMessage message = (ZMTPMessage) msg;
            try {
                if (message.size() == 1
                        && message.frame(0).toString(CharsetUtil.UTF_8).equals("total?")) {
                    ctx.writeAndFlush(ZMTPMessage.fromUTF8(Long.toString(messages), Long.toString(bytes)));
                } else {
                    messages++;
                    bytes += message.frame(message.size() - 1).readableBytes();
                }
            } finally {
                message.release();
            }
        }
    }
}
