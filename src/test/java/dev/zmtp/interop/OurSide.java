package dev.zmtp.interop;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestTransport;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Our codec on Netty's channels, as a server and as a client. */
final class OurSide implements AutoCloseable {

    private final TestTransport.Kit kit;
    private final EventLoops loops;
    private final ChannelGroup channels = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);
    private final BlockingQueue<OurEnd> accepted = new LinkedBlockingQueue<>();

    /** Over TCP, by NIO. */
    OurSide() {
        this(TestTransport.NIO);
    }

    OurSide(TestTransport transport) {
        this.kit = transport.kit(1);
        this.loops = new EventLoops(kit.group());
    }

    /** Listens on a free port, which is returned. {@code front}, sharable, stands between the socket and the codec. */
    int listen(ZMTPConfig config, ChannelHandler... front) {
        return ((InetSocketAddress) listen(Endpoints.loopback(0), config, front)).getPort();
    }

    /** Listens on {@code address}; returns the one that this has become, if any port will do. */
    SocketAddress listen(SocketAddress address, ZMTPConfig config, ChannelHandler... front) {
        Channel server = new ServerBootstrap()
                .group(loops.group())
                .channelFactory(kit.server())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        OurEnd end = new OurEnd(channel, ZMTPCodec.from(config), front);
                        channel.pipeline().addFirst(new FirstBytes(() -> accepted.add(end)));
                    }
                })
                .bind(address)
                .syncUninterruptibly()
                .channel();
        channels.add(server);
        return server.localAddress();
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

    /** Forgets the connections that {@link #accept()} has not returned. */
    void forgetAccepted() {
        accepted.clear();
    }

    /** Connects to a port that listens already. {@code front} stands between the socket and the codec. */
    OurEnd connect(int port, ZMTPConfig config, ChannelHandler... front) {
        return connect(Endpoints.loopback(port), config, front);
    }

    /** Connects to an address at which somebody listens already. */
    OurEnd connect(SocketAddress address, ZMTPConfig config, ChannelHandler... front) {
        BlockingQueue<OurEnd> connected = new LinkedBlockingQueue<>();
        new Bootstrap()
                .group(loops.group())
                .channelFactory(kit.channel())
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        connected.add(new OurEnd(channel, ZMTPCodec.from(config), front));
                    }
                })
                .connect(address)
                .syncUninterruptibly();
        return connected.remove();
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

    /** Closes the channels first: a loop that ends leaves what is written from the listener of a write unreleased. */
    @Override
    public void close() {
        channels.close().awaitUninterruptibly(Patience.LIMIT.toMillis());
        loops.close();
    }
}
