package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WirePeer;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.DelegatingSslContext;
import io.netty.handler.ssl.ResumableX509ExtendedTrustManager;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS over tcp, with the contexts of the application. */
class TlsSocketsTest {

    private static final String ANY_PORT = "tcp://localhost:*";

    /** A ClientHello of TLS 1.2 with the server name "x", a line feed and "y". */
    private static final String HELLO_WITH_A_BAD_NAME = "16 03 01 00 3e 01 00 00 3a 03 03 00*32 00 "
            + "00 02 00 2f 01 00 00 0f 00 00 00 0b 00 09 00 00 06 78 0a 79 3d 7d 20";

    private static Certificates ours;
    private static Certificates theirs;

    @BeforeAll
    static void makeKeys(@TempDir Path dir) throws Exception {
        ours = Certificates.make(dir, "ours");
        theirs = Certificates.make(dir, "theirs");
    }

    private static SslContext server() throws Exception {
        return SslContextBuilder.forServer(ours.keys())
                .sslProvider(SslProvider.JDK)
                .build();
    }

    private static SslContextBuilder client(Certificates trusted) throws Exception {
        return SslContextBuilder.forClient().sslProvider(SslProvider.JDK).trustManager(trusted.certificate());
    }

    /** A context whose engines check that the certificate is for the host. */
    private static SslContext checkingHosts(SslContext context) {
        return new DelegatingSslContext(context) {
            @Override
            protected void initEngine(SSLEngine engine) {
                SSLParameters parameters = engine.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                engine.setSSLParameters(parameters);
            }
        };
    }

    @Test
    void messagesAreEncrypted(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).tls(checkingHosts(client(ours).build())));
        push.connect(bind(pull, ANY_PORT).replace("127.0.0.1", "localhost"));

        get(push.sendAsync(message("secret")));

        assertThat(receive(pull)).containsExactly("secret");
        assertThat(handler(push)).isNotNull();
    }

    /** And not the 10 s of Netty. */
    @Test
    void itsHandshakeMayTakeAsLongAsTheWholeOne(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(
                sockets.builder(PULL).tls(server()).codec(codec -> codec.handshakeTimeout(Duration.ofSeconds(25))));
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).tls(client(ours).build()).codec(codec -> codec.handshakeTimeout(Duration.ZERO)));

        connect(push, bind(pull, ANY_PORT).replace("127.0.0.1", "localhost"));

        assertThat(handler(pull).getHandshakeTimeoutMillis()).isEqualTo(25_000);
        assertThat(handler(push).getHandshakeTimeoutMillis()).isZero();
    }

    private static SslHandler handler(ZMTPSocket socket) {
        return ((Peer) TestSockets.peer(socket)).link().channel().pipeline().get(SslHandler.class);
    }

    @Test
    void oneSocketMayBindAndConnect(TestSockets sockets) throws Exception {
        ZMTPSocket one = sockets.open(
                sockets.builder(DEALER).tls(server()).tls(client(ours).build()));
        ZMTPSocket two =
                sockets.open(sockets.builder(DEALER).tls(client(ours).build()).tls(server()));
        String atOne = bind(one, "tcp://127.0.0.1:*").replace("127.0.0.1", "localhost");

        connect(two, atOne);
        get(two.sendAsync(message("to one")));
        get(one.sendAsync(message("to two")));

        assertThat(receive(one)).containsExactly("to one");
        assertThat(receive(two)).containsExactly("to two");
    }

    @Test
    void aCertificateThatIsNotTrustedIsRefusedAndReportedAtBothSides(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        TestSockets.Events ofPull = events(pull);
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).tls(client(theirs).build()).reconnectDelay(Duration.ZERO, Duration.ZERO));
        TestSockets.Events ofPush = events(push);

        Throwable failure =
                failure(push.connect(bind(pull, "tcp://127.0.0.1:*")).readyFuture());

        assertThat(failure).hasStackTraceContaining("SSLHandshakeException");
        assertThat(ofPush.next(ZMTPSocketEvent.HandshakeFailed.class).cause()).isSameAs(failure.getCause());
        assertThat(ofPull.next(ZMTPSocketEvent.HandshakeFailed.class).cause()).hasStackTraceContaining("certificate");
    }

    @Test
    void aCertificateForAnotherHostIsRefused(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .tls(checkingHosts(client(ours).build()))
                .reconnectDelay(Duration.ZERO, Duration.ZERO));

        Throwable failure =
                failure(push.connect(bind(pull, "tcp://127.0.0.1:*")).readyFuture());

        assertThat(failure).hasStackTraceContaining("No subject alternative names matching IP address 127.0.0.1");
    }

    /** SNI: a server may have a certificate for each of its names. */
    @Test
    void theHostThatIsConnectedToIsNamed(TestSockets sockets) throws Exception {
        BlockingQueue<String> asked = new LinkedBlockingQueue<>();
        SslContext naming = new DelegatingSslContext(client(ours).build()) {
            @Override
            protected void initEngine(SSLEngine engine) {
                asked.add(engine.getPeerHost() + " " + engine.getPeerPort());
            }
        };
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        String endpoint = bind(pull, "tcp://127.0.0.1:*").replace("127.0.0.1", "localhost");

        connect(sockets.open(sockets.builder(PUSH).tls(naming)), endpoint);

        assertThat(asked.poll(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo("localhost " + endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }

    @Test
    void aClientShowsItsCertificateIfItIsAskedFor(TestSockets sockets) throws Exception {
        SslContext asking = SslContextBuilder.forServer(ours.keys())
                .sslProvider(SslProvider.JDK)
                .trustManager(theirs.certificate())
                .clientAuth(ClientAuth.REQUIRE)
                .build();
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(asking));
        String endpoint = bind(pull, "tcp://127.0.0.1:*").replace("127.0.0.1", "localhost");

        ZMTPSocket known = sockets.open(
                sockets.builder(PUSH).tls(client(ours).keyManager(theirs.keys()).build()));
        known.connect(endpoint);
        get(known.sendAsync(message("m")));
        assertThat(receive(pull)).containsExactly("m");

        ZMTPSocket unknown = sockets.open(
                sockets.builder(PUSH).tls(client(ours).build()).reconnectDelay(Duration.ZERO, Duration.ZERO));
        failure(unknown.connect(endpoint).readyFuture());
    }

    @Test
    void aPeerWithoutTlsIsRefused(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        TestSockets.Events events = events(pull);
        ZMTPSocket plain = sockets.open(PUSH);

        plain.connect(bind(pull, "tcp://127.0.0.1:*"));

        assertThat(events.next(ZMTPSocketEvent.HandshakeFailed.class).cause()).hasStackTraceContaining("SSL");
    }

    /** A server that is away for a moment comes back by itself, and this one does not: so it is another kind. */
    @Test
    void aCertificateThatHasExpiredIsARefusalAndTheLogSaysWhy(TestSockets sockets, @TempDir Path dir) throws Exception {
        Certificates old = Certificates.expired(dir, "old");
        SslContext server = SslContextBuilder.forServer(old.keys())
                .sslProvider(SslProvider.JDK)
                .build();
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).tls(checkingDates()).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
        TestSockets.Events events = events(push);
        int port = TestSockets.freePort();
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.ConnectLog")) {
            push.connect("tcp://localhost:" + port);
            assertThat(events.next(ZMTPSocketEvent.Retrying.class).kind())
                    .isEqualTo(ZMTPSocketEvent.FailureKind.TRANSIENT);

            bind(sockets.open(sockets.builder(PULL).tls(server)), "tcp://127.0.0.1:" + port);

            ZMTPSocketEvent.HandshakeFailed failed = events.next(ZMTPSocketEvent.HandshakeFailed.class);
            assertThat(failed.kind()).as("%s", failed.cause()).isEqualTo(ZMTPSocketEvent.FailureKind.REJECTED);
            assertThat(events.next(ZMTPSocketEvent.Retrying.class).kind())
                    .isEqualTo(ZMTPSocketEvent.FailureKind.REJECTED);
            assertThat(log.records)
                    .filteredOn(line -> line.getLevel().equals(Level.WARNING))
                    .extracting(LogRecord::getMessage)
                    .last()
                    .asString()
                    .contains(": TLS: a certificate has expired: ")
                    .contains("NotAfter");
        }
    }

    private static SslContext checkingDates() throws Exception {
        return SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(new CheckingDates())
                .build();
    }

    /** The JDK's trusts one that it was given, whatever its dates are. */
    private static final class CheckingDates implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            chain[0].checkValidity();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            chain[0].checkValidity();
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    @Test
    void aCertificateMayBeRenewedWithoutARestart(TestSockets sockets) throws Exception {
        AtomicReference<SslContext> present = new AtomicReference<>(server());
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(present::get));
        String endpoint = bind(pull, "tcp://127.0.0.1:*").replace("127.0.0.1", "localhost");
        connect(sockets.open(sockets.builder(PUSH).tls(client(ours).build())), endpoint);

        present.set(SslContextBuilder.forServer(theirs.keys())
                .sslProvider(SslProvider.JDK)
                .build());

        AtomicReference<SslContext> trusting =
                new AtomicReference<>(client(theirs).build());
        connect(sockets.open(sockets.builder(PUSH).tls(trusting::get)), endpoint);
        TestSockets.await("both, as the first one stays", () -> pull.peers().size() == 2);
    }

    /** A context that could not be read must not end in a connection that anybody can read. */
    @Test
    void withoutAContextNothingIsSentInTheClear(TestSockets sockets) throws Exception {
        AtomicReference<SslContext> present = new AtomicReference<>(client(ours).build());
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).tls(present::get));
        TestSockets.Events events = events(push);
        try (ServerSocket listening = WirePeer.listen()) {
            CountDownLatch held = TestSockets.hold(push);
            push.connect(WirePeer.endpoint(listening));
            present.set(null);
            held.countDown();
            // Without TLS, the attempt would go on, as the other side is there.
            assertThat(events.next(ZMTPSocketEvent.Retrying.class).attempt()).isEqualTo(1);

            present.set(server());
            assertThat(events.next(ZMTPSocketEvent.Retrying.class).attempt()).isEqualTo(2);
        }
    }

    /** As those of CURVE are: a flood of handshakes must not take the event loop from the peers that are there. */
    @Test
    void itsHandshakesAreComputedOnTheExecutorForThem(TestSockets sockets) throws Exception {
        AtomicInteger ofServer = new AtomicInteger();
        AtomicInteger ofClient = new AtomicInteger();
        ZMTPSocket pull =
                sockets.open(sockets.builder(PULL).tls(server()).codec(c -> c.handshakeExecutor(counted(ofServer))));
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).tls(client(ours).build()).codec(c -> c.handshakeExecutor(counted(ofClient))));

        connect(push, bind(pull, "tcp://127.0.0.1:*").replace("127.0.0.1", "localhost"));

        assertThat(ofServer).hasPositiveValue();
        assertThat(ofClient).hasPositiveValue();
    }

    private static Executor counted(AtomicInteger tasks) {
        return task -> {
            tasks.incrementAndGet();
            new Thread(task).start();
        };
    }

    @Test
    void otherTransportsStayAsTheyAre(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(bind(pull, "ipc://*"));

        get(push.sendAsync(message("m")));

        assertThat(receive(pull)).containsExactly("m");
    }

    private static void strange(int port, String text) {
        try (Socket stranger = new Socket("127.0.0.1", port)) {
            stranger.getOutputStream().write(text.getBytes(UTF_8));
            stranger.getInputStream().readAllBytes(); // until its end
        } catch (SocketException e) {
            // which is a reset, because nobody has read all of it
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void bytesThatAreNotTlsAreLoggedAndAConnectionWithoutAnyIsNot(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        int port = Integer.parseInt(bind(pull, "tcp://127.0.0.1:*").replaceAll(".*:", ""));
        TestSockets.Events events = events(pull);
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.UnheardFailure")) {
            new Socket("127.0.0.1", port).close();
            events.next(ZMTPSocketEvent.HandshakeFailed.class);
            assertThat(log.records).allMatch(record -> record.getLevel().intValue() < Level.INFO.intValue());

            TestSockets.await("a line, of which there is one a second", () -> {
                strange(port, "no TLS\n\u001b[31m, but enough bytes for a record");
                events.next(ZMTPSocketEvent.HandshakeFailed.class);
                return log.records.stream().anyMatch(record -> record.getLevel().equals(Level.INFO));
            });
            assertThat(log.lines).allMatch(line -> line.chars().noneMatch(Character::isISOControl));
        }
    }

    @Test
    void aHandshakeThatFailsAfterTheEndOfItsConnectionIsNotLoggedByNetty(TestSockets sockets) throws Exception {
        BlockingQueue<Runnable> computations = new LinkedBlockingQueue<>();
        ZMTPSocket pull = sockets.open(
                sockets.builder(PULL).tls(server()).codec(codec -> codec.handshakeExecutor(computations::add)));
        int port = Integer.parseInt(bind(pull, "tcp://127.0.0.1:*").replaceAll(".*:", ""));
        TestSockets.Events events = events(pull);
        try (CapturedLog log = new CapturedLog("io.netty.channel.DefaultChannelPipeline")) {
            Runnable computation;
            try (Socket stranger = new Socket("127.0.0.1", port)) {
                stranger.getOutputStream().write(Hex.bytes(HELLO_WITH_A_BAD_NAME));
                computation = computations.poll(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
            events.next(ZMTPSocketEvent.HandshakeFailed.class);
            computation.run();

            TestSockets.settle(pull);
            assertThat(log.lines).isEmpty();
        }
    }

    /** Such as its checks of resumed sessions, which only Netty's contexts give to their handlers. */
    @Test
    void theHandlersAreThoseOfTheContexts(TestSockets sockets) throws Exception {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(server()));
        Revoking revoking = new Revoking();
        SslContext client = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .protocols("TLSv1.2")
                .trustManager(revoking)
                .build();
        String endpoint = bind(pull, ANY_PORT).replace("127.0.0.1", "localhost");

        connect(sockets.open(sockets.builder(PUSH).tls(client)), endpoint);
        ZMTPSocket again =
                sockets.open(sockets.builder(PUSH).tls(client).reconnectDelay(Duration.ofDays(1), Duration.ofDays(1)));
        TestSockets.Events events = events(again);
        again.connect(endpoint);

        assertThat(events.next(ZMTPSocketEvent.Retrying.class).cause()).hasStackTraceContaining("revoked");
        assertThat(revoking.resumed).hasValue(1);
    }

    /** Trusts whoever it meets for the first time. */
    private static final class Revoking extends X509ExtendedTrustManager implements ResumableX509ExtendedTrustManager {
        private final AtomicInteger resumed = new AtomicInteger();

        @Override
        public void resumeClientTrusted(X509Certificate[] chain, SSLEngine engine) {}

        @Override
        public void resumeServerTrusted(X509Certificate[] chain, SSLEngine engine) throws CertificateException {
            resumed.incrementAndGet();
            throw new CertificateException("revoked");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
