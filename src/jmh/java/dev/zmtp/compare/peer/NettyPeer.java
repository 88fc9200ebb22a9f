package dev.zmtp.compare.peer;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** The ends of connections on Netty, for each library on it. */
final class NettyPeer {

    private static final String LOOPBACK = "127.0.0.1";
    private static final int BACKLOG = 1024;

    /** Connections that are being made at the same time. */
    private static final int CONNECTING = 64;

    private final Run run;
    private final NettyTransport transport;
    private final NettyLibrary library;
    private final NettyTraffic traffic;

    private NettyPeer(Run run, NettyTransport transport, NettyLibrary library, NettyTraffic traffic) {
        this.run = run;
        this.transport = transport;
        this.library = library;
        this.traffic = traffic;
    }

    static void start(Run run, NettyTransport transport, NettyLibrary library, NettyTraffic traffic)
            throws InterruptedException {
        NettyPeer peer = new NettyPeer(run, transport, library, traffic);
        int port = run.arguments().port();
        if (run.arguments().role().binds()) {
            port = peer.bind();
            run.bound(port);
        }
        if (run.arguments().role().connects()) {
            peer.connect(port);
        }
    }

    private EventLoopGroup loop() {
        EventLoopGroup group = transport.group();
        if (run.arguments().busy()) {
            transport.spin(group.next(), () -> {});
        }
        return group;
    }

    private int bind() throws InterruptedException {
        Counter messages = run.messages(true);
        ServerBootstrap bootstrap = new ServerBootstrap();
        bootstrap.group(loop());
        bootstrap.channel(transport.serverChannelType());
        bootstrap.option(ChannelOption.SO_BACKLOG, BACKLOG);
        bootstrap.childOption(ChannelOption.TCP_NODELAY, true);
        bootstrap.childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                library.addCodec(ch.pipeline(), true);
                ch.pipeline().addLast(traffic.handler(true, messages), new Ending(null));
            }
        });
        Channel server = bootstrap.bind(LOOPBACK, 0).sync().channel();
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private void connect(int port) {
        Counter messages = run.messages(false);
        StartingLine line = new StartingLine();
        Bootstrap bootstrap = new Bootstrap();
        EventLoopGroup loop = loop();
        bootstrap.group(loop);
        bootstrap.channel(transport.channelType());
        bootstrap.option(ChannelOption.TCP_NODELAY, true);
        bootstrap.handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                library.addCodec(ch.pipeline(), false);
                ch.pipeline().addLast(line.handler(), traffic.handler(false, messages), new Ending(line));
            }
        });
        line.connector = () -> bootstrap.connect(LOOPBACK, port).addListener((ChannelFutureListener) this::connected);
        loop.next().execute(line::open);
    }

    private void connected(ChannelFuture future) {
        if (!future.isSuccess()) {
            run.fail(future.cause());
        }
    }

    /** Where connections wait until all are there. Of the event loop. */
    private final class StartingLine {
        private final int expected = run.arguments().connections();
        private final List<ChannelHandlerContext> ready = new ArrayList<>();
        private Runnable connector;
        private int begun;

        void open() {
            while (begun < expected && begun - ready.size() < CONNECTING) {
                begun++;
                connector.run();
            }
        }

        boolean isFull() {
            return ready.size() == expected;
        }

        ChannelInboundHandlerAdapter handler() {
            return new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                    if (library.isReady(event)) {
                        arrived(ctx);
                    }
                }
            };
        }

        private void arrived(ChannelHandlerContext ctx) {
            ready.add(ctx);
            if (isFull()) {
                run.ready();
                ready.forEach(each -> each.fireUserEventTriggered(NettyTraffic.GO));
            } else {
                open();
            }
        }
    }

    /** The end of the pipeline. A peer that goes away is how a run ends; anything else that fails, fails the run. */
    private final class Ending extends ChannelInboundHandlerAdapter {
        private final StartingLine line;

        Ending(StartingLine line) {
            this.line = line;
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (line != null && !line.isFull()) {
                run.fail(new IOException("connection closed (expected: a handshake)"));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (cause instanceof IOException) {
                ctx.close();
            } else {
                run.fail(cause);
            }
        }
    }
}
