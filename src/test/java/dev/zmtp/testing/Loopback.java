package dev.zmtp.testing;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A server and its clients on one transport of this machine, and how to wait for them. */
public final class Loopback implements AutoCloseable {

    public static final int PATIENCE_SECONDS = 30;

    private final TestTransport.Kit kit;
    private final SocketAddress address;
    private final Map<ChannelOption<?>, Object> options;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private Channel server;

    public Loopback(TestTransport.Kit kit, SocketAddress address) {
        this.kit = kit;
        this.address = address;
        this.options = new HashMap<>(kit.options());
    }

    /** Has all channels from now on start with this option, on both sides. */
    public <T> void set(ChannelOption<T> option, T value) {
        options.put(option, value);
    }

    /** One end of a connection. */
    public static final class End extends ChannelInboundHandlerAdapter {
        public final ZMTPCodec codec;
        public final BlockingQueue<ZMTPMessage> messages = new LinkedBlockingQueue<>();
        public final BlockingQueue<Object> handshakes = new LinkedBlockingQueue<>();
        public final List<Throwable> failures = new CopyOnWriteArrayList<>();
        public final BlockingQueue<Boolean> writability = new LinkedBlockingQueue<>();
        private final CountDownLatch inactive = new CountDownLatch(1);
        public volatile Channel channel;

        public End(UnaryOperator<ZMTPCodec.Builder> settings) {
            codec = settings.apply(ZMTPCodec.builder().socketType(PAIR)).build();
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channel = ctx.channel();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof ZMTPHandshakeSuccess || evt instanceof ZMTPHandshakeFailure) {
                handshakes.add(evt);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            messages.add((ZMTPMessage) msg);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            writability.add(ctx.channel().isWritable());
            ctx.fireChannelWritabilityChanged();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            inactive.countDown();
        }

        public Object handshake() throws InterruptedException {
            return await(handshakes);
        }

        public void assertSucceeded() throws InterruptedException {
            assertThat(handshake()).isInstanceOf(ZMTPHandshakeSuccess.class);
        }

        public void assertClosed() throws InterruptedException {
            assertThat(inactive.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        }

        /** The number in the next message, which is released. */
        public int number() throws InterruptedException {
            return numberOf(await(messages));
        }

        private static int numberOf(ZMTPMessage message) {
            try {
                return message.frame(0).getInt(0);
            } finally {
                message.release();
            }
        }

        /** The numbers in all messages that have come. */
        public List<Integer> numbers() {
            List<ZMTPMessage> all = new ArrayList<>();
            messages.drainTo(all);
            return all.stream().map(End::numberOf).toList();
        }

        /** Writes a message of {@code length} bytes that starts with {@code number}. */
        public ChannelFuture write(int number, int length) {
            ByteBuf body = channel.alloc().buffer(length).writeInt(number).writeZero(length - 4);
            return channel.write(ZMTPMessage.from(body));
        }
    }

    /**
     * Reads again when a read completes without a message. A handler that reads by hand after a FlowControlHandler
     * needs this: that takes the end of a read as the answer to its request, but a read may end before a message does.
     */
    public static final class Patient extends ChannelDuplexHandler {
        private boolean asked;

        @Override
        public void read(ChannelHandlerContext ctx) {
            asked = true;
            ctx.read();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            asked = false;
            ctx.fireChannelRead(msg);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (asked) {
                ctx.read();
            }
            ctx.fireChannelReadComplete();
        }
    }

    public static <T> T await(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    public static void await(Future<?> future) throws InterruptedException {
        assertThat(future.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    public static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    /**
     * Sends messages of many lengths from {@code client} to {@code server} and back, closes, and checks each message,
     * each promise, and that nothing else was fired.
     */
    public static void converse(ChannelFuture connected, End client, End server) throws Exception {
        Channel channel = connected.channel();
        List<ChannelFuture> writes = new ArrayList<>();
        await(connected);
        assertThat(connected.cause()).isNull();
        List<ZMTPMessage> said = List.of(
                message(3),
                message(0),
                message(5000),
                message(1, 0, 300, 5000, 2),
                message(100_000),
                message(4097, 4097, 1));
        for (ZMTPMessage message : said) {
            writes.add(channel.write(message.retain()));
        }
        channel.flush();
        client.assertSucceeded();
        server.assertSucceeded();
        for (ZMTPMessage message : said) {
            ZMTPMessage heard = await(server.messages);
            assertThat(heard).isEqualTo(message);
            writes.add(server.channel.writeAndFlush(heard));
        }
        for (ZMTPMessage message : said) {
            ZMTPMessage answer = await(client.messages);
            assertThat(answer).isEqualTo(message);
            answer.release();
            message.release();
        }
        for (ChannelFuture write : writes) {
            await(write);
            assertThat(write.cause()).isNull();
        }
        channel.close();
        client.assertClosed();
        server.assertClosed();
        for (End end : List.of(client, server)) {
            assertThat(end.handshakes).isEmpty();
            assertThat(end.messages).isEmpty();
            assertThat(end.failures).isEmpty();
        }
    }

    /** A message with frames of these lengths. */
    public static ZMTPMessage message(int... lengths) {
        ByteBuf[] frames = new ByteBuf[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            frames[i] = Hex.buffer("61*" + lengths[i]);
        }
        return ZMTPMessage.from(frames);
    }

    private ChannelInitializer<Channel> initializer(ChannelHandler... handlers) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                channels.add(ch);
                ch.pipeline().addLast(handlers);
            }
        };
    }

    /** Waits for one client, whose channel gets these handlers. */
    @SuppressWarnings("unchecked") // no option is of a type that its value is not
    public void listen(ChannelHandler... handlers) throws InterruptedException {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(kit.group())
                .channelFactory(kit.server())
                .childHandler(initializer(handlers));
        for (Map.Entry<ChannelOption<?>, Object> option : options.entrySet()) {
            bootstrap.childOption((ChannelOption<Object>) option.getKey(), option.getValue());
        }
        ChannelFuture bound = bootstrap.bind(address);
        await(bound);
        assertThat(bound.cause()).isNull();
        server = bound.channel();
    }

    public SocketAddress serverAddress() {
        return server.localAddress();
    }

    public void stopListening() throws InterruptedException {
        await(server.close());
        server = null;
    }

    /** Connects a channel with these handlers to the server. */
    public Channel connect(ChannelHandler... handlers) throws InterruptedException {
        ChannelFuture connected = connecting(handlers);
        await(connected);
        assertThat(connected.cause()).isNull();
        return connected.channel();
    }

    @SuppressWarnings("unchecked") // no option is of a type that its value is not
    public ChannelFuture connecting(ChannelHandler... handlers) {
        Bootstrap bootstrap =
                new Bootstrap().group(kit.group()).channelFactory(kit.channel()).handler(initializer(handlers));
        for (Map.Entry<ChannelOption<?>, Object> option : options.entrySet()) {
            bootstrap.option((ChannelOption<Object>) option.getKey(), option.getValue());
        }
        return bootstrap.connect(server.localAddress());
    }

    /** The event loops, for handlers with tasks of their own. */
    public EventLoopGroup group() {
        return kit.group();
    }

    public boolean isRunning() {
        return !kit.group().isShuttingDown();
    }

    /** Closes all channels and returns when their threads have ended. */
    @Override
    public void close() {
        // First, as a loop that shuts down with channels of io_uring on it may lose a buffer of theirs.
        assertThat(channels.close().awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isTrue();
        kit.group().shutdownGracefully(0, PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(kit.group().terminationFuture().awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isTrue();
    }
}
