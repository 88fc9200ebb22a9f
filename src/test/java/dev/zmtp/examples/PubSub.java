package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/** A PUB that sends each subscriber the topics that it asked for, and a SUB. */
public final class PubSub {

    /** Messages that may wait for the event loop. */
    private static final int MAX_WAITING = 10_000;

    private PubSub() {}

    /** Publishes the time and a random number each second, to a subscriber that wants the time. */
    public static void main(String... args) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        try {
            Publisher publisher = new Publisher(group.next(), System.out::println);
            Channel server = publisher
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .sync()
                    .channel();
            subscribe(group, server.localAddress(), "time.", System.out::println);
            for (int i = 0; i < 10; i++) {
                publisher.publish(ZMTPMessage.fromUTF8("time.utc", Instant.now().toString()));
                publisher.publish(ZMTPMessage.fromUTF8("random", Double.toString(Math.random())));
                Thread.sleep(1000);
            }
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    /** The server's side. All its connections share one event loop. */
    static final class Publisher {
        private final EventLoop loop;
        private final ChannelGroup subscribers;
        private final Semaphore room = new Semaphore(MAX_WAITING);
        private final Consumer<ZMTPSubscription> onSubscription;

        Publisher(EventLoop loop, Consumer<ZMTPSubscription> onSubscription) {
            this.loop = loop;
            this.onSubscription = onSubscription;
            subscribers = new DefaultChannelGroup(loop);
        }

        ChannelFuture bind(SocketAddress address) {
            return new ServerBootstrap()
                    .group(loop)
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(ZMTPCodec.of(PUB), new Filter());
                        }
                    })
                    .bind(address);
        }

        /**
         * Sends {@code message}, and releases it. Drops it if too many wait for the event loop. Called from any thread.
         */
        boolean publish(ZMTPMessage message) {
            if (!room.tryAcquire()) {
                message.release();
                return false;
            }
            // As a task: a write from another thread counts towards isWritable() before the filter has seen it.
            loop.execute(() -> {
                room.release();
                subscribers.writeAndFlush(message); // retains it for each channel
            });
            return true;
        }

        /** Comes before the codec on the way out, and passes on what the peer of this connection wants. */
        private final class Filter extends ChannelDuplexHandler {
            /** A set: a topic that was subscribed to twice is cancelled once. */
            private final Set<ZMTPSubscription> wanted = new HashSet<>();

            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof ZMTPHandshakeSuccess) {
                    subscribers.add(ctx.channel()); // a closed channel leaves the group by itself
                } else if (event instanceof ZMTPHandshakeFailure failure) {
                    System.err.println(failure);
                }
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ZMTPSubscription subscription = (ZMTPSubscription) msg; // a PUB receives nothing else
                if (subscription.isSubscribe()) {
                    wanted.add(subscription); // the codec limits their number and their length
                } else {
                    wanted.remove(ZMTPSubscription.subscribe(subscription.topic()));
                }
                onSubscription.accept(subscription);
            }

            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ZMTPMessage message = (ZMTPMessage) msg;
                // A slow subscriber misses messages. The alternative is to keep them all for it.
                if (ctx.channel().isWritable() && isWanted(message)) {
                    ctx.write(message, promise);
                } else {
                    message.release();
                    promise.trySuccess();
                }
            }

            private boolean isWanted(ZMTPMessage message) {
                for (ZMTPSubscription topic : wanted) {
                    if (topic.matches(message)) {
                        return true;
                    }
                }
                return false;
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                System.err.println("subscriber failed: " + cause);
                ctx.close();
            }
        }
    }

    /** Subscribes. {@code onMessage} gets each message on the event loop, and may use it until it returns. */
    static ChannelFuture subscribe(
            EventLoopGroup group, SocketAddress publisher, String topic, Consumer<ZMTPMessage> onMessage) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(SUB), new Subscriber(topic, onMessage));
                    }
                })
                .connect(publisher);
    }

    private static final class Subscriber extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final String topic;
        private final Consumer<ZMTPMessage> onMessage;

        Subscriber(String topic, Consumer<ZMTPMessage> onMessage) {
            this.topic = topic;
            this.onMessage = onMessage;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ctx.writeAndFlush(ZMTPSubscription.subscribe(topic));
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            onMessage.accept(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("subscription failed: " + cause);
            ctx.close();
        }
    }
}
