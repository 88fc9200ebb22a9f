package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryChannel;
import dev.zmtp.shm.SharedMemoryChannelOption;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import net.openhft.affinity.Affinity;
import org.HdrHistogram.Histogram;

/** Event loops that never sleep, each on a core of its own, and how long a request takes between two of them. */
public final class BusyLoops {

    private static final String EXAMPLE = "mvn -q test-compile exec:java@example -Dexample=BusyLoops -Dexec.args=";
    private static final String USAGE = "usage: " + EXAMPLE + "\"serve PATH CORE\", or \"ask PATH OTHER_CORE\"";

    private BusyLoops() {}

    /** With "serve", a path and the number of a core: serves. With "ask", the same path and another core: measures. */
    public static void main(String... args) throws InterruptedException {
        if (args.length != 3 || !List.of("serve", "ask").contains(args[0]) || !args[2].matches("\\d{1,4}")) {
            System.err.println(USAGE);
            return;
        }
        boolean serves = args[0].equals("serve");
        System.out.println(
                serves
                        ? "DEALER on shared memory, echoes from a busy core. Try: " + EXAMPLE + "\"ask " + args[1]
                                + " 1\""
                        : "DEALER, asks a million times through shared memory. Start first: " + EXAMPLE + "\"serve "
                                + args[1] + " 0\"");
        SharedMemoryAddress address = new SharedMemoryAddress(args[1]);
        EventLoopGroup group = pinned(NioIoHandler.newFactory(), Integer.parseInt(args[2]));
        try {
            Requests requests = new Requests(1_000_000);
            ChannelFuture opened = serves ? bind(group, address) : connect(group, address, requests);
            if (!opened.await().isSuccess()) {
                System.err.println(opened.cause().getMessage()); // such as that nobody listens
                return;
            }
            opened.channel().closeFuture().sync();
            if (!serves) {
                print(requests.times);
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    private static void print(Histogram times) {
        System.out.printf(
                "p50 %.2f us, p99 %.2f us, p99.9 %.2f us%n",
                times.getValueAtPercentile(50) / 1e3,
                times.getValueAtPercentile(99) / 1e3,
                times.getValueAtPercentile(99.9) / 1e3);
    }

    /** One loop for each of {@code cores}, on any transport. */
    static EventLoopGroup pinned(IoHandlerFactory transport, int... cores) {
        return new MultiThreadIoEventLoopGroup(cores.length, threadsOn(cores), busy(transport));
    }

    private static ThreadFactory threadsOn(int... cores) {
        AtomicInteger started = new AtomicInteger();
        return new DefaultThreadFactory("busy") {
            @Override
            protected Thread newThread(Runnable loop, String name) {
                int core = cores[started.getAndIncrement() % cores.length];
                return super.newThread(
                        () -> {
                            Affinity.setAffinity(core);
                            loop.run();
                        },
                        name);
            }
        };
    }

    /** The same transport, whose loops look for events all the time. */
    static IoHandlerFactory busy(IoHandlerFactory transport) {
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new Busy(transport.newHandler(executor));
            }
        };
    }

    /** Passes everything on but the permission to block. */
    private static final class Busy implements IoHandler {
        private final IoHandler transport;
        private IoHandlerContext loop;
        private IoHandlerContext busy;

        Busy(IoHandler transport) {
            this.transport = transport;
        }

        @Override
        public int run(IoHandlerContext context) {
            if (loop != context) { // it is always the same one
                loop = context;
                busy = new NeverBlocking(context);
            }
            return transport.run(busy);
        }

        @Override
        public void initialize() {
            transport.initialize();
        }

        @Override
        public void prepareToDestroy() {
            transport.prepareToDestroy();
        }

        @Override
        public void destroy() {
            transport.destroy();
        }

        @Override
        public IoRegistration register(IoHandle handle) throws Exception {
            return transport.register(handle);
        }

        @Override
        public void wakeup() {
            transport.wakeup();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return transport.isCompatible(type);
        }
    }

    private record NeverBlocking(IoHandlerContext loop) implements IoHandlerContext {
        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long now) {
            return loop.delayNanos(now);
        }

        @Override
        public long deadlineNanos() {
            return loop.deadlineNanos();
        }

        @Override
        public void reportActiveIoTime(long nanos) {
            loop.reportActiveIoTime(nanos);
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return loop.shouldReportActiveIoTime();
        }
    }

    static ChannelFuture bind(EventLoopGroup group, SharedMemoryAddress address) {
        return new ServerBootstrap()
                .group(group)
                .channel(SharedMemoryServerChannel.class)
                .childOption(SharedMemoryChannelOption.SPIN_MICROS, Integer.MAX_VALUE)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(DEALER), new EchoRouter.Echo());
                    }
                })
                .bind(address);
    }

    static ChannelFuture connect(EventLoopGroup group, SharedMemoryAddress address, Requests requests) {
        return new Bootstrap()
                .group(group)
                .channel(SharedMemoryChannel.class)
                .option(SharedMemoryChannelOption.SPIN_MICROS, Integer.MAX_VALUE)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(DEALER), requests);
                    }
                })
                .connect(address);
    }

    /** Sends a request when the last one is answered. The first half of them warms up. */
    static final class Requests extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final Histogram times = new Histogram(3);
        private final int wanted;
        private int answered;
        private long sent;

        Requests(int wanted) {
            this.wanted = wanted;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ask(ctx);
            }
        }

        private void ask(ChannelHandlerContext ctx) {
            sent = System.nanoTime();
            ctx.writeAndFlush(ZMTPMessage.from(ctx.alloc().buffer(256).writeZero(256)), ctx.voidPromise());
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage answer) {
            if (answered >= wanted / 2) {
                times.recordValue(System.nanoTime() - sent);
            }
            answered++;
            if (answered == wanted) {
                ctx.close();
            } else {
                ask(ctx);
            }
        }
    }
}
