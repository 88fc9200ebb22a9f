package dev.zmtp.codec.transports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A codec after Netty's {@code SslHandler}, with certificates made for these tests. */
class TlsTest {

    private static SslContext server;
    private static SslContext trusting;
    private static SslContext distrusting;
    private static SslContext mutualServer;
    private static SslContext alice;

    @BeforeAll
    static void makeCertificates(@TempDir Path dir) throws Exception {
        Certificates ours = Certificates.make(dir, "ours");
        server = SslContextBuilder.forServer(ours.keys())
                .sslProvider(SslProvider.JDK)
                .build();
        trusting = client(ours);
        distrusting = client(Certificates.make(dir, "others"));
        Certificates alices = Certificates.make(dir, "alice");
        mutualServer = SslContextBuilder.forServer(ours.keys())
                .sslProvider(SslProvider.JDK)
                .trustManager(alices.certificate())
                .clientAuth(ClientAuth.OPTIONAL)
                .build();
        alice = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(ours.certificate())
                .keyManager(alices.keys())
                .build();
    }

    private static SslContext client(Certificates trusted) throws Exception {
        return SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(trusted.certificate())
                .build();
    }

    private static ChannelHandler secured(SslContext context, ZMTPCodec codec) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(context.newHandler(ch.alloc(), "localhost", 5555), codec);
            }
        };
    }

    private static List<Object> ofOurs(List<Object> events) {
        return events.stream()
                .filter(event -> event instanceof ZMTPHandshakeSuccess || event instanceof ZMTPHandshakeFailure)
                .toList();
    }

    @Test
    void theHandshakeFollowsTheTlsHandshake() {
        ZMTPCodec client = ZMTPCodec.of(ZMTPSocketType.DEALER);
        ZMTPCodec router = ZMTPCodec.of(ZMTPSocketType.ROUTER);
        try (CodecPair peers = new CodecPair(secured(trusting, client), secured(server, router))) {
            peers.left.channel.writeAndFlush(ZMTPMessage.fromUTF8("early"));
            peers.exchange();
            for (CodecPair.Side end : List.of(peers.left, peers.right)) {
                List<Object> events = end.events.stream()
                        .filter(event ->
                                event instanceof SslHandshakeCompletionEvent || event instanceof ZMTPHandshakeSuccess)
                        .toList();
                assertThat(events).hasSize(2);
                assertThat(((SslHandshakeCompletionEvent) events.get(0)).isSuccess())
                        .isTrue();
                assertThat(end.failures).isEmpty();
            }
            ZMTPMessage late = ZMTPMessage.fromUTF8("a", "b".repeat(100_000));
            peers.left.channel.writeAndFlush(late.retain());
            peers.exchange();
            assertThat(peers.right.messages).hasSize(2).last().isEqualTo(late);
            assertThat(((ZMTPMessage) peers.right.messages.get(0)).frame(0).toString(StandardCharsets.US_ASCII))
                    .isEqualTo("early");
            late.release();
            peers.right.messages.forEach(ReferenceCountUtil::release);
        }
    }

    /** Accepts peers with a certificate, with its subject as their user ID. */
    private static CompletionStage<ZMTPAuthDecision> bySubject(ZMTPAuthRequest request) {
        return CompletableFuture.completedStage(
                request.peerCertificates().isEmpty()
                        ? ZMTPAuthDecision.deny("no certificate")
                        : ZMTPAuthDecision.accept(
                                ((X509Certificate) request.peerCertificates().get(0))
                                        .getSubjectX500Principal()
                                        .getName()));
    }

    private static CodecPair mutual(SslContext client) {
        ZMTPCodec router = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.ROUTER)
                .authenticator(TlsTest::bySubject)
                .build();
        return new CodecPair(secured(client, ZMTPCodec.of(ZMTPSocketType.DEALER)), secured(mutualServer, router))
                .exchange();
    }

    @Test
    void theCertificateOfThePeerReachesTheAuthenticator() {
        try (CodecPair peers = mutual(alice)) {
            assertThat(ofOurs(peers.right.events))
                    .singleElement()
                    .isInstanceOfSatisfying(
                            ZMTPHandshakeSuccess.class,
                            success -> assertThat(success.session().userId()).isEqualTo("CN=alice"));
        }
    }

    @Test
    void aPeerWithoutACertificateIsReportedWithoutOne() {
        try (CodecPair peers = mutual(trusting)) {
            assertThat(ofOurs(peers.right.events))
                    .singleElement()
                    .isInstanceOfSatisfying(
                            ZMTPHandshakeFailure.class,
                            failure -> assertThat(failure.cause())
                                    .hasMessageStartingWith("authentication: 400, no certificate"));
            assertThat(ofOurs(peers.left.events))
                    .singleElement()
                    .isInstanceOfSatisfying(
                            ZMTPHandshakeFailure.class,
                            failure -> assertThat(failure.cause()).hasMessageStartingWith("refused by the peer: 400"));
        }
    }

    @Test
    void anUntrustedCertificateFailsBothHandshakesOnce() {
        ZMTPCodec client = ZMTPCodec.of(ZMTPSocketType.DEALER);
        ZMTPCodec router = ZMTPCodec.of(ZMTPSocketType.ROUTER);
        try (CodecPair peers = new CodecPair(secured(distrusting, client), secured(server, router))) {
            peers.left.channel.writeAndFlush(ZMTPMessage.fromUTF8("early"));
            peers.exchange();
            for (CodecPair.Side end : List.of(peers.left, peers.right)) {
                assertThat(ofOurs(end.events)).singleElement().isInstanceOf(ZMTPHandshakeFailure.class);
                assertThat(end.failures).isEmpty();
                assertThat(end.messages).isEmpty();
                assertThat(end.channel.isOpen()).isFalse();
            }
            assertThat(client.session().handshakeFuture().cause())
                    .satisfiesAnyOf(
                            cause -> assertThat(cause).isInstanceOf(SSLException.class),
                            cause -> assertThat(cause).hasCauseInstanceOf(SSLException.class));
        }
    }

    @Test
    void aPeerWithoutTlsFailsTheHandshakeOnce() {
        ZMTPCodec router = ZMTPCodec.of(ZMTPSocketType.ROUTER);
        try (ScriptedPeer peer = new ScriptedPeer(secured(server, router))) {
            assertThat(peer.received()).isEmpty();
            peer.send(ScriptedPeer.GREETING);
            assertThat(ofOurs(peer.events)).singleElement().isInstanceOf(ZMTPHandshakeFailure.class);
            assertThat(peer.failures).isEmpty();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }
}
