package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A DEALER that connects again whenever its connection fails or ends, with growing delays, until it is stopped. It is
 * for programs with a pipeline of their own. A {@code ZMTPSocket} does this by itself, and queues meanwhile: take that
 * where you need no other handlers.
 */
public final class ReconnectingClient {

    private static final ZMTPConfig CONFIG = ZMTPConfig.builder()
            .socketType(DEALER)
            .handshakeTimeout(Duration.ofSeconds(5))
            .heartbeatInterval(Duration.ofSeconds(5)) // notices a peer that is gone without a word
            .build();

    private final EventLoop loop;
    private final Bootstrap bootstrap;
    private final Delays delays;

    // Used on the event loop only
    private Channel channel;
    private boolean stopped;

    /**
     * Connects to what {@code host} means at that moment, at each attempt. {@code onConnected} gets each new connection
     * on the event loop, once its handshake is complete.
     *
     * @param names looks the name up. {@code DefaultAddressResolverGroup} asks the JDK, and blocks the event loop that
     *     long; {@code DnsAddressResolverGroup}, of netty-resolver-dns, does not.
     */
    ReconnectingClient(
            EventLoopGroup group,
            AddressResolverGroup<?> names,
            String host,
            int port,
            Delays delays,
            Consumer<Channel> onConnected) {
        this.delays = delays;
        loop = group.next();
        bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .resolver(names)
                .remoteAddress(InetSocketAddress.createUnresolved(host, port)) // one that is resolved would stay so
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        // A codec serves one connection, a config any number.
                        ch.pipeline().addLast(ZMTPCodec.from(CONFIG), new Peer(onConnected));
                    }
                });
    }

    /** Keeps a connection to port 5555 for a minute, and sends a message on each new one. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("DEALER to 127.0.0.1:5555 for a minute, connects again whenever that fails or ends."
                + " Start, end and start again: mvn -q test-compile exec:java@example -Dexample=EchoRouter");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            ReconnectingClient client = new ReconnectingClient(
                    group,
                    DefaultAddressResolverGroup.INSTANCE,
                    "127.0.0.1",
                    5555,
                    new Delays(Duration.ofMillis(100), Duration.ofSeconds(30), Duration.ofSeconds(10)),
                    connected -> connected.writeAndFlush(ZMTPMessage.fromUTF8("hello")));
            client.start();
            Thread.sleep(60_000);
            client.stop().sync();
        } finally {
            group.shutdownGracefully();
        }
    }

    void start() {
        loop.execute(this::connect);
    }

    /** Closes the connection, if there is one, and makes no more. */
    Future<?> stop() {
        return loop.submit(() -> {
            stopped = true;
            if (channel != null) {
                channel.close();
            }
        });
    }

    private void connect() {
        if (stopped) {
            return;
        }
        channel = bootstrap.connect().channel();
        // A refused connection, a failed handshake and the end of a working connection all close the channel.
        channel.closeFuture().addListener(closed -> connectLater());
    }

    private void connectLater() {
        if (!stopped) {
            long delay = delays.next();
            System.err.println("not connected, tries again in " + TimeUnit.NANOSECONDS.toMillis(delay) + " ms");
            loop.schedule(this::connect, delay, TimeUnit.NANOSECONDS);
        }
    }

    /**
     * How long to wait before each attempt: twice as long as before the last one, until a connection was of use. A
     * handshake alone proves nothing: a server that ends each connection after it would be asked without a pause.
     */
    static final class Delays {
        private final long min;
        private final long max;
        private final long calm;
        private final LongSupplier nanoTime;
        private int failures;
        private boolean connected;
        private long connectedSince;

        /** A connection was of use if it has lived for {@code calm}, or has carried a message. */
        Delays(Duration min, Duration max, Duration calm) {
            this(min, max, calm, System::nanoTime);
        }

        Delays(Duration min, Duration max, Duration calm, LongSupplier nanoTime) {
            this.min = min.toNanos();
            this.max = max.toNanos();
            this.calm = calm.toNanos();
            this.nanoTime = nanoTime;
        }

        /** A handshake is complete. */
        void onConnected() {
            connected = true;
            connectedSince = nanoTime.getAsLong();
        }

        /** A message has arrived. One that was written may never arrive. */
        void onMessage() {
            failures = 0;
        }

        /** Returns the nanoseconds to wait, now that a connection has failed or ended. */
        long next() {
            if (connected && nanoTime.getAsLong() - connectedSince >= calm) {
                failures = 0;
            }
            connected = false;
            failures = Math.min(failures + 1, 20);
            return after(failures - 1);
        }

        /** Up to half of it is random, so that clients of one server do not return together. */
        private long after(int doublings) {
            long longest = min > max >> doublings ? max : min << doublings; // a shift without a check could overflow
            return ThreadLocalRandom.current().nextLong(longest / 2, longest + 1);
        }
    }

    private final class Peer extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final Consumer<Channel> onConnected;

        Peer(Consumer<Channel> onConnected) {
            this.onConnected = onConnected;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                delays.onConnected();
                onConnected.accept(ctx.channel());
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            delays.onMessage();
            System.out.println(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("connection lost: " + cause);
            ctx.close();
        }
    }
}
