package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

/** The echo ROUTER and its DEALER, with TLS in front. */
public final class OverTls {

    private static final String EXAMPLE = "mvn -q test-compile exec:java@example -Dexample=OverTls -Dexec.args=";
    private static final String USAGE = "usage: " + EXAMPLE + "\"serve CHAIN.pem KEY.pem\", or \"ask CERT.pem HOST\"";

    private OverTls() {}

    /**
     * {@code serve CHAIN.pem KEY.pem} serves on port 5556; {@code ask CERT.pem HOST} trusts that certificate and asks
     * once.
     */
    public static void main(String... args) throws IOException, CertificateException, InterruptedException {
        if (args.length != 3 || !List.of("serve", "ask").contains(args[0])) {
            System.err.println(USAGE);
            return;
        }
        boolean serves = args[0].equals("serve");
        System.out.println(
                serves
                        ? "ROUTER with TLS on 127.0.0.1:5556, echoes. Try: " + EXAMPLE + "\"ask " + args[1]
                                + " localhost\""
                        : "DEALER with TLS to " + args[2] + ":5556, asks once. Start first: " + EXAMPLE
                                + "\"serve CHAIN.pem KEY.pem\"");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            File chain = new File(args[1]);
            ChannelFuture opened = serves
                    ? serve(
                            group,
                            SslContextBuilder.forServer(chain, new File(args[2]))
                                    .build(),
                            5556)
                    : connect(group, clientContext(certificate(chain)), args[2], 5556, System.out::println);
            if (opened.await().isSuccess()) {
                opened.channel().closeFuture().sync();
            } else {
                System.err.println(opened.cause().getMessage()); // such as that nobody listens
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    private static X509Certificate certificate(File file) throws IOException, CertificateException {
        try (InputStream in = new FileInputStream(file)) {
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
    }

    /** Netty 4.2 compares the host by default. Netty 4.1 does so only if this is set. */
    static SslContext clientContext(X509Certificate authority) throws SSLException {
        return SslContextBuilder.forClient()
                .trustManager(authority)
                .endpointIdentificationAlgorithm("HTTPS")
                .build();
    }

    static ChannelFuture serve(EventLoopGroup group, SslContext context, int port) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        SslHandler tls = context.newHandler(ch.alloc());
                        ch.pipeline().addLast(tls, ZMTPCodec.of(ROUTER), new EchoRouter.Echo());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    static ChannelFuture connect(
            EventLoopGroup group, SslContext context, String host, int port, Consumer<ZMTPMessage> onAnswer) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        // The host is compared with the name in the server's certificate.
                        SslHandler tls = context.newHandler(ch.alloc(), host, port);
                        ch.pipeline().addLast(tls, ZMTPCodec.of(DEALER), new DealerClient.Requests(1, onAnswer));
                    }
                })
                .connect(new InetSocketAddress(host, port));
    }
}
