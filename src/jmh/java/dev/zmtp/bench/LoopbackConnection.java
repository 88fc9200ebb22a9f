package dev.zmtp.bench;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshake;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;

/** Two codecs over a loopback socket, each with an event loop of its own, whose handshake is complete. */
final class LoopbackConnection implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 10;

    private final SocketTransport transport;
    private final Progress progress;
    private final EventLoopGroup clientLoop;
    private final EventLoopGroup serverLoop;
    private volatile boolean closing;
    private Channel client;

    /** One end: a codec, and the application handler after it. */
    record End(ZMTPCodec codec, ChannelHandler application) {}

    private LoopbackConnection(SocketTransport transport, Progress progress) {
        this.transport = transport;
        this.progress = progress;
        this.clientLoop = transport.newLoop();
        this.serverLoop = transport.newLoop();
    }

    /**
     * Connects {@code client} to {@code server} and waits for their handshake. What fails later fails {@code progress}.
     */
    static LoopbackConnection open(SocketTransport transport, Progress progress, End client, End server)
            throws Exception {
        LoopbackConnection connection = new LoopbackConnection(transport, progress);
        try {
            connection.connect(client, server);
        } catch (Throwable e) {
            connection.close(); // its threads would keep the JVM alive
            throw e;
        }
        return connection;
    }

    private void connect(End clientEnd, End serverEnd) throws InterruptedException {
        Channel acceptor = new ServerBootstrap()
                .group(serverLoop)
                .channel(transport.serverChannel())
                .childHandler(pipeline(serverEnd))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        client = new Bootstrap()
                .group(clientLoop)
                .channel(transport.channel())
                .handler(pipeline(clientEnd))
                .connect(acceptor.localAddress())
                .sync()
                .channel();
        awaitHandshake(clientEnd);
        awaitHandshake(serverEnd);
        acceptor.close().sync();
    }

    private ChannelHandler pipeline(End end) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(end.codec(), end.application(), new Watch());
            }
        };
    }

    private static void awaitHandshake(End end) throws InterruptedException {
        Future<ZMTPHandshake> handshake = end.codec().session().handshakeFuture();
        if (!handshake.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("handshake: incomplete (expected: complete)");
        }
        handshake.sync(); // throws if it failed
    }

    /** The channel that connected. */
    Channel client() {
        return client;
    }

    /** Closes both ends and returns when their threads have ended. */
    @Override
    public void close() {
        closing = true;
        clientLoop.shutdownGracefully(0, PATIENCE_SECONDS, TimeUnit.SECONDS);
        serverLoop.shutdownGracefully(0, PATIENCE_SECONDS, TimeUnit.SECONDS);
        clientLoop.terminationFuture().awaitUninterruptibly();
        serverLoop.terminationFuture().awaitUninterruptibly();
    }

    /** The last handler: reports what is not expected. */
    private final class Watch extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            progress.fail(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (!closing) {
                progress.fail(new ClosedChannelException());
            }
        }
    }
}
