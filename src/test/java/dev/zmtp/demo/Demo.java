package dev.zmtp.demo;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.Version;
import io.netty.util.concurrent.Future;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Shows the codec at work, with no set-up: a ROUTER on Netty, a JeroMQ DEALER and a DEALER of our own, on loopback.
 *
 * <p>Run it with {@code mvn -q test-compile exec:java@demo}, and options in {@code -Dexec.args="--seconds 5"}.
 */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        versionProvider = Demo.Versions.class,
        sortOptions = false,
        description = "Handshakes, echoes and one-way throughput of netty-zmtp over TCP on 127.0.0.1.")
public final class Demo implements Callable<Integer> {

    private static final int MAX_SIZE = 1 << 20;
    private static final int JEROMQ_HANDSHAKE_MILLIS = 500;

    private final ZMTPSocketType serverType;
    private final Duration deadline;
    private final Duration second;

    @Spec
    private CommandSpec spec;

    @Option(names = "--seconds", paramLabel = "N", defaultValue = "12", description = "Time to send, 1 to 3600 (12).")
    private int seconds;

    @Option(
            names = "--size",
            paramLabel = "N",
            defaultValue = "100",
            description = "Bytes of a message, 0 to 1 Mi (100).")
    private int size;

    private Demo(ZMTPSocketType serverType, Duration deadline, Duration second) {
        this.serverType = serverType;
        this.deadline = deadline;
        this.second = second;
    }

    /** Runs the demo; the exit code is 0, or 1 if something did not arrive, or 2 after wrong arguments. */
    public static void main(String... args) {
        System.exit(commandLine(ROUTER, Duration.ofSeconds(10), Duration.ofSeconds(1))
                .execute(args));
    }

    /**
     * The demo as a command, with a server of {@code serverType}, {@code deadline} for each thing awaited, and {@code
     * second} in place of each second that it sends.
     */
    static CommandLine commandLine(ZMTPSocketType serverType, Duration deadline, Duration second) {
        CommandLine command = new CommandLine(new Demo(serverType, deadline, second));
        command.setParameterExceptionHandler((e, args) -> {
            PrintWriter err = e.getCommandLine().getErr();
            err.println("demo: " + e.getMessage());
            err.print(e.getCommandLine().getHelp().synopsisHeading()
                    + e.getCommandLine().getHelp().synopsis(0));
            err.flush();
            return CommandLine.ExitCode.USAGE;
        });
        command.setExecutionExceptionHandler((e, line, result) -> {
            line.getErr().println("demo: " + (e instanceof DemoException ? e.getMessage() : e));
            line.getErr().flush();
            return CommandLine.ExitCode.SOFTWARE;
        });
        return command;
    }

    @Override
    public Integer call() throws Exception {
        checkRange("--seconds", seconds, 1, 3600);
        checkRange("--size", size, 0, MAX_SIZE);
        // A thread for each side, so that sending and receiving run at the same time.
        EventLoopGroup serving = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        EventLoopGroup asking = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            run(serving, asking);
        } finally {
            Future<?> asked = asking.shutdownGracefully(0, deadline.toMillis(), TimeUnit.MILLISECONDS);
            Future<?> served = serving.shutdownGracefully(0, deadline.toMillis(), TimeUnit.MILLISECONDS);
            asked.await();
            served.await();
        }
        return CommandLine.ExitCode.OK;
    }

    private void checkRange(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(), option + ": " + value + " (expected: " + least + " to " + most + ")");
        }
    }

    private void run(EventLoopGroup serving, EventLoopGroup asking) throws Exception {
        Notes atRouter = new Notes();
        AtomicLong received = new AtomicLong();
        Channel server = await(
                new ServerBootstrap()
                        .group(serving)
                        .channel(NioServerSocketChannel.class)
                        .childHandler(pipeline(serverType, () -> new RouterHandler(atRouter, received)))
                        .bind("127.0.0.1", 0),
                "port to listen on");
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        print("%s%n%s listens on tcp://127.0.0.1:%d%n", versions(), serverType, address.getPort());

        talkByJeroMQ(address, atRouter);

        Notes atDealer = new Notes();
        DealerHandler dealer = new DealerHandler(atDealer);
        Channel client = await(
                new Bootstrap()
                        .group(asking)
                        .channel(NioSocketChannel.class)
                        .handler(pipeline(DEALER, () -> dealer))
                        .connect(address),
                "connection");
        talkByNetty(client, atDealer, atRouter);
        measure(client, dealer, atDealer, atRouter, received);
    }

    private static ChannelHandler pipeline(ZMTPSocketType type, Supplier<ChannelHandler> handler) {
        return new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel ch) {
                ch.pipeline().addLast(ZMTPCodec.of(type), handler.get());
            }
        };
    }

    private void talkByJeroMQ(InetSocketAddress address, Notes atRouter) throws Exception {
        try (ZContext context = new ZContext()) {
            ZMQ.Socket socket = context.createSocket(SocketType.DEALER);
            socket.setLinger(0);
            socket.setSendTimeOut((int) deadline.toMillis());
            socket.setReceiveTimeOut((int) deadline.toMillis());
            // Some of JeroMQ's connections never greet, until it gives up and connects again (its pull request 1022).
            socket.setHandshakeIvl(JEROMQ_HANDSHAKE_MILLIS);
            socket.setIdentity("jeromq".getBytes(StandardCharsets.US_ASCII));
            socket.connect("tcp://127.0.0.1:" + address.getPort());
            String handshake = atRouter.take("handshake with JeroMQ", deadline);
            print("%nJeroMQ DEALER to netty-zmtp ROUTER%n  handshake  %s%n", handshake);

            List<byte[]> request =
                    List.of("hello".getBytes(StandardCharsets.US_ASCII), new byte[0], new byte[] {0, -1});
            String sent = show(request);
            print("  sent       %s%n", sent);
            for (int i = 0; i < request.size(); i++) {
                socket.send(request.get(i), i < request.size() - 1 ? ZMQ.SNDMORE : 0);
            }
            List<byte[]> reply = new ArrayList<>();
            do {
                byte[] frame = socket.recv();
                if (frame == null) {
                    throw new DemoException("no echo to JeroMQ (expected: within " + deadline.toMillis() + " ms)");
                }
                reply.add(frame);
            } while (socket.hasReceiveMore());
            checkEcho(sent, show(reply));
        }
    }

    private void talkByNetty(Channel client, Notes atDealer, Notes atRouter) throws Exception {
        String handshake = atRouter.take("handshake with netty-zmtp", deadline);
        print("%nnetty-zmtp DEALER to netty-zmtp ROUTER%n  handshake  %s%n", handshake);
        ZMTPMessage request = ZMTPMessage.fromUTF8(client.alloc(), "one", "two", "", "a fourth frame");
        String sent = show(request);
        print("  sent       %s%n", sent);
        await(client.writeAndFlush(request), "write");
        checkEcho(sent, atDealer.take("echo to netty-zmtp", deadline));
    }

    private void checkEcho(String sent, String echoed) throws DemoException {
        if (!sent.equals(echoed)) {
            throw new DemoException("echo: " + echoed + " (expected: " + sent + ")");
        }
        print("  echoed     %s%n", echoed);
    }

    private void measure(Channel client, DealerHandler dealer, Notes atDealer, Notes atRouter, AtomicLong received)
            throws Exception {
        print("%none way, messages of %d bytes%n", size);
        long start = System.nanoTime();
        dealer.startSending(client, size);
        long lastTime = start;
        long lastCount = 0;
        for (int i = 1; i <= seconds; i++) {
            atRouter.expectNone(start + i * second.toNanos() - System.nanoTime());
            atDealer.expectNone(0);
            long time = System.nanoTime();
            long count = received.get();
            print("  %4d s  %,13d messages/s%n", i, perSecond(count - lastCount, time - lastTime));
            lastTime = time;
            lastCount = count;
        }
        long sent = await(dealer.stopSending(client), "end of sending");
        long giveUp = System.nanoTime() + deadline.toNanos();
        while (received.get() < sent && System.nanoTime() < giveUp) {
            atRouter.expectNone(TimeUnit.MILLISECONDS.toNanos(1));
        }
        long nanos = System.nanoTime() - start;
        if (received.get() != sent) {
            throw new DemoException("messages received: " + received + " (expected: " + sent + ", all that were sent)");
        }
        print(
                "  total   %,13d messages in %.1f s: %,d messages/s, all received%n",
                sent, nanos / 1e9, perSecond(sent, nanos));
    }

    private static long perSecond(long count, long nanos) {
        return Math.round(count * 1e9 / nanos);
    }

    private void print(String format, Object... values) {
        PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, format, values);
        out.flush();
    }

    private <T> T await(Future<T> future, String what) throws DemoException, InterruptedException {
        if (!future.await(deadline.toMillis())) {
            throw new DemoException("no " + what + " (expected: within " + deadline.toMillis() + " ms)");
        }
        if (!future.isSuccess()) {
            throw new DemoException("no " + what + ": " + future.cause());
        }
        return future.getNow();
    }

    private Channel await(ChannelFuture future, String what) throws DemoException, InterruptedException {
        await((Future<Void>) future, what);
        return future.channel();
    }

    private static String show(List<byte[]> frames) {
        return show(
                ZMTPMessage.from(frames.stream().map(Unpooled::wrappedBuffer).toList()));
    }

    /**
     * The frames, separated by commas: as text if they are printable, otherwise in hex, as {@code toString} shows them.
     */
    static String show(ZMTPMessage message) {
        String shown = message.toString();
        return shown.substring(shown.indexOf('[') + 1, shown.lastIndexOf(']'));
    }

    private static String versions() {
        return "netty-zmtp " + System.getProperty("dev.zmtp.version", "(unknown version)") + ", Netty "
                + Version.identify().get("netty-transport").artifactVersion() + ", Java "
                + System.getProperty("java.version");
    }

    /** What {@code --version} prints. */
    static final class Versions implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {versions()};
        }
    }
}
