package dev.zmtp.codec.transports;

import static dev.zmtp.testing.Loopback.await;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.Loopback.End;
import dev.zmtp.testing.Loopback.Patient;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SniCompletionEvent;
import io.netty.handler.ssl.SniHandler;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.DomainWildcardMappingBuilder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS between two sockets, where records are cut and joined as the network likes, and alerts cross. */
class TlsLoopbackTest {

    private static Certificates host;
    private static Certificates alice;
    private static Certificates stranger;

    private Loopback net;
    private final End client = new End(codec -> codec);
    private final End server = new End(codec -> codec);

    @BeforeAll
    static void makeCertificates(@TempDir Path dir) throws Exception {
        host = Certificates.make(dir, "host");
        alice = Certificates.make(dir, "alice");
        stranger = Certificates.make(dir, "stranger");
    }

    @BeforeEach
    void start(@TempDir Path dir) {
        net = new Loopback(TestTransport.NIO.kit(), TestTransport.NIO.newAddress(dir));
    }

    @AfterEach
    void stop() {
        net.close();
    }

    private static SslContextBuilder serving() throws Exception {
        return SslContextBuilder.forServer(host.keys()).sslProvider(SslProvider.JDK);
    }

    private static SslContextBuilder trusting(Certificates trusted) throws Exception {
        return SslContextBuilder.forClient().sslProvider(SslProvider.JDK).trustManager(trusted.certificate());
    }

    private static ChannelHandler tls(SslContextBuilder builder) throws SSLException {
        SslContext context = builder.build();
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addFirst(context.newHandler(ch.alloc(), "localhost", 5555));
            }
        };
    }

    private static void assertFailedOnce(End end) throws InterruptedException {
        assertThat(end.handshake()).isInstanceOf(ZMTPHandshakeFailure.class);
        end.assertClosed();
        assertThat(end.handshakes).isEmpty();
        assertThat(end.failures).isEmpty();
        assertThat(end.messages).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void messagesAreSentAndEchoed(String protocol) throws Exception {
        net.listen(tls(serving().protocols(protocol)), server.codec, server);
        Channel channel = net.connect(tls(trusting(host).protocols(protocol)), client.codec, client);
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            writes.add(client.write(i, i % 100 == 0 ? 200_000 : 4 + i % 3000)); // the first before any handshake
            if (i % 50 == 0) {
                channel.flush();
            }
        }
        channel.flush();
        for (int i = 0; i < 2000; i++) {
            ZMTPMessage message = await(server.messages);
            assertThat(message.frame(0).getInt(0)).isEqualTo(i);
            server.channel.writeAndFlush(message);
        }
        for (int i = 0; i < 2000; i++) {
            assertThat(client.number()).isEqualTo(i);
        }
        assertThat(writes).allMatch(ChannelFuture::isSuccess);
        SslHandler handler = channel.pipeline().get(SslHandler.class);
        assertThat(handler.engine().getSession().getProtocol()).isEqualTo(protocol);

        channel.close();
        server.assertClosed();
        client.assertClosed();
        assertThat(client.failures).isEmpty();
        assertThat(server.failures).isEmpty();
    }

    @Test
    void theApplicationKnowsThePeersCertificateWhenTheHandshakeIsDone() throws Exception {
        BlockingQueue<String> names = new LinkedBlockingQueue<>();
        ChannelHandler application = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) throws Exception {
                if (evt instanceof ZMTPHandshakeSuccess) {
                    SslHandler handler = ctx.pipeline().get(SslHandler.class);
                    names.add(handler.engine().getSession().getPeerPrincipal().getName());
                }
                ctx.fireUserEventTriggered(evt);
            }
        };
        net.listen(
                tls(serving().clientAuth(ClientAuth.REQUIRE).trustManager(alice.certificate())),
                server.codec,
                application,
                server);
        net.connect(tls(trusting(host).keyManager(alice.keys())), client.codec, client);
        assertThat(await(names)).isEqualTo("CN=alice");
        client.assertSucceeded();
        client.write(7, 100);
        client.channel.flush();
        assertThat(server.number()).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aClientWithoutARequiredCertificateFailsOnce(String protocol) throws Exception {
        net.listen(
                tls(serving()
                        .clientAuth(ClientAuth.REQUIRE)
                        .trustManager(alice.certificate())
                        .protocols(protocol)),
                server.codec,
                server);
        net.connecting(tls(trusting(host).protocols(protocol)), client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @Test
    void aClientWithAForeignCertificateFailsOnce() throws Exception {
        net.listen(
                tls(serving().clientAuth(ClientAuth.REQUIRE).trustManager(alice.certificate())), server.codec, server);
        net.connecting(tls(trusting(host).keyManager(stranger.keys())), client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void anUntrustedServerFailsBothSidesOnce(String protocol) throws Exception {
        net.listen(tls(serving().protocols(protocol)), server.codec, server);
        ChannelFuture connected = net.connecting(tls(trusting(stranger).protocols(protocol)), client.codec, client);
        await(connected);
        ChannelFuture early = connected.channel().writeAndFlush(ZMTPMessage.fromUTF8("early"));
        assertFailedOnce(client);
        assertFailedOnce(server);
        await(early);
        assertThat(early.isSuccess()).isFalse();
    }

    @Test
    void aPlainClientOfATlsServerFailsBothSidesOnce() throws Exception {
        net.listen(tls(serving()), server.codec, server);
        net.connecting(client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @Test
    void aTlsClientOfAPlainServerFailsBothSidesOnce() throws Exception {
        net.listen(server.codec, server);
        net.connecting(tls(trusting(host)), client.codec, client);
        assertFailedOnce(server);
        assertFailedOnce(client);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void withoutAutoReadTheHandshakesCompleteAndEachReadBringsOneMessage(String protocol) throws Exception {
        net.set(ChannelOption.AUTO_READ, false);
        net.listen(tls(serving().protocols(protocol)), server.codec, new FlowControlHandler(), new Patient(), server);
        net.connect(
                tls(trusting(host).protocols(protocol)), client.codec, new FlowControlHandler(), new Patient(), client);
        client.assertSucceeded();
        server.assertSucceeded();
        for (int i = 0; i < 10; i++) {
            client.write(i, i % 2 == 0 ? 4 : 50_000); // several of the small in a record, the big in several
        }
        client.channel.flush();
        for (int i = 0; i < 10; i++) {
            await(server.channel.eventLoop().submit(() -> {}));
            assertThat(server.messages).isEmpty();
            server.channel.read();
            assertThat(server.number()).isEqualTo(i);
        }
        assertThat(client.failures).isEmpty();
        assertThat(server.failures).isEmpty();
    }

    private void join(String protocol) throws Exception {
        net.listen(tls(serving().protocols(protocol)), server.codec, endsOfTls, server);
        net.connect(tls(trusting(host).protocols(protocol)), client.codec, client);
        client.assertSucceeded();
        server.assertSucceeded();
    }

    /** The alert with which TLS ends a peer's output. */
    private final BlockingQueue<SslCloseCompletionEvent> closings = new LinkedBlockingQueue<>();

    private final ChannelHandler endsOfTls = new ChannelInboundHandlerAdapter() {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof SslCloseCompletionEvent closing) {
                closings.add(closing);
            }
            ctx.fireUserEventTriggered(evt);
        }
    };

    /** Writes bytes from the codec's place in the pipeline. */
    private static void say(End end, String hex) throws InterruptedException {
        ChannelFuture said = end.channel.pipeline().context(end.codec).writeAndFlush(Hex.buffer(hex));
        await(said);
        assertThat(said.cause()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aForgedRecordEndsTheConnection(String protocol) throws Exception {
        join(protocol);
        client.channel.config().setAutoRead(false); // so that what the server writes stays with it
        List<ChannelFuture> writes = new ArrayList<>();
        await(server.channel.eventLoop().submit(() -> {
            for (int i = 0; i < 500; i++) {
                writes.add(server.write(i, 64 << 10));
            }
            server.channel.flush();
            writes.add(server.write(500, 4)); // never flushed
        }));
        assertThat(writes).anyMatch(write -> !write.isDone());
        // Application data past our SslHandler: without the key, a peer cannot have sent this.
        client.channel.pipeline().firstContext().writeAndFlush(Hex.buffer("17 0303 0020 5a*32"));
        server.assertClosed();
        assertThat(server.failures).isNotEmpty(); // SslHandler may also report the rest of the bytes
        assertThat(server.failures.get(0))
                .satisfiesAnyOf(
                        failure -> assertThat(failure).isInstanceOf(SSLException.class),
                        failure -> assertThat(failure).hasCauseInstanceOf(SSLException.class));
        for (ChannelFuture write : writes) {
            await(write);
        }
        assertThat(writes.get(500).isSuccess()).isFalse();
        assertThat(server.messages).isEmpty();
        assertThat(server.handshakes).isEmpty();
        client.channel.close();
        client.assertClosed();
        client.numbers();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aPeerGoneDuringAFrameWithoutACloseNotifyIsReportedOnce(String protocol) throws Exception {
        join(protocol);
        say(client, "00 04 00 00 00 07 / 01 01 61 / 02 00*6 20 00 62*5000");
        assertThat(server.number()).isEqualTo(7);
        client.channel.eventLoop().execute(() -> client.channel.unsafe().close(client.channel.voidPromise()));
        server.assertClosed();
        assertThat(await(closings).isSuccess()).isFalse();
        assertThat(server.failures)
                .singleElement()
                .asString()
                .endsWith("ended in the middle of a frame: 5000 bytes (expected: 8192)");
        assertThat(server.messages).isEmpty();
        client.assertClosed();
        assertThat(client.failures).isEmpty();
    }

    /** SslHandler then keeps the socket open, as its user may have more to send. With ZMTP, no side has. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aCloseNotifyEndsTheConnectionQuietly(String protocol) throws Exception {
        join(protocol);
        client.write(7, 4);
        client.channel.flush();
        await(client.channel.pipeline().get(SslHandler.class).closeOutbound());
        assertThat(server.number()).isEqualTo(7);
        assertThat(await(closings).isSuccess()).isTrue();
        server.assertClosed();
        client.assertClosed();
        assertThat(server.failures).isEmpty();
        assertThat(client.failures).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aCodecAddedByAlpnGreetsOnceAndMissesNothing(String protocol) throws Exception {
        // The TLS event follows the first bytes, which then wait for the codec.
        ChannelHandler late = new ChannelInboundHandlerAdapter() {
            private Object ready;

            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                if (evt instanceof SslHandshakeCompletionEvent) {
                    ready = evt;
                } else {
                    ctx.fireUserEventTriggered(evt);
                }
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.fireChannelRead(msg);
                if (ready != null) {
                    ctx.fireUserEventTriggered(ready);
                    ready = null;
                }
            }
        };
        ApplicationProtocolNegotiationHandler chooser = new ApplicationProtocolNegotiationHandler("none") {
            @Override
            protected void configurePipeline(ChannelHandlerContext ctx, String chosen) {
                assertThat(chosen).isEqualTo("zmtp");
                ctx.pipeline().addLast(server.codec, server);
            }
        };
        net.listen(tls(serving().protocols(protocol).applicationProtocolConfig(ALPN)), late, chooser);
        assertGreetsOnce(tls(trusting(host).protocols(protocol).applicationProtocolConfig(ALPN)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aCodecAddedBySniGreetsOnceAndMissesNothing(String protocol) throws Exception {
        SslContext context = serving().protocols(protocol).build();
        // Not before: SniHandler encrypts nothing, and lets pass what is written until it knows the name.
        ChannelHandler chooser = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                if (evt instanceof SniCompletionEvent name) {
                    assertThat(name.hostname()).isEqualTo("zmtp.test");
                    ctx.pipeline().addLast(server.codec, server);
                }
                ctx.fireUserEventTriggered(evt);
            }
        };
        net.listen(new SniHandler(new DomainWildcardMappingBuilder<>(context).build()), chooser);
        SslContext trusting = trusting(host).protocols(protocol).build();
        assertGreetsOnce(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                SslHandler tls = trusting.newHandler(ch.alloc(), "localhost", 5555);
                SSLParameters named = tls.engine().getSSLParameters();
                named.setServerNames(List.of(new SNIHostName("zmtp.test"))); // a name without a dot is not sent
                tls.engine().setSSLParameters(named);
                ch.pipeline().addFirst(tls);
            }
        });
    }

    private static final ApplicationProtocolConfig ALPN = new ApplicationProtocolConfig(
            ApplicationProtocolConfig.Protocol.ALPN,
            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
            "zmtp");

    /** A client without a codec sends all at once, and gets exactly one greeting, one READY and its answer. */
    private void assertGreetsOnce(ChannelHandler clientTls) throws Exception {
        Recorder<String> received = Recorder.ofBytes();
        Channel raw = net.connect(clientTls, received);
        raw.writeAndFlush(Hex.buffer(GREETING + ready("PAIR") + "00 04 00 00 00 07"));
        server.assertSucceeded();
        assertThat(server.number()).isEqualTo(7);
        server.write(8, 4);
        server.channel.flush();
        String all = Hex.of(GREETING + ready("PAIR") + "00 04 00 00 00 08");
        await(() -> received.joined().length() >= all.length());
        assertThat(received.joined()).isEqualTo(all);
        assertThat(server.handshakes).isEmpty();
        assertThat(server.messages).isEmpty();
        assertThat(server.failures).isEmpty();
    }
}
