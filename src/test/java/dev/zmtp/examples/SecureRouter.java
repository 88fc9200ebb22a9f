package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPPublicKeys;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

/** A ROUTER that only DEALERs whose keys it knows may talk to, over CURVE. */
public final class SecureRouter {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);

    private SecureRouter() {}

    /**
     * {@code keys DIR} makes keys for a server and a client; {@code serve DIR} serves with them until it is killed;
     * {@code ask DIR} asks once.
     */
    public static void main(String... args) throws IOException, InterruptedException {
        Path directory = Path.of(args[1]);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        try {
            switch (args[0]) {
                case "keys" -> makeKeys(directory);
                case "serve" ->
                    serve(group, ADDRESS, server(directory))
                            .sync()
                            .channel()
                            .closeFuture()
                            .sync();
                case "ask" ->
                    connect(group, ADDRESS, client(directory), System.out::println)
                            .sync()
                            .channel()
                            .closeFuture()
                            .sync();
                default -> throw new IllegalArgumentException(args[0] + " (expected: keys, serve or ask)");
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    static void makeKeys(Path directory) throws IOException {
        Files.createDirectories(directory);
        for (String name : new String[] {"server", "client"}) {
            ZMTPCurveKeyPair pair = ZMTPCurveKeyPair.generate();
            pair.save(directory.resolve(name + ".key_secret")); // nobody else can read this file
            pair.publicKey().save(directory.resolve(name + ".key")); // everybody may
        }
    }

    static ZMTPConfig server(Path directory) throws IOException {
        ZMTPCurvePublicKey client = ZMTPCurvePublicKey.load(directory.resolve("client.key"));
        return ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(ZMTPCurve.server(ZMTPCurveKeyPair.load(directory.resolve("server.key_secret"))))
                .authenticator(ZMTPPublicKeys.of(Map.of(client, "the client")))
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
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                        ch.pipeline().addLast(ZMTPCodec.from(config), new Asker(answers));
                    }
                })
                .connect(address);
    }

    /** Answers each message with the name of who has sent it. */
    private static final class Greeter extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            String userId = ctx.pipeline().get(ZMTPCodec.class).session().userId();
            ctx.writeAndFlush(ZMTPMessage.fromUTF8("hello, " + userId));
        }
    }

    /** Asks once, and tells what comes of it. */
    private static final class Asker extends ChannelInboundHandlerAdapter {
        private final Consumer<String> answers;

        Asker(Consumer<String> answers) {
            this.answers = answers;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                ctx.writeAndFlush(ZMTPMessage.fromUTF8("hello"));
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                answers.accept(String.valueOf(failure.cause().getMessage()));
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ZMTPMessage answer = (ZMTPMessage) message;
            answers.accept(answer.toString());
            answer.release();
            ctx.close();
        }
    }
}
