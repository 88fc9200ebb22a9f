package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.BatchFlusher;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAddresses;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPDecision;
import dev.zmtp.security.ZMTPPasswords;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.security.ZMTPPublicKeys;
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
import io.netty.handler.ssl.SslContext;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentMap;

/** The code of {@code README.md} and {@code docs/securing-a-service.md}, so that it compiles: {@link ReadmeTest} compares. */
final class Snippets {

    private Snippets() {}

    static ChannelFuture use() {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        ServerBootstrap server = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new SimpleChannelInboundHandler<ZMTPMessage>() {
                            @Override
                            protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
                                ctx.writeAndFlush(message.retain()); // the codec releases it once, the handler once
                            }
                        });
                    }
                });
        return server.bind("127.0.0.1", 5555);
    }

    static final class Service extends ChannelInboundHandlerAdapter {
        /** One map for all connections of the server; a handler is made for each. */
        private final ConcurrentMap<ByteBuffer, Channel> peers;

        Service(ConcurrentMap<ByteBuffer, Channel> peers) {
            this.peers = peers;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess success) {
                ByteBuffer identity = success.session().peerIdentity();
                if (peers.putIfAbsent(identity, ctx.channel()) != null) {
                    ctx.close(); // the name is taken: nobody may take over the messages of another
                    return;
                }
                ctx.channel().closeFuture().addListener(closed -> peers.remove(identity, ctx.channel()));
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                log(failure.cause()); // the codec closes the channel
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            log(cause); // a DecoderException, as each ZMTPException is: the codec closes the channel. Else you decide.
            ctx.close();
        }

        /** Sends {@code message} to the peer of that name, or releases it. */
        void send(ByteBuffer identity, ZMTPMessage message) {
            Channel peer = peers.get(identity);
            if (peer == null) {
                message.release();
            } else {
                peer.writeAndFlush(message);
            }
        }

        private static void log(Throwable cause) {
            System.out.println(cause.getMessage());
        }
    }

    static void subscribe(Channel channel) {
        channel.write(ZMTPSubscription.subscribe("weather."));
        channel.writeAndFlush(ZMTPSubscription.cancel("sports."));
    }

    static final class Answers {
        private final Channel channel;
        private final BatchFlusher flusher;

        Answers(Channel channel) {
            this.channel = channel;
            flusher = new BatchFlusher(channel);
        }

        /** Called from any thread. */
        void answer(ZMTPMessage answer) {
            channel.write(answer);
            flusher.flush(); // new BatchFlusher(channel), one for each channel, kept
        }
    }

    static ZMTPConfig configure() {
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(DEALER)
                .localIdentity("worker-7")
                .maxFrameLength(1 << 20)
                .maxMessageLength(4 << 20)
                .heartbeatInterval(Duration.ofSeconds(5))
                .heartbeatTimeout(Duration.ofSeconds(10))
                .build();
        return config;
    }

    static void limit(
            SocketChannel ch,
            ZMTPHandshakeLimiter limiter,
            ZMTPConfig config,
            ConcurrentMap<ByteBuffer, Channel> peers) {
        ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new Service(peers));
    }

    static void secure(
            SocketChannel ch, SslContext sslContext, ZMTPConfig config, ConcurrentMap<ByteBuffer, Channel> peers) {
        ch.pipeline().addLast(sslContext.newHandler(ch.alloc()), ZMTPCodec.from(config), new Service(peers));
    }

    static ZMTPConfig plainServer() {
        return ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(ZMTPPlain.server())
                .authenticator(ZMTPPasswords.of(Map.of("admin", "secret")))
                .build();
    }

    static ZMTPConfig plainClient() {
        return ZMTPConfig.builder()
                .socketType(DEALER)
                .mechanism(ZMTPPlain.client("admin", "secret"))
                .build();
    }

    static void tls(SocketChannel ch, SslContext sslContext, ZMTPConfig config) {
        ch.pipeline().addLast(sslContext.newHandler(ch.alloc()), ZMTPCodec.from(config));
    }

    static CompletionStage<ZMTPDecision> bySubject(ZMTPAuthRequest request) {
        if (request.peerCertificates().isEmpty()) {
            return CompletableFuture.completedStage(ZMTPDecision.deny("no certificate"));
        }
        X509Certificate certificate =
                (X509Certificate) request.peerCertificates().get(0);
        return CompletableFuture.completedStage(
                ZMTPDecision.accept(certificate.getSubjectX500Principal().getName()));
    }

    static ZMTPAuthenticator addressesAndKeys(List<ZMTPCurvePublicKey> keys) {
        return ZMTPAddresses.of(List.of("192.0.2.0/24", "::1")).and(ZMTPPublicKeys.of(keys));
    }
}
