package dev.zmtp.attack;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.examples.ExampleServers;
import dev.zmtp.interop.LibZmqServers;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.testing.Hex;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.PlatformDependent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The program of an attacked server. It prints its ports, answers each line of its standard input with a report, and
 * ends with its standard input.
 */
@SuppressWarnings("SystemOut") // its parent reads it
final class AttackedServer {

    /** The key pair of the server of CURVE, the same as that of {@code CurveForge}. */
    static final ZMTPCurveKeyPair KEYS = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("01*32"));

    private static final long LOOP_PATIENCE_MILLIS = 2_000;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private AttackedServer() {}

    /** Serves; the arguments are the names of a {@link Library} and of a {@link Service}. */
    public static void main(String... args) throws InterruptedException {
        Service service = Service.valueOf(args[1]);
        if (Library.valueOf(args[0]) == Library.LIBZMQ) {
            serveLibZmq(service);
        } else if (service.isSocket()) {
            serveSockets(service);
        } else {
            serve(service);
        }
    }

    private static void serveLibZmq(Service service) {
        Supplier<ServerReport> nothingToReport = () -> new ServerReport(0, 0, true);
        switch (service) {
            case PUBLISHER, PUB ->
                LibZmqServers.publish((publisher, port) -> {
                    obeyInBackground(port, nothingToReport);
                    Ticks.publish(publisher);
                });
            case REP, LATER_REP -> obey(LibZmqServers.reply(AttackedSockets::answer), nothingToReport);
            case PULL -> {
                List<Integer> ports = LibZmqServers.collect();
                obey(ports.get(0) + " " + ports.get(1), nothingToReport);
            }
            case IDLE_PULL ->
                obey(LibZmqServers.idlePull() + " " + LibZmqServers.echo(Optional.empty()), nothingToReport);
            case CURVE_ECHO -> obey(LibZmqServers.echo(Optional.of(KEYS)), nothingToReport);
            case ECHO, ECHO_WITHOUT_BACK_PRESSURE, ROUTER ->
                obey(LibZmqServers.echo(Optional.empty()), nothingToReport);
        }
    }

    private static void serveSockets(Service service) throws InterruptedException {
        AttackedSockets sockets = new AttackedSockets(service);
        Supplier<ServerReport> report = () -> new ServerReport(heap(), direct(), areAnswering(sockets.loops()));
        if (service.isPublisher()) {
            obeyInBackground(sockets.ports(), report);
            Ticks.publish(sockets::publish);
        } else {
            obey(sockets.ports(), report);
        }
    }

    private static void serve(Service service) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        Supplier<ServerReport> report = () -> new ServerReport(heap(), direct(), areAnswering(group));
        if (service.isPublisher()) {
            var publisher = new ExampleServers.RunningPublisher(group.next(), ANY_PORT);
            obeyInBackground(port(publisher.server()), report);
            Ticks.publish(frame -> publisher.publish(Ticks.message(frame)));
        } else {
            obey(port(bind(group, service)), report);
        }
    }

    private static Channel bind(EventLoopGroup group, Service service) throws InterruptedException {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter();
        ZMTPConfig config = config(service);
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(limiter, ZMTPCodec.from(config), echo(service));
                    }
                })
                .bind(ANY_PORT)
                .sync()
                .channel();
    }

    private static ZMTPConfig config(Service service) {
        ZMTPConfig.Builder config = ZMTPConfig.builder().socketType(ZMTPSocketType.ROUTER);
        return service == Service.CURVE_ECHO
                ? config.mechanism(ZMTPCurve.server(KEYS))
                        .authenticator(ZMTPAuthenticator.acceptAll())
                        .build()
                : config.build();
    }

    private static ChannelHandler echo(Service service) {
        return service == Service.ECHO_WITHOUT_BACK_PRESSURE ? new Careless() : ExampleServers.echo();
    }

    /** What a user writes first: it does not ask whether the channel is writable. */
    private static final class Careless extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message);
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

    private static int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Netty counts its memory, or the JVM does, or both: that depends on the JVM and its flags. */
    private static long direct() {
        long counted = PlatformDependent.usedDirectMemory();
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                return Math.max(counted, pool.getMemoryUsed());
            }
        }
        return counted;
    }

    private static boolean areAnswering(Iterable<EventExecutor> loops) {
        List<Future<?>> answers = new ArrayList<>();
        for (EventExecutor loop : loops) {
            answers.add(loop.submit(() -> {}));
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LOOP_PATIENCE_MILLIS);
        return answers.stream()
                .allMatch(answer -> answer.awaitUninterruptibly(end - System.nanoTime(), TimeUnit.NANOSECONDS));
    }

    private static void obeyInBackground(Object ports, Supplier<ServerReport> report) {
        new Thread(() -> obey(ports, report), "commands").start();
    }

    /** Answers until the standard input ends, and then ends the process, whatever its other threads do. */
    private static void obey(Object ports, Supplier<ServerReport> report) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println(ports);
            while (in.readLine() != null) {
                report(report);
            }
        } catch (IOException e) {
            // The parent is gone.
        } finally {
            Runtime.getRuntime().halt(0);
        }
    }

    private static void report(Supplier<ServerReport> report) {
        try {
            System.out.println(report.get());
        } catch (OutOfMemoryError e) {
            // No answer is the answer: the process lives on as a zombie, as it would without this thread.
        }
    }
}
