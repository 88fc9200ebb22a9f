package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/** A PUSH that sends numbered jobs as fast as the connection takes them, and no faster, to a PULL. */
public final class PushPull {

    private PushPull() {}

    /** Pushes ten million jobs over loopback. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PUSH and PULL in this process, ten million jobs. Nothing to run beside it.");
        long jobs = 10_000_000;
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        try {
            CompletableFuture<Void> done = new CompletableFuture<>();
            Channel server = bindPull(group, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), job -> {
                        if (job == jobs - 1) {
                            done.complete(null);
                        }
                    })
                    .sync()
                    .channel();
            Channel push =
                    connectPush(group, server.localAddress(), jobs).sync().channel();
            push.closeFuture().addListener(closed -> done.completeExceptionally(new IllegalStateException("closed")));
            done.join();
            System.out.println("each job arrived");
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    static ChannelFuture bindPull(EventLoopGroup group, SocketAddress address, LongConsumer onJob) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(PULL), new Worker(onJob));
                    }
                })
                .bind(address);
    }

    static ChannelFuture connectPush(EventLoopGroup group, SocketAddress address, long jobs) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(PUSH), new Source(jobs));
                    }
                })
                .connect(address);
    }

    private static final class Source extends ChannelInboundHandlerAdapter {
        private final long jobs;
        private long next;

        Source(long jobs) {
            this.jobs = jobs;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                push(ctx);
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        /**
         * Fills the channel up to its high water mark. Below the low one, {@code channelWritabilityChanged} goes on.
         *
         * <p>A write and a flush may call {@code channelWritabilityChanged} before they return. So the job is counted
         * before it is written, and going on is a task: otherwise a call from inside a write would send a job twice.
         */
        private void push(ChannelHandlerContext ctx) {
            while (next < jobs && ctx.channel().isWritable()) {
                long number = next++;
                ByteBuf job = ctx.alloc().buffer(Long.BYTES).writeLong(number);
                // A void promise costs nothing. If a write fails, exceptionCaught gets the cause.
                ctx.write(ZMTPMessage.from(job), ctx.voidPromise());
            }
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            if (ctx.channel().isWritable()) {
                ctx.executor().execute(() -> push(ctx));
            }
            ctx.fireChannelWritabilityChanged();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("PUSH failed: " + cause);
            ctx.close();
        }
    }

    private static final class Worker extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final LongConsumer onJob;

        Worker(LongConsumer onJob) {
            this.onJob = onJob;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage job) {
            if (job.size() != 1 || job.frame(0).readableBytes() != Long.BYTES) {
                throw new IllegalArgumentException("job: " + job + " (expected: a frame of 8 bytes)");
            }
            onJob.accept(job.frame(0).readLong());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure) {
                System.err.println(event);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("PULL failed: " + cause);
            ctx.close();
        }
    }
}
