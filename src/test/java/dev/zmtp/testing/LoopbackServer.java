package dev.zmtp.testing;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A server with our codec on real sockets of the loopback interface. One event loop serves all its connections. */
public final class LoopbackServer implements AutoCloseable {

    /** Far more than anything takes: only a failing test waits so long. */
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final long POLL_NANOS = 100_000;

    /** Our end of one connection. */
    public static final class Accepted {
        /** All that the codec fired, in words, and at the end "closed". */
        public final List<String> fired = new CopyOnWriteArrayList<>();

        private final Channel channel;
        private final AtomicLong bytes = new AtomicLong();

        Accepted(Channel channel) {
            this.channel = channel;
        }

        /** Waits until so many bytes of the peer were read, and all that follows from them is done. */
        public void awaitBytes(int count) {
            await("bytes", () -> bytes.get() >= count);
            channel.eventLoop().submit(() -> {}).awaitUninterruptibly();
        }

        /** Waits for the end of the connection, and returns all that was fired until then. */
        public List<String> awaitEnd() {
            await("end", () -> fired.contains("closed"));
            return fired;
        }
    }

    /** All connections in the order in which they came, also those that have sent nothing yet. */
    private final BlockingQueue<Accepted> accepted = new LinkedBlockingQueue<>();

    /** How many handshakes have succeeded. */
    public final AtomicInteger handshakes = new AtomicInteger();

    /** The failures that were reported in traffic. */
    public final List<String> failures = new CopyOnWriteArrayList<>();

    private final EventLoops loops = new EventLoops(1);
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final Channel server;

    /** Listens on a free port and sends each message back. {@code afterRead} is called when a read was digested. */
    public LoopbackServer(ZMTPConfig config, ByteBufAllocator alloc, boolean allowHalfClosure, Runnable afterRead) {
        server = new ServerBootstrap()
                .group(loops.group())
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 2048)
                .childOption(ChannelOption.ALLOCATOR, alloc)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, allowHalfClosure)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        Accepted end = new Accepted(channel);
                        channels.add(channel);
                        accepted.add(end);
                        channel.pipeline()
                                .addLast(new Counter(end, afterRead))
                                .addLast(ZMTPCodec.from(config))
                                .addLast(new Echo(end));
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    /** Listens on a free port and sends each message back. */
    public LoopbackServer(ZMTPConfig config) {
        this(config, ByteBufAllocator.DEFAULT, false, () -> {});
    }

    /** Where this server listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.localAddress();
    }

    /** The next connection that was accepted. */
    public Accepted accept() {
        try {
            Accepted end = accepted.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            if (end == null) {
                throw new AssertionError("connection: none (expected: one within " + PATIENCE + ")");
            }
            return end;
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /** Waits until {@code condition} holds. */
    public static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(what + ": not yet (expected: within " + PATIENCE + ")");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Closes all channels first: an event loop that shuts down at once may end before it has closed them. */
    @Override
    public void close() {
        server.close().syncUninterruptibly();
        channels.close().awaitUninterruptibly();
        loops.close();
    }

    /** Counts bytes on their way to the codec. */
    private static final class Counter extends ChannelInboundHandlerAdapter {
        private final Accepted end;
        private final Runnable afterRead;

        Counter(Accepted end, Runnable afterRead) {
            this.end = end;
            this.afterRead = afterRead;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            int count = ((ByteBuf) msg).readableBytes();
            ctx.fireChannelRead(msg);
            end.bytes.addAndGet(count);
            afterRead.run();
        }
    }

    private final class Echo extends ChannelInboundHandlerAdapter {
        private final Accepted end;

        Echo(Accepted end) {
            this.end = end;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            end.fired.add(Fired.describe(msg));
            if (ctx.channel().isActive()) {
                ctx.write(msg, ctx.voidPromise());
            } else {
                ReferenceCountUtil.release(msg);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof ZMTPHandshakeSuccess) {
                handshakes.incrementAndGet();
                end.fired.add(Fired.describe(evt));
            } else if (evt instanceof ZMTPHandshakeFailure || evt instanceof ChannelInputShutdownEvent) {
                end.fired.add(Fired.describe(evt));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end.fired.add(Fired.describe(cause));
            failures.add(Fired.describe(cause));
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            end.fired.add("closed");
        }
    }
}
