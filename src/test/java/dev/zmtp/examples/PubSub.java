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
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/** A PUB that sends each subscriber what it asked for, and a SUB that asks by the start of the first frame. */
public final class PubSub {

    private static final int MAX_TOPICS = 1000;

    private PubSub() {}

    /** Publishes the time and a random number each second, to a subscriber that wants the time. */
    public static void main(String... args) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        try {
            Publisher publisher = new Publisher(System.out::println);
            Channel server = publisher
                    .bind(group, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
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

    /** The server's side. */
    static final class Publisher {
        private final ChannelGroup subscribers = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        private final Consumer<ZMTPSubscription> onSubscription;

        Publisher(Consumer<ZMTPSubscription> onSubscription) {
            this.onSubscription = onSubscription;
        }

        ChannelFuture bind(EventLoopGroup group, SocketAddress address) {
            return new ServerBootstrap()
                    .group(group)
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel ch) {
                            ch.pipeline().addLast(ZMTPCodec.of(PUB), new Filter());
                        }
                    })
                    .bind(address);
        }

        /** Sends {@code message}, and releases it. Called from any thread. */
        void publish(ZMTPMessage message) {
            subscribers.writeAndFlush(message); // retains it for each channel
        }

        /** Stands before the codec of one connection and lets through what its peer wants. */
        private final class Filter extends ChannelDuplexHandler {
            /** A set, for who subscribes twice cancels once. */
            private final Set<ZMTPSubscription> wanted = new HashSet<>();

            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof ZMTPHandshakeSuccess) {
                    subscribers.add(ctx.channel()); // which leaves the group by itself when it is closed
                } else if (event instanceof ZMTPHandshakeFailure failure) {
                    System.out.println("no subscriber: " + failure.cause().getMessage());
                }
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ZMTPSubscription subscription = (ZMTPSubscription) msg; // a PUB receives nothing else
                if (subscription.isSubscribe()) {
                    if (wanted.size() >= MAX_TOPICS) {
                        ctx.close(); // who subscribes without end must not fill the memory
                        return;
                    }
                    wanted.add(subscription);
                } else {
                    wanted.remove(ZMTPSubscription.subscribe(subscription.topic()));
                }
                onSubscription.accept(subscription);
            }

            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ZMTPMessage message = (ZMTPMessage) msg;
                // A slow subscriber misses messages: better than to keep them all for it.
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
                System.out.println("subscriber failed: " + cause.getMessage());
                ctx.close();
            }
        }
    }

    /** Subscribes; {@code onMessage} gets each message on the event loop, and may use it for the time of the call. */
    static ChannelFuture subscribe(
            EventLoopGroup group, SocketAddress publisher, String topic, Consumer<ZMTPMessage> onMessage) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
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
                System.out.println("not subscribed: " + failure.cause().getMessage());
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            onMessage.accept(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.out.println("subscription failed: " + cause.getMessage());
            ctx.close();
        }
    }
}
