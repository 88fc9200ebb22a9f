package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.security.ZMTPAddressAuthenticator;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPeerCredentials;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.security.ZMTPPublicKeyAuthenticator;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.websocket.ZMTPWebSocket;
import dev.zmtp.zap.ZMTPZapSocket;
import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslContext;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Code of {@code docs/securing-a-service.md} and {@code docs/web.md} that is not in a program. */
final class Snippets {

    private Snippets() {}

    static ZMTPSocket web() throws InterruptedException {
        ZMTPSocket quotes = ZMTPSocket.of(ZMTPSocketConfig.builder(PUB)
                .webSocket(ZMTPWebSocket.DEFAULT.origins("https://app.example.com"))
                .build());
        quotes.bind("ws://*:8080/quotes").sync();
        return quotes;
    }

    static ZMTPConfig plainServer() {
        return ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(ZMTPPlain.server())
                .authenticator(ZMTPPasswordAuthenticator.of(Map.of("admin", "secret")))
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

    static ZMTPAuthenticator bySubject(Set<String> allowed) {
        return request -> CompletableFuture.completedStage(decide(request, allowed));
    }

    private static ZMTPAuthDecision decide(ZMTPAuthRequest request, Set<String> allowed) {
        if (request.peerCertificates().isEmpty()) {
            return ZMTPAuthDecision.deny("no certificate");
        }
        X509Certificate certificate =
                (X509Certificate) request.peerCertificates().get(0);
        String subject = certificate.getSubjectX500Principal().getName();
        return allowed.contains(subject)
                ? ZMTPAuthDecision.accept(subject)
                : ZMTPAuthDecision.deny("subject: " + subject);
    }

    static ZMTPAuthenticator byUser(long uid) {
        return request -> {
            ZMTPPeerCredentials peer = request.peerCredentials();
            boolean same = peer != null && peer.uid() == uid;
            return CompletableFuture.completedFuture(
                    same ? ZMTPAuthDecision.accept("uid " + uid) : ZMTPAuthDecision.deny("another user: " + peer));
        };
    }

    static ZMTPAuthenticator addressesAndKeys(List<ZMTPCurvePublicKey> keys) {
        return ZMTPAddressAuthenticator.of(List.of("192.0.2.0/24", "::1")).and(ZMTPPublicKeyAuthenticator.of(keys));
    }

    static void limits(
            Channel ch, ZMTPConnectionLimiter connections, ZMTPHandshakeLimiter handshakes, ZMTPConfig config) {
        ch.pipeline().addLast(connections, handshakes, ZMTPCodec.from(config));
    }

    static ZMTPSocket zapHandler(Function<ZMTPMessage, ZMTPMessage> decide) {
        ZMTPSocket handler = ZMTPSocket.of(REP);
        handler.serve(request -> request.reply(decide.apply(request.message())));
        handler.bind("inproc://zeromq.zap.01");
        return handler;
    }

    static ZMTPSocketConfig server(ZMTPZapSocket zap) { // ZMTPZapSocket.connect("inproc://zeromq.zap.01", timeout)
        return ZMTPSocketConfig.builder(PULL)
                .codec(c -> c.mechanism(ZMTPPlain.server()).authenticator(zap))
                .build();
    }
}
