package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPTopicMatcher;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** A PUB that sends each subscriber the topics that it asked for, and a SUB. */
public final class PubSub {

    /** Messages that may wait for the event loop. */
    static final int MAX_WAITING = 10_000;

    /** Messages that may wait for a subscriber. It misses those that come when so many do. */
    static final int MAX_BEHIND = 10_000;

    /** Bytes of messages that may wait for all subscribers together. */
    private static final long MAX_BYTES_BEHIND = 32 << 20;

    /** Messages that are matched before the event loop does other work. */
    private static final int MESSAGES_PER_TURN = 512;

    /** Subscribers to which they are sent before the event loop does other work. */
    private static final int SUBSCRIBERS_PER_TURN = 64;

    private PubSub() {}

    /** Publishes the time and a random number each second, to a subscriber that wants the time. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PUB and SUB in this process, for ten seconds. Nothing to run beside it.");
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
        private final Consumer<ZMTPSubscription> onSubscription;
        private final Semaphore room = new Semaphore(MAX_WAITING);
        private final Queue<ZMTPMessage> waiting = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean scheduled = new AtomicBoolean();
        private final LongAdder dropped = new LongAdder();

        // Used by the event loop only.
        private final ZMTPTopicMatcher<Subscription> topics = new ZMTPTopicMatcher<>();
        private final Queue<Subscription> due = new ArrayDeque<>();
        private final Set<Subscription> slow = new LinkedHashSet<>();
        private long bytesBehind;

        Publisher(EventLoop loop, Consumer<ZMTPSubscription> onSubscription) {
            this.loop = loop;
            this.onSubscription = onSubscription;
        }

        ChannelFuture bind(SocketAddress address) {
            return new ServerBootstrap()
                    .group(loop)
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(ZMTPCodec.of(PUB), new Subscription(ch));
                        }
                    })
                    .bind(address);
        }

        /**
         * Sends {@code message}, and releases it. May be called from any thread.
         *
         * @return false if {@link #MAX_WAITING} messages wait for the event loop, and this one was not accepted: the
         *     caller is faster than the loop, and should wait
         */
        boolean publish(ZMTPMessage message) {
            if (!room.tryAcquire()) {
                message.release();
                return false;
            }
            waiting.add(message);
            if (scheduled.compareAndSet(false, true)) {
                loop.execute(this::turn); // one task for a whole burst
            }
            return true;
        }

        /** How many messages were dropped, each counted for each subscriber that missed it. */
        long dropped() {
            return dropped.sum();
        }

        /** Whether messages wait for the event loop. */
        boolean isBusy() {
            return scheduled.get() || !waiting.isEmpty();
        }

        private void turn() {
            if (due.isEmpty()) {
                matchWaiting();
            }
            for (int i = 0; i < SUBSCRIBERS_PER_TURN && !due.isEmpty(); i++) {
                due.remove().send(); // all that was matched, and one flush
            }
            dropFromSlowest();
            if (!due.isEmpty()) {
                next();
                return;
            }
            scheduled.set(false);
            if (!waiting.isEmpty() && scheduled.compareAndSet(false, true)) {
                next();
            }
        }

        /** Not execute: the loop would run it before it looks at its channels again. */
        private void next() {
            loop.schedule(this::turn, 0, TimeUnit.NANOSECONDS);
        }

        private void matchWaiting() {
            for (int i = 0; i < MESSAGES_PER_TURN; i++) {
                ZMTPMessage message = waiting.poll();
                if (message == null) {
                    return;
                }
                room.release();
                match(message);
            }
        }

        private void match(ZMTPMessage message) {
            // One look at the topic, however many there are. What each channel sends is the same message, encoded once.
            message.encodeOnce();
            topics.match(message.frame(0), subscriber -> subscriber.add(message));
            message.release();
        }

        /** At most so many bytes are kept for all slow subscribers. The slowest one misses what was kept for it. */
        private void dropFromSlowest() {
            while (bytesBehind > MAX_BYTES_BEHIND && !slow.isEmpty()) { // the others get theirs in a later turn
                slow.stream()
                        .max(Comparator.comparingLong(subscriber -> subscriber.bytes))
                        .orElseThrow()
                        .dropAll();
            }
        }

        /** A connection. A subscriber that does not keep up has a queue of messages, up to a bound. */
        private final class Subscription extends SimpleChannelInboundHandler<ZMTPSubscription> {
            private final Channel channel;
            private final Queue<ZMTPMessage> behind = new ArrayDeque<>();
            private long bytes;
            private long missed;

            Subscription(Channel channel) {
                this.channel = channel;
            }

            @Override
            protected void channelRead0(ChannelHandlerContext ctx, ZMTPSubscription subscription) {
                if (subscription.isSubscribe()) {
                    topics.add(subscription.topic(), this); // fails if there are too many, which ends this connection
                } else {
                    topics.remove(subscription.topic(), this);
                }
                onSubscription.accept(subscription);
            }

            /** Keeps {@code message} until it is sent, at the end of this turn or when the channel is writable. */
            void add(ZMTPMessage message) {
                if (behind.size() == MAX_BEHIND) {
                    missed(1);
                    return;
                }
                if (behind.isEmpty()) {
                    due.add(this);
                }
                behind.add(message.retain());
                bytes += message.readableBytes();
                bytesBehind += message.readableBytes();
            }

            @Override
            public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                ctx.executor().execute(this::send); // as a task: this call may come from inside write
            }

            private void send() {
                while (channel.isWritable() && !behind.isEmpty()) {
                    channel.write(takeBehind(), channel.voidPromise()); // a failure comes to exceptionCaught
                }
                channel.flush();
                if (behind.isEmpty()) {
                    slow.remove(this);
                } else {
                    slow.add(this);
                }
            }

            private ZMTPMessage takeBehind() {
                ZMTPMessage message = behind.remove();
                bytes -= message.readableBytes();
                bytesBehind -= message.readableBytes();
                return message;
            }

            private void dropAll() {
                missed(behind.size());
                while (!behind.isEmpty()) {
                    takeBehind().release();
                }
                slow.remove(this);
            }

            private void missed(int messages) {
                missed += messages;
                dropped.add(messages);
            }

            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof ZMTPHandshakeFailure failure) {
                    System.err.println(failure);
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                topics.removeAll(this);
                due.remove(this);
                dropAll();
                if (missed > 0) {
                    System.err.println(channel + " missed " + missed + " messages");
                }
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
