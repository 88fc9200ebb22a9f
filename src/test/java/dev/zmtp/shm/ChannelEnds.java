package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.SingleThreadEventLoop;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A server on a loop of its own, and what its ends and their clients see, in words. */
final class ChannelEnds implements AutoCloseable {

    final EventLoops loops = EventLoops.resting(2);
    final SharedMemoryAddress address;

    /** What the server's ends see: bytes in hex, events by their class, failures by their message. */
    final BlockingQueue<String> atServer = new LinkedBlockingQueue<>();

    /** What the clients see. */
    final BlockingQueue<String> atClient = new LinkedBlockingQueue<>();

    /** The server's ends, once they are active. */
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

    ChannelEnds(Path directory) {
        address = new SharedMemoryAddress(directory.resolve("server"));
    }

    ServerBootstrap server() {
        return new ServerBootstrap()
                .group(loops.group())
                .channel(SharedMemoryServerChannel.class)
                .childOption(SharedMemoryChannelOption.RING_CAPACITY, 4096)
                .childHandler(recorder(atServer));
    }

    Bootstrap client() {
        return new Bootstrap()
                .group(loops.group())
                .channel(SharedMemoryChannel.class)
                .handler(recorder(atClient));
    }

    SharedMemoryChannel connect() throws InterruptedException {
        return (SharedMemoryChannel) client().connect(address).sync().channel();
    }

    SharedMemoryChannel accepted() throws InterruptedException {
        return (SharedMemoryChannel) accepted.poll(10, TimeUnit.SECONDS);
    }

    /** Returns what is seen next, within ten seconds. */
    static String next(BlockingQueue<String> seen) throws InterruptedException {
        return String.valueOf(seen.poll(10, TimeUnit.SECONDS));
    }

    /** Returns when the event loop of {@code channel} has done what it was asked for before. */
    static void settle(Channel channel) throws InterruptedException {
        channel.eventLoop().submit(() -> {}).sync();
    }

    /** Waits for a condition with patience. */
    static void until(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!condition.call()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    /** Returns how many tasks wait while the event loop runs this one, which are turns. */
    static int queuedTurns(Channel channel) throws Exception {
        SingleThreadEventLoop loop = (SingleThreadEventLoop) channel.eventLoop();
        return loop.submit(loop::pendingTasks).get();
    }

    private ChannelInitializer<Channel> recorder(BlockingQueue<String> seen) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new Recorder(seen));
            }
        };
    }

    @Override
    public void close() {
        loops.close();
    }

    private final class Recorder extends SimpleChannelInboundHandler<ByteBuf> {
        private final BlockingQueue<String> seen;

        Recorder(BlockingQueue<String> seen) {
            this.seen = seen;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (ctx.channel().parent() != null) {
                accepted.add(ctx.channel());
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) {
            seen.add(ByteBufUtil.hexDump(bytes));
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            seen.add(event.getClass().getSimpleName());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            seen.add(cause.getMessage());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            seen.add("inactive");
        }
    }
}
