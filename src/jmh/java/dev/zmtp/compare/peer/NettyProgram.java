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
import java.util.ArrayList;
import java.util.List;

/** The ends of connections on Netty, for each library on it. */
final class NettyProgram {

    private static final int BACKLOG = 1024;

    /** Connections that are being made at the same time. */
    private static final int CONNECTING = 64;

    private final Program program;
    private final NettyTransport transport;
    private final NettyLibrary library;
    private final NettyTraffic traffic;

    private NettyProgram(Program program, NettyTransport transport, NettyLibrary library, NettyTraffic traffic) {
        this.program = program;
        this.transport = transport;
        this.library = library;
        this.traffic = traffic;
    }

    static void start(Program program, NettyTransport transport, NettyLibrary library, NettyTraffic traffic)
            throws InterruptedException, UnsupportedException {
        if (program.arguments().workload().needsSockets()) {
            throw new UnsupportedException("a codec has no subscriptions, and no peers to choose from");
        }
        if (program.arguments().medium() == Medium.INPROC) {
            throw new UnsupportedException("a codec has nothing to do within a process");
        }
        if (program.arguments().medium() == Medium.WS) {
            throw new UnsupportedException("WebSocket is measured with sockets");
        }
        NettyProgram peer = new NettyProgram(program, transport, library, traffic);
        int port = program.arguments().port();
        if (program.arguments().role().binds()) {
            port = peer.bind();
            program.bound(port);
        }
        if (program.arguments().role().connects()) {
            peer.connect(port);
        }
    }

    private EventLoopGroup loop() {
        EventLoopGroup group = transport.group();
        if (program.arguments().busy()) {
            transport.spin(group.next(), () -> {});
        }
        return group;
    }

    private int bind() throws InterruptedException {
        Counter messages = program.messages(true);
        ServerBootstrap bootstrap = new ServerBootstrap();
        bootstrap.group(loop());
        bootstrap.channel(transport.serverChannelType());
        bootstrap.option(ChannelOption.SO_BACKLOG, BACKLOG);
        if (program.arguments().medium() == Medium.TCP) {
            bootstrap.childOption(ChannelOption.TCP_NODELAY, true);
        }
        bootstrap.childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                prepare(ch);
                library.addCodec(ch.pipeline(), true);
                ch.pipeline().addLast(traffic.handler(true, messages), new Ending(null));
            }
        });
        Channel server = bootstrap.bind(transport.address(0)).sync().channel();
        return transport.port(server.localAddress());
    }

    private void connect(int port) {
        Counter messages = program.messages(false);
        StartingLine line = new StartingLine();
        Bootstrap bootstrap = new Bootstrap();
        EventLoopGroup loop = loop();
        bootstrap.group(loop);
        bootstrap.channel(transport.channelType());
        if (program.arguments().medium() == Medium.TCP) {
            bootstrap.option(ChannelOption.TCP_NODELAY, true);
        }
        bootstrap.handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                prepare(ch);
                library.addCodec(ch.pipeline(), false);
                ch.pipeline().addLast(line.handler(), traffic.handler(false, messages), new Ending(line));
            }
        });
        line.connector =
                () -> bootstrap.connect(transport.address(port)).addListener((ChannelFutureListener) this::connected);
        loop.next().execute(line::open);
    }

    private void prepare(Channel connection) {
        if (program.arguments().busy()) {
            transport.neverSleep(connection);
        }
    }

    private void connected(ChannelFuture future) {
        if (!future.isSuccess()) {
            program.fail(future.cause());
        }
    }

    /** Where connections wait until all are established. Runs on the event loop. */
    private final class StartingLine {
        private final int expected = program.arguments().connections();
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
                program.ready();
                ready.forEach(each -> each.fireUserEventTriggered(NettyTraffic.GO));
            } else {
                open();
            }
        }
    }

    /** The end of the pipeline. A run ends when the peer goes away; any other failure fails the run. */
    private final class Ending extends ChannelInboundHandlerAdapter {
        private final StartingLine line;

        Ending(StartingLine line) {
            this.line = line;
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (line != null && !line.isFull()) {
                program.fail(new IOException("connection closed (expected: a complete handshake)"));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (cause instanceof IOException) {
                ctx.close();
            } else {
                program.fail(cause);
            }
        }
    }
}
