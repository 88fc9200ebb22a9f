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
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A DEALER that connects again whenever its connection fails or ends, with growing delays, until it is stopped. */
public final class ReconnectingClient {

    private static final ZMTPConfig CONFIG = ZMTPConfig.builder()
            .socketType(DEALER)
            .handshakeTimeout(Duration.ofSeconds(5))
            .heartbeatInterval(Duration.ofSeconds(5)) // notices a peer that is gone without a word
            .build();

    private final EventLoop loop;
    private final Bootstrap bootstrap;
    private final Duration minDelay;
    private final Duration maxDelay;

    // Used on the event loop only
    private Channel channel;
    private int failures;
    private boolean stopped;

    /** {@code onConnected} gets each new connection on the event loop, once its handshake is complete. */
    ReconnectingClient(
            EventLoopGroup group,
            SocketAddress address,
            Duration minDelay,
            Duration maxDelay,
            Consumer<Channel> onConnected) {
        this.minDelay = minDelay;
        this.maxDelay = maxDelay;
        loop = group.next();
        bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .remoteAddress(address)
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
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            ReconnectingClient client = new ReconnectingClient(
                    group,
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555),
                    Duration.ofMillis(100),
                    Duration.ofSeconds(30),
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
            loop.schedule(this::connect, delay(failures), TimeUnit.NANOSECONDS);
            failures++;
        }
    }

    /** Doubles with each failure. Up to half of it is random, so that clients of one server do not return together. */
    long delay(int failures) {
        int doublings = Math.min(failures, 20);
        long max = maxDelay.toNanos();
        long min = minDelay.toNanos();
        long longest = min > max >> doublings ? max : min << doublings; // a shift without a check could overflow
        return ThreadLocalRandom.current().nextLong(longest / 2, longest + 1);
    }

    private final class Peer extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final Consumer<Channel> onConnected;

        Peer(Consumer<Channel> onConnected) {
            this.onConnected = onConnected;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                failures = 0;
                onConnected.accept(ctx.channel());
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            System.out.println(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("connection lost: " + cause);
            ctx.close();
        }
    }
}
