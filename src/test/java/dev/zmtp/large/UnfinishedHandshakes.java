package dev.zmtp.large;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Connections that send the beginning of a greeting and nothing more, and come back when the server has ended them. */
@Sharable
final class UnfinishedHandshakes extends ChannelInboundHandlerAdapter implements AutoCloseable {

    private static final byte[] SIGNATURE = {(byte) 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f};

    /** As clients do that are no attackers. */
    private static final int AGAIN_MILLIS = 1_000;

    private final Bootstrap bootstrap;
    private final Set<Channel> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger ends = new AtomicInteger();
    private volatile boolean closed;

    /** Opens so many connections to this endpoint over TCP, and does not wait for them. */
    UnfinishedHandshakes(EventLoopGroup group, String endpoint, int count) {
        int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        bootstrap = new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .remoteAddress(InetAddress.getLoopbackAddress(), port)
                .handler(this);
        for (int i = 0; i < count; i++) {
            bootstrap.connect();
        }
    }

    /** How often the server has ended one. */
    int ends() {
        return ends.get();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        open.add(ctx.channel());
        ctx.writeAndFlush(Unpooled.wrappedBuffer(SIGNATURE));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ReferenceCountUtil.release(message);
    }

    @Override
    public void channelUnregistered(ChannelHandlerContext ctx) {
        EventLoop loop = ctx.channel().eventLoop();
        open.remove(ctx.channel());
        if (!closed) {
            ends.incrementAndGet();
            loop.schedule(() -> bootstrap.connect(), AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close(); // the server has reset it
    }

    @Override
    public void close() {
        closed = true;
        open.forEach(Channel::close);
    }
}
