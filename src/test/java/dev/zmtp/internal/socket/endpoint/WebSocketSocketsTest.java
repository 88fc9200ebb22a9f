package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.HttpText.http;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sockets that talk over {@code ws} and {@code wss}, with our own sockets at the other side. */
class WebSocketSocketsTest {

    private static final String ANY_PORT = "ws://127.0.0.1:*/feed";

    @TempDir
    private Path directory;

    @Test
    void requestsAreAnswered(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        ZMTPSocket req = sockets.open(REQ);
        req.connect(TestSockets.bind(rep, ANY_PORT));

        ZMTPMessage reply = TestSockets.get(req.requestAsync(message("hello"), Duration.ofSeconds(10)));

        assertThat(TestSockets.frames(reply)).containsExactly("hello");
    }

    @Test
    void messagesWithoutAMechanismAreReceivedWithoutAType(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER)
                .webSocket(ZMTPWebSocket.DEFAULT.bare(true))
                .codec(codec -> codec.localIdentity("ada")));
        router.onMessage((peer, received) -> peer.sendOrDrop(received));
        dealer.connect(TestSockets.bind(router, ANY_PORT));
        dealer.sendAsync(message("hello"));

        assertThat(TestSockets.receive(dealer)).containsExactly("hello");
        assertThat(TestSockets.peer(dealer).socketType()).isNull();
        assertThat(TestSockets.peer(router).routingId())
                .isEqualTo(Unpooled.copiedBuffer("ada", StandardCharsets.UTF_8).nioBuffer());
    }

    @Test
    void tlsEncryptsWssOnly(TestSockets sockets) throws Exception {
        Certificates certificates = Certificates.make(directory, "ours");
        ZMTPSocket pull = sockets.open(sockets.builder(PULL)
                .tls(SslContextBuilder.forServer(certificates.keys())
                        .sslProvider(SslProvider.JDK)
                        .build()));
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .tls(SslContextBuilder.forClient()
                        .sslProvider(SslProvider.JDK)
                        .trustManager(certificates.certificate())
                        .build()));
        String secure = TestSockets.bind(pull, "wss://127.0.0.1:*/feed");
        String plain = TestSockets.bind(pull, ANY_PORT);

        push.connect(secure.replace("127.0.0.1", "localhost"));
        push.sendAsync(message("encrypted"));
        assertThat(TestSockets.receive(pull)).containsExactly("encrypted");

        ZMTPSocket other = sockets.open(PUSH);
        other.connect(plain);
        other.sendAsync(message("plain"));
        assertThat(TestSockets.receive(pull)).containsExactly("plain");
    }

    /** The channel of the peer that is closed stays open until its close frame is answered. */
    @Test
    void aPeerThatIsClosedGetsNoMoreMessages(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        for (int i = 0; i < 2; i++) {
            ZMTPSocket pull = sockets.open(PULL);
            pull.onMessage((peer, received) -> received.release());
            push.connect(TestSockets.bind(pull, ANY_PORT));
        }
        TestSockets.await("both", () -> push.peers().size() == 2);
        List<CompletableFuture<Void>> sent = new ArrayList<>();

        push.eventLoop().execute(() -> TestSockets.peer(push).close());
        Runnable sends = () -> {
            for (int i = 0; i < 10; i++) {
                sent.add(push.sendAsync(message("m" + i)));
            }
        };
        TestSockets.get(CompletableFuture.runAsync(sends, push.eventLoop()));

        sent.forEach(TestSockets::get);
        assertThat(push.stats().outcomeUnknown()).isZero();
    }

    /** What the JDK's client hears. */
    private static final class Page implements WebSocket.Listener {
        final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            heard.add(StandardCharsets.UTF_8.decode(data).toString());
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            heard.add("closed " + status);
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            heard.add(error.toString());
        }
    }

    @Test
    @Tag("T136")
    void aSocketThatClosesSendsItsLastMessagesAndACloseFrame(TestSockets sockets) throws Exception {
        ZMTPSocket push = sockets.open(PUSH);
        Page page = new Page();
        WebSocket client = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .subprotocols("ZWS2.0")
                .buildAsync(URI.create(TestSockets.bind(push, ANY_PORT)), page)
                .get(10, TimeUnit.SECONDS);
        client.sendBinary(ByteBuffer.wrap(new byte[1]), true); // its identity
        TestSockets.get(push.whenPeers(1));
        push.sendAsync(message("hello"));
        push.closeAsync(Duration.ofSeconds(5));

        assertThat(page.heard.poll(10, TimeUnit.SECONDS)).isEqualTo("\0");
        assertThat(page.heard.poll(10, TimeUnit.SECONDS)).isEqualTo("\0hello");
        assertThat(page.heard.poll(10, TimeUnit.SECONDS)).isEqualTo("closed 1000");
    }

    @Test
    @Tag("T136")
    void aPeerThatDoesNotAnswerACloseFrameIsNotWaitedForForever(TestSockets sockets) throws Exception {
        ZMTPSocket push = sockets.open(PUSH);
        String endpoint = TestSockets.bind(push, ANY_PORT);
        int port = URI.create(endpoint).getPort();
        try (Socket mute = new Socket(InetAddress.getLoopbackAddress(), port)) {
            mute.setSoTimeout(20_000);
            String request = http("""
                    GET /feed HTTP/1.1
                    Host: x
                    Upgrade: websocket
                    Connection: Upgrade
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
                    Sec-WebSocket-Version: 13
                    Sec-WebSocket-Protocol: ZWS2.0

                    """);
            mute.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            mute.getOutputStream().write(new byte[] {(byte) 0x82, (byte) 0x81, 0, 0, 0, 0, 0}); // its identity
            ZMTPPeer peer = TestSockets.peer(push);
            TestSockets.get(push.sendAsync(message("hello")));
            Channel channel = ((Peer) peer).link().channel();

            TestSockets.get(push.closeAsync(Duration.ofMillis(200)));

            assertThat(channel.closeFuture().await(20_000)).isTrue();
        }
    }

    @Test
    void settingsThatNoPeerOverWebSocketAgreesToAreRefused(TestSockets sockets) {
        ZMTPSocket strict = sockets.open(sockets.builder(PULL).codec(codec -> codec.interop(false)));
        ZMTPSocket old = sockets.open(sockets.builder(PULL)
                .codec(codec -> codec.protocol(ZMTPVersion.ZMTP20).heartbeatInterval(Duration.ZERO)));
        ZMTPSocket bare = sockets.open(sockets.builder(PULL)
                .webSocket(ZMTPWebSocket.DEFAULT.bare(true))
                .codec(codec -> codec.mechanism(ZMTPPlain.client("ada", "secret"))));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> strict.bind("ws://127.0.0.1:1/"))
                .withMessage("ws://127.0.0.1:1/: interop: false (expected: true, because peers over WebSocket speak"
                        + " ZMTP 3.0)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> old.connect("ws://127.0.0.1:1/"))
                .withMessage("ws://127.0.0.1:1/: protocol: ZMTP20 (expected: ZMTP30 or ZMTP31)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> bare.connect("ws://127.0.0.1:1/"))
                .withMessage("ws://127.0.0.1:1/: bare: true (expected: false with a mechanism or an authenticator)");
    }

    @Test
    void wssNeedsAContext(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> pull.bind("wss://127.0.0.1:*/"))
                .withMessage("tls: no server SslContext, needed to bind");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pull.connect("wss://127.0.0.1:1/"))
                .withMessage("tls: no client SslContext, needed to connect");
    }

    @Test
    @Tag("T133")
    void anotherOriginFailsTheHandshakeAndNothingElseIsHeardOfIt(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = TestSockets.bind(pull, ANY_PORT);
        TestSockets.Events events = TestSockets.events(pull);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .webSocket(ZMTPWebSocket.DEFAULT.header("Origin", "https://evil.example"))
                .reconnectDelay(Duration.ZERO, Duration.ZERO));
        TestSockets.Events ofPush = TestSockets.events(push);
        push.connect(endpoint);

        assertThat(ofPush.next(ZMTPSocketEvent.Stopped.class).cause())
                .hasMessageContaining("HTTP status: 403 Forbidden (expected: 101)");
        assertThat(events.next(ZMTPSocketEvent.HandshakeFailed.class).cause())
                .hasMessageStartingWith("origin: https://evil.example (expected: no origin, as none is allowed)");
        assertThat(events.drain()).isEmpty();
        assertThat(pull.peers()).isEmpty();
    }

    @Test
    void anotherPathIsToldToTheConnector(TestSockets sockets) {
        String endpoint = TestSockets.bind(sockets.open(PULL), ANY_PORT);
        ZMTPSocket push = sockets.open(PUSH);
        TestSockets.Events events = TestSockets.events(push);

        push.connect(endpoint.replace("/feed", "/food"));

        ZMTPSocketEvent.Retrying retrying = events.next(ZMTPSocketEvent.Retrying.class);
        assertThat(retrying.kind()).isEqualTo(ZMTPSocketEvent.FailureKind.REJECTED);
        assertThat(retrying.cause()).hasMessageContaining("HTTP status: 404 Not Found (expected: 101)");
    }
}
