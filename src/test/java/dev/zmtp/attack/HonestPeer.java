package dev.zmtp.attack;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.testing.Hex;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * A peer that is connected before an attack begins, and measures how the server serves it.
 *
 * <p>For a server that echoes it has two connections: one that keeps a few messages under way, which counts how many
 * come back, and one that sends a message every few milliseconds, which measures how long each takes. For a publisher
 * it has one subscription. For a PULL it has a connection that pushes messages at a fixed rate, and subscribes to what
 * becomes of them.
 */
final class HonestPeer {

    private static final int WINDOW = 16;
    private static final int PROBE_MILLIS = 5;
    private static final int PRECISION = 3;

    private static final ZMTPCurveKeyPair KEYS = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("02*32"));

    private final EventLoop loop;
    private final Service service;
    private final List<Channel> channels = new ArrayList<>();

    /** What follows is the loop's alone. */
    private final Histogram latencies = new Histogram(PRECISION);

    /** When the messages were sent that have not come back yet. */
    private final Queue<Long> underWay = new ArrayDeque<>();

    private long served;
    private long since = System.nanoTime();

    /**
     * What the peer saw in a time.
     *
     * @param perSecond messages that arrived each second
     * @param median the median of their latencies in nanoseconds; a message that is late counts with its age
     */
    record Seen(double perSecond, long median) {}

    /** Connects to the server. */
    HonestPeer(EventLoop loop, ServerAddresses server, Service service) throws InterruptedException {
        this.loop = loop;
        this.service = service;
        if (service.isPublisher()) {
            connect(server.honest(service), service.peer(), new Subscriber());
        } else if (service == Service.PULL) {
            connect(server.other(), ZMTPSocketType.SUB, new Subscriber());
            connect(server.honest(service), service.peer(), new Pusher());
        } else {
            connect(server.honest(service), service.peer(), new Load());
            connect(server.honest(service), service.peer(), new Probe());
        }
    }

    private void connect(SocketAddress address, ZMTPSocketType type, ChannelHandler handler)
            throws InterruptedException {
        channels.add(bootstrap(loop, service, type, () -> handler)
                .connect(address)
                .sync()
                .channel());
    }

    /** A bootstrap for peers of such a server. */
    static Bootstrap bootstrap(EventLoop loop, Service service, Supplier<ChannelHandler> handler) {
        return bootstrap(loop, service, service.peer(), handler);
    }

    private static Bootstrap bootstrap(
            EventLoop loop, Service service, ZMTPSocketType type, Supplier<ChannelHandler> handler) {
        ZMTPConfig.Builder config = ZMTPConfig.builder().socketType(type);
        if (service == Service.CURVE_ECHO) {
            config.mechanism(ZMTPCurve.client(AttackedServer.KEYS.publicKey(), KEYS));
        }
        ZMTPConfig built = config.build();
        return new Bootstrap().group(loop).channel(NioSocketChannel.class).handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(ZMTPCodec.from(built), handler.get());
            }
        });
    }

    /** Whether all its connections are still open. */
    boolean isConnected() {
        return channels.stream().allMatch(Channel::isActive);
    }

    /** What it saw since it was asked last. */
    Seen take() throws InterruptedException, ExecutionException {
        return loop.submit(this::taken).get();
    }

    private Seen taken() {
        long now = System.nanoTime();
        underWay.forEach(sent -> latencies.recordValue(now - sent));
        long median = latencies.getTotalCount() == 0 ? now - since : latencies.getValueAtPercentile(50);
        Seen seen = new Seen((double) served * TimeUnit.SECONDS.toNanos(1) / (now - since), median);
        latencies.reset();
        served = 0;
        since = now;
        return seen;
    }

    /** Keeps some messages under way, and counts them. */
    private final class Load extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                for (int i = 0; i < WINDOW; i++) {
                    ctx.write(Ticks.now(service));
                }
                ctx.flush();
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            served++;
            ctx.write(Ticks.now(service), ctx.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Sends a message at fixed times, whether or not the one before has come back. */
    private final class Probe extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ctx.executor().scheduleAtFixedRate(() -> send(ctx), PROBE_MILLIS, PROBE_MILLIS, TimeUnit.MILLISECONDS);
            }
        }

        private void send(ChannelHandlerContext ctx) {
            if (ctx.channel().isActive()) {
                underWay.add(System.nanoTime());
                ctx.writeAndFlush(Ticks.now(service), ctx.voidPromise());
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            underWay.remove();
            latencies.recordValue(Ticks.age(message));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Pushes messages at fixed times, while the server takes them. */
    private final class Pusher extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ctx.executor().scheduleAtFixedRate(() -> push(ctx), PROBE_MILLIS, PROBE_MILLIS, TimeUnit.MILLISECONDS);
            }
        }

        private void push(ChannelHandlerContext ctx) {
            for (int i = 0; i < WINDOW && ctx.channel().isWritable(); i++) {
                ctx.write(Ticks.now(service), ctx.voidPromise());
            }
            ctx.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Counts what is published. */
    private final class Subscriber extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ctx.writeAndFlush(ZMTPSubscription.subscribe(Ticks.TOPIC));
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            served++;
            latencies.recordValue(Ticks.age(message));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
