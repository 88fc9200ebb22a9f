package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.security.ZMTPAddresses;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPDecision;
import dev.zmtp.security.ZMTPPasswords;
import dev.zmtp.security.ZMTPPeerCredentials;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.security.ZMTPPublicKeys;
import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslContext;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The code of {@code docs/securing-a-service.md} that is not in a program: {@link ReadmeTest} compares. */
final class Snippets {

    private Snippets() {}

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

    static ZMTPAuthenticator bySubject(Set<String> allowed) {
        return request -> CompletableFuture.completedStage(decide(request, allowed));
    }

    private static ZMTPDecision decide(ZMTPAuthRequest request, Set<String> allowed) {
        if (request.peerCertificates().isEmpty()) {
            return ZMTPDecision.deny("no certificate");
        }
        X509Certificate certificate =
                (X509Certificate) request.peerCertificates().get(0);
        String subject = certificate.getSubjectX500Principal().getName();
        return allowed.contains(subject) ? ZMTPDecision.accept(subject) : ZMTPDecision.deny("subject: " + subject);
    }

    static ZMTPAuthenticator byUser(long uid) {
        return request -> {
            ZMTPPeerCredentials peer = request.peerCredentials();
            boolean same = peer != null && peer.uid() == uid;
            return CompletableFuture.completedFuture(
                    same ? ZMTPDecision.accept("uid " + uid) : ZMTPDecision.deny("another user: " + peer));
        };
    }

    static ZMTPAuthenticator addressesAndKeys(List<ZMTPCurvePublicKey> keys) {
        return ZMTPAddresses.of(List.of("192.0.2.0/24", "::1")).and(ZMTPPublicKeys.of(keys));
    }

    static void limits(
            Channel ch, ZMTPConnectionLimiter connections, ZMTPHandshakeLimiter handshakes, ZMTPConfig config) {
        ch.pipeline().addLast(connections, handshakes, ZMTPCodec.from(config));
    }
}
