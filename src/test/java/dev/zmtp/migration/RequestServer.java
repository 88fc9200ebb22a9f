package dev.zmtp.migration;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.BatchFlusher;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
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
import java.util.Arrays;
import java.util.Locale;

/**
 * An old-style program: a REP that answers requests of six frames (an empty one, the request's number, verb, path,
 * header, body) with replies of six, and lets a {@link BatchFlusher} decide when they leave.
 */
final class RequestServer {

    private final Channel channel;

    RequestServer(EventLoopGroup group) {
        final ZMTPConfig config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.REP).build();
        channel = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.from(config), new Answers(ch));
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    SocketAddress address() {
        return channel.localAddress();
    }

    private static final class Answers extends ChannelInboundHandlerAdapter {
        private final BatchFlusher flusher;

        Answers(Channel channel) {
            flusher = new BatchFlusher(channel);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ZMTPMessage request = (ZMTPMessage) msg;
            try {
                ctx.write(answer(request));
            } finally {
                request.release();
            }
            flusher.flush();
        }

        private static ZMTPMessage answer(ZMTPMessage request) {
            String body = request.frame(5).toString(CharsetUtil.UTF_8).toUpperCase(Locale.ROOT);
            return ZMTPMessage.from(Arrays.asList(
                    request.frame(0).retain(),
                    request.frame(1).retain(),
                    Unpooled.copiedBuffer("200", CharsetUtil.UTF_8),
                    request.frame(3).retain(),
                    request.frame(4).retain(),
                    Unpooled.copiedBuffer(body, CharsetUtil.UTF_8)));
        }
    }
}
