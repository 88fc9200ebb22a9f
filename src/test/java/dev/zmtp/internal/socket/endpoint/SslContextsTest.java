package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WirePeer;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which connections get TLS, and which sockets may be bound and connected; without certificates. */
class SslContextsTest {

    private static final int TLS_HANDSHAKE = 22;
    private static final int ZMTP_GREETING = 255;

    private static SslContext client;
    private static SslContext server;

    private final TestSockets sockets = new TestSockets(1);

    /** The server has no key: nobody gets through its handshake. */
    @BeforeAll
    static void makeContexts() throws Exception {
        client = SslContextBuilder.forClient().sslProvider(SslProvider.JDK).build();
        KeyStore empty = KeyStore.getInstance(KeyStore.getDefaultType());
        empty.load(null, null);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(empty, null);
        server = SslContextBuilder.forServer(keys).sslProvider(SslProvider.JDK).build();
    }

    @AfterEach
    void close() {
        sockets.close();
    }

    /** The first byte that comes when the socket connects. */
    private static int firstByteOf(ZMTPSocket socket) throws IOException {
        try (ServerSocket peer = WirePeer.listen()) {
            socket.connect(WirePeer.endpoint(peer));
            try (Socket accepted = peer.accept()) {
                accepted.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
                return accepted.getInputStream().read();
            }
        }
    }

    /** How the handshake fails with one that asks a socket for a page of the web. */
    private static Throwable failureOfAStranger(ZMTPSocket socket) throws IOException {
        TestSockets.Events events = events(socket);
        int port = URI.create(bind(socket, "tcp://127.0.0.1:*")).getPort();
        try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
            stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return events.next(ZMTPSocketEvent.HandshakeFailed.class).cause();
        }
    }

    @Test
    void aSocketWithTheContextOfAClientConnectsWithTls() throws IOException {
        assertThat(firstByteOf(sockets.open(sockets.builder(PUSH).tls(client)))).isEqualTo(TLS_HANDSHAKE);
    }

    @Test
    void aSocketWithoutAContextConnectsInTheClear() throws IOException {
        assertThat(firstByteOf(sockets.open(PUSH))).isEqualTo(ZMTP_GREETING);
    }

    @Test
    void aSocketWithBothContextsConnectsAsAClient() throws IOException {
        assertThat(firstByteOf(sockets.open(sockets.builder(DEALER).tls(server).tls(client))))
                .isEqualTo(TLS_HANDSHAKE);
    }

    @Test
    void aSocketWithTheContextOfAServerAcceptsTlsOnly() throws IOException {
        assertThat(failureOfAStranger(sockets.open(sockets.builder(PULL).tls(server))))
                .hasStackTraceContaining("not an SSL/TLS record");
    }

    @Test
    void aSocketWithBothContextsAcceptsAsAServer() throws IOException {
        assertThat(failureOfAStranger(
                        sockets.open(sockets.builder(DEALER).tls(client).tls(server))))
                .hasStackTraceContaining("not an SSL/TLS record");
    }

    @Test
    void otherTransportsNeedNoContext() {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(client));
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).tls(server));
        connect(push, bind(pull, "ipc://*"));

        get(push.sendAsync(message("in the clear")));

        assertThat(receive(pull)).containsExactly("in the clear");
    }

    @Test
    void aSocketWithTheContextOfAClientOnlyCannotBeBound() {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).tls(client));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> pull.bind("tcp://127.0.0.1:*"))
                .withMessage("tls: no server SslContext, needed to bind");
    }

    @Test
    void aSocketWithTheContextOfAServerOnlyCannotConnect() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).tls(server));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> push.connect("tcp://127.0.0.1:1"))
                .withMessage("tls: no client SslContext, needed to connect");
    }
}
