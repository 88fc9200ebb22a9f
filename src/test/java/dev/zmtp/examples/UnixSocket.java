package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** The echo ROUTER and its DEALER on a Unix domain socket, which libzmq calls {@code ipc://}. */
public final class UnixSocket {

    private static final Set<PosixFilePermission> OWNER = PosixFilePermissions.fromString("rwx------");

    private static final String EXAMPLE = "mvn -q test-compile exec:java@example -Dexample=UnixSocket -Dexec.args=";

    private UnixSocket() {}

    /** With "serve" and a path: serves until it is killed. With "ask" and a path: sends ten requests. */
    public static void main(String... args) throws IOException, InterruptedException {
        if (args.length != 2 || !List.of("serve", "ask").contains(args[0])) {
            System.err.println("usage: " + EXAMPLE + "\"serve PATH\", or \"ask PATH\"");
            return;
        }
        Path path = Path.of(args[1]);
        boolean serves = args[0].equals("serve");
        System.out.println(
                serves
                        ? "ROUTER on ipc://" + args[1] + ", echoes. Try: " + EXAMPLE + "\"ask " + args[1] + "\""
                        : "DEALER to ipc://" + args[1] + ", asks ten times. Start first: " + EXAMPLE + "\"serve "
                                + args[1] + "\"");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            ChannelFuture opened = serves ? bind(group, path) : connect(group, path, System.out::println);
            if (opened.await().isSuccess()) {
                opened.channel().closeFuture().sync();
            } else {
                System.err.println(opened.cause().getMessage()); // such as that nobody listens
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    /** The file is removed when the server's channel is closed. */
    static ChannelFuture bind(EventLoopGroup group, Path path) throws IOException {
        // Who may enter the directory may connect. The permissions of the socket's file come after it, which is too
        // late.
        Files.createDirectories(path.toAbsolutePath().getParent(), PosixFilePermissions.asFileAttribute(OWNER));
        removeIfStale(path);
        return EchoRouter.bind(group, NioServerDomainSocketChannel.class, UnixDomainSocketAddress.of(path));
    }

    /** A server that was killed leaves its file, and nobody can bind to it again. */
    private static void removeIfStale(Path path) throws IOException {
        if (isSocket(path) && !isServed(path)) {
            Files.delete(path);
        }
    }

    private static boolean isSocket(Path path) throws IOException {
        return Files.exists(path)
                && Files.readAttributes(path, BasicFileAttributes.class).isOther(); // and no file or directory
    }

    private static boolean isServed(Path path) throws IOException {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(path));
        } catch (ConnectException e) {
            return false; // refused
        }
    }

    static ChannelFuture connect(EventLoopGroup group, Path path, Consumer<ZMTPMessage> onAnswer) {
        return new Bootstrap()
                .group(group)
                .channel(NioDomainSocketChannel.class)
                .handler(
                        new ChannelInitializer<Channel>() { // not of SocketChannel, which is TCP
                            @Override
                            protected void initChannel(Channel ch) {
                                ch.pipeline().addLast(ZMTPCodec.of(DEALER), new DealerClient.Requests(10, onAnswer));
                            }
                        })
                .connect(UnixDomainSocketAddress.of(path));
    }
}
