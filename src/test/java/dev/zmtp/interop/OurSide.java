package dev.zmtp.interop;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Our codec on Netty's NIO channels on the loopback interface, as a server and as a client. */
final class OurSide implements AutoCloseable {

    private final EventLoops loops = new EventLoops(1);
    private final BlockingQueue<OurEnd> accepted = new LinkedBlockingQueue<>();

    /** Listens on a free port, which is returned. {@code front}, sharable, stands between the socket and the codec. */
    int listen(ZMTPConfig config, ChannelHandler... front) {
        Channel server = new ServerBootstrap()
                .group(loops.group())
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        OurEnd end = new OurEnd(channel, ZMTPCodec.from(config), front);
                        channel.pipeline().addFirst(new FirstBytes(() -> accepted.add(end)));
                    }
                })
                .bind(loopback(0))
                .syncUninterruptibly()
                .channel();
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** The next connection to a port that is listened on, once its peer has sent something. */
    OurEnd accept() {
        OurEnd end = accept(Patience.LIMIT);
        if (end == null) {
            throw new AssertionError("connection: none (expected: one within " + Patience.LIMIT + ")");
        }
        return end;
    }

    /** As {@link #accept()}, but null if there is none within {@code wait}. */
    @Nullable
    OurEnd accept(Duration wait) {
        try {
            return accepted.poll(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /** Connects to a port that listens already. {@code front} stands between the socket and the codec. */
    OurEnd connect(int port, ZMTPConfig config, ChannelHandler... front) {
        BlockingQueue<OurEnd> connected = new LinkedBlockingQueue<>();
        new Bootstrap()
                .group(loops.group())
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        connected.add(new OurEnd(channel, ZMTPCodec.from(config), front));
                    }
                })
                .connect(loopback(port))
                .syncUninterruptibly();
        return connected.remove();
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Tells when the peer speaks for the first time, and leaves. */
    private static final class FirstBytes extends ChannelInboundHandlerAdapter {
        private final Runnable listener;

        FirstBytes(Runnable listener) {
            this.listener = listener;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            listener.run();
            ctx.pipeline().remove(this);
            ctx.fireChannelRead(msg);
        }
    }

    @Override
    public void close() {
        loops.close();
    }
}
