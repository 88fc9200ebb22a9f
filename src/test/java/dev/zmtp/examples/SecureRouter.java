package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPPublicKeyAuthenticator;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A ROUTER that accepts only DEALERs with known keys, over CURVE. */
public final class SecureRouter {

    private static final String USAGE = "keys DIR | serve DIR [PORT] | ask DIR [PORT]";
    private static final String DEFAULT_PORT = "5555";

    private SecureRouter() {}

    /**
     * {@code keys DIR} makes keys for a server and a client; {@code serve DIR} serves with them until it is killed;
     * {@code ask DIR} asks once. The exit status is 1 after a failure.
     */
    public static void main(String... args) throws InterruptedException {
        if (!run(System.out, args)) {
            System.exit(1);
        }
    }

    /** Returns whether it went well, having printed one line if not. */
    static boolean run(PrintStream out, String... args) throws InterruptedException {
        if (args.length < 2) {
            out.println("arguments: " + String.join(" ", args) + " (expected: " + USAGE + ")");
            return false;
        }
        Path directory = Path.of(args[1]);
        int port = Integer.parseInt(args.length > 2 ? args[2] : DEFAULT_PORT);
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            switch (args[0]) {
                case "keys" -> makeKeys(directory);
                case "serve" -> {
                    Channel server = opened(serve(group, address, server(directory)));
                    out.println("ROUTER with CURVE. Try: mvn -q test-compile exec:java@example -Dexample=SecureRouter"
                            + " -Dexec.args=\"ask " + directory + "\"");
                    out.println("listening on " + server.localAddress());
                    server.closeFuture().sync();
                }
                case "ask" -> {
                    ZMTPSession session = ZMTPSession.from(client(directory));
                    opened(connect(group, address, ZMTPCodec.from(session), out::println))
                            .closeFuture()
                            .sync();
                    return session.handshakeFuture().isSuccess();
                }
                default -> throw new IOException("command: " + args[0] + " (expected: " + USAGE + ")");
            }
            return true;
        } catch (FileAlreadyExistsException e) {
            out.println(e.getMessage() + ": exists (expected: a directory without keys; delete the old ones yourself,"
                    + " after which nobody who has them can connect)");
        } catch (NoSuchFileException e) {
            out.println(e.getMessage() + ": no such file (expected: keys made by: keys " + directory + ")");
        } catch (IOException e) {
            out.println(e.getMessage());
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        }
        return false;
    }

    private static Channel opened(ChannelFuture future) throws IOException, InterruptedException {
        if (!future.await().isSuccess()) {
            throw new IOException(future.cause().getMessage(), future.cause());
        }
        return future.channel();
    }

    static void makeKeys(Path directory) throws IOException {
        Files.createDirectories(directory);
        for (String name : new String[] {"server", "client"}) {
            ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.generate();
            pair.save(directory.resolve(name + ".key_secret")); // only its owner can read this file
            pair.publicKey().save(directory.resolve(name + ".key")); // everyone may read this one
        }
    }

    static ZMTPConfig server(Path directory) throws IOException {
        ZMTPCurvePublicKey client = ZMTPCurvePublicKey.load(directory.resolve("client.key"));
        return ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(ZMTPCurve.server(ZMTPCurveKeyPair.load(directory.resolve("server.key_secret"))))
                .authenticator(ZMTPPublicKeyAuthenticator.of(Map.of(client, "the client")))
                .build();
    }

    static ZMTPConfig client(Path directory) throws IOException {
        ZMTPCurvePublicKey server = ZMTPCurvePublicKey.load(directory.resolve("server.key"));
        return ZMTPConfig.builder()
                .socketType(DEALER)
                .mechanism(ZMTPCurve.client(server, ZMTPCurveKeyPair.load(directory.resolve("client.key_secret"))))
                .build();
    }

    static ChannelFuture serve(EventLoopGroup group, SocketAddress address, ZMTPConfig config) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                        ch.pipeline().addLast(ZMTPCodec.from(config), new Greeter());
                    }
                })
                .bind(address);
    }

    static ChannelFuture connect(
            EventLoopGroup group, SocketAddress address, ZMTPConfig config, Consumer<String> answers) {
        return connect(group, address, ZMTPCodec.from(config), answers);
    }

    private static ChannelFuture connect(
            EventLoopGroup group, SocketAddress address, ZMTPCodec codec, Consumer<String> answers) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                        ch.pipeline().addLast(codec, new Asker(answers));
                    }
                })
                .connect(address);
    }

    /** Answers each message with the user ID of its sender. */
    private static final class Greeter extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            String userId = ctx.pipeline().get(ZMTPCodec.class).session().userId();
            ctx.write(ZMTPMessage.fromUTF8(ctx.alloc(), "hello, " + userId));
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.flush();
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure) {
                System.err.println(event); // shows the peer and the cause; the codec closes the channel
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause);
            ctx.close();
        }
    }

    /** Asks once, and reports the answer or the failure of the handshake. */
    private static final class Asker extends ChannelInboundHandlerAdapter {
        private final Consumer<String> answers;
        private boolean connected;

        Asker(Consumer<String> answers) {
            this.answers = answers;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            connected = true;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ctx.writeAndFlush(ZMTPMessage.fromUTF8("hello"));
            } else if (event instanceof ZMTPHandshakeFailure failure
                    && connected) { // otherwise connect(...) fails, too
                answers.accept(failure.toString());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ZMTPMessage answer = (ZMTPMessage) message;
            answers.accept(answer.toString());
            answer.release();
            ctx.close();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause);
            ctx.close();
        }
    }
}
