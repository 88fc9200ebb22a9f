package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.freePort;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WirePeer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a newcomer's program says by itself when something is wrong, with all defaults: a line that docs/sockets.md has.
 */
class FirstMinuteTest {

    private final TestSockets sockets = new TestSockets();
    private final CapturedLog connects = new CapturedLog("dev.zmtp.socket.ConnectLog");
    private final CapturedLog binds = new CapturedLog("dev.zmtp.socket.Listener");

    @AfterEach
    void close() {
        sockets.close();
        connects.close();
        binds.close();
    }

    /** The first line of the log is this, with the endpoint before it and the address in place; and the page has it. */
    private static void assertSaid(CapturedLog log, String endpoint, String line) throws IOException {
        await("a line", () -> !log.lines.isEmpty());
        String address = endpoint.substring("tcp:/".length());
        assertThat(log.lines.get(0)).isEqualTo(endpoint + ": " + line.replace("HOST:PORT", address));
        assertThat(Files.readString(Path.of("docs/sockets.md"))).contains("`" + line + "`");
    }

    private ZMTPSocket client(Consumer<ZMTPConfig.Builder> codec) {
        return sockets.open(sockets.builder(DEALER).codec(codec));
    }

    private String server(Consumer<ZMTPConfig.Builder> codec) {
        return bind(sockets.open(sockets.builder(ROUTER).codec(codec)), "tcp://127.0.0.1:*");
    }

    @Test
    void theServerIsNotThere() throws IOException {
        String endpoint = "tcp://127.0.0.1:" + freePort();

        client(codec -> {}).connect(endpoint);

        assertSaid(connects, endpoint, "Connection refused: HOST:PORT, trying again");
    }

    /** And once: neither the codec nor the next attempts say it again. */
    @ParameterizedTest
    @ValueSource(strings = {"ipc://%s/none", "shm://%s/none", "tcp://255.255.255.255:1", "tcp://127.0.0.1:%d"})
    void whereverNobodyIsItIsSaidOnce(String form, @TempDir Path dir) throws IOException {
        try (CapturedLog codec = new CapturedLog("dev.zmtp.codec");
                ServerSocket closing = WirePeer.listen()) {
            String endpoint = form.contains("%d") ? WirePeer.endpoint(closing) : String.format(form, dir);
            ZMTPSocket client =
                    sockets.open(sockets.builder(DEALER).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
            TestSockets.Events events = TestSockets.events(client);

            client.connect(endpoint);

            for (int attempt = 0; attempt < 5; attempt++) {
                if (form.contains("%d")) { // a balancer that accepts and closes
                    closing.accept().close();
                }
                events.next(ZMTPSocketEvent.Retrying.class);
            }
            assertThat(said(connects)).singleElement().asString().startsWith(endpoint + ": ");
            assertThat(said(codec)).isEmpty();
        }
    }

    private static List<String> said(CapturedLog log) {
        return log.records.stream()
                .filter(line -> line.getLevel().intValue() >= Level.INFO.intValue())
                .map(LogRecord::getMessage)
                .toList();
    }

    /** To connect first is usual within a process. Only a name that stays unbound is worth a line. */
    @Test
    @Tag("netty-4.2-only")
    void aNameOfTheProcessThatIsBoundLaterIsNotMissed() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            loop.open(ZMTPSocketConfig.builder(DEALER)).connect("inproc://later");
            loop.advance(Duration.ofSeconds(5));
            ZMTPSocket server = loop.open(ZMTPSocketConfig.builder(ROUTER));
            server.bind("inproc://later");
            loop.advance(Duration.ofSeconds(5));
            assertThat(server.peers()).hasSize(1);
            assertThat(said(connects)).isEmpty();

            server.closeAsync(Duration.ZERO);
            loop.advance(Duration.ofSeconds(5));
            assertThat(said(connects)).as("when its server goes").hasSize(1);
        }
    }

    @Test
    @Tag("netty-4.2-only")
    void aNameOfTheProcessThatIsNeverBoundIsSaidOnce() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            loop.open(ZMTPSocketConfig.builder(DEALER)).connect("inproc://never");
            loop.advance(Duration.ofSeconds(60));

            assertThat(said(connects))
                    .containsExactly("inproc://never: inproc://never: nobody is bound to this name, trying again");
        }
    }

    @Test
    void theServerHasAnotherType() throws IOException {
        String endpoint = bind(sockets.open(PUB), "tcp://127.0.0.1:*");

        client(codec -> {}).connect(endpoint);

        assertSaid(
                connects,
                endpoint,
                "socket type: PUB (expected: one that DEALER talks to), peer HOST:PORT, trying again");
    }

    @Test
    void theKeyOfTheServerIsAnotherOne() throws IOException {
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        String endpoint =
                server(codec -> codec.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll()));

        client(codec -> codec.mechanism(
                        ZMTPCurve.client(ZMTPCurveKeyPair.generate().publicKey(), keys)))
                .connect(endpoint);

        assertSaid(
                connects,
                endpoint,
                "handshake with HOST:PORT ended by the peer (phase: mechanism CURVE)"
                        + " (wrong server key, or a key that is not allowed?), trying again");
    }

    @Test
    void thePasswordIsWrong() throws IOException {
        String endpoint = server(codec -> codec.mechanism(ZMTPPlain.server())
                .authenticator(ZMTPPasswordAuthenticator.of(Map.of("ada", "right"))));

        client(codec -> codec.mechanism(ZMTPPlain.client("ada", "wrong"))).connect(endpoint);

        assertSaid(
                connects,
                endpoint,
                "refused by the peer: 400, peer HOST:PORT (wrong password, or not allowed?), trying again");
    }

    @Test
    void thePortIsInUse() throws IOException {
        String endpoint = server(codec -> {});

        Throwable thrown = failure(sockets.open(ROUTER).bind(endpoint).readyFuture());

        assertThat(thrown).hasMessage("BIND_FAILED: " + endpoint + ": Address already in use");
        assertThat(Files.readString(Path.of("docs/sockets.md"))).contains("`Address already in use`");
    }

    @Test
    void aFailureToBindThatNobodyAsksForIsLogged() throws IOException {
        String endpoint = server(codec -> {});

        sockets.open(ROUTER).bind(endpoint);

        assertSaid(binds, endpoint, "Address already in use");
    }

    @Test
    void theNameIsTaken() throws IOException {
        String endpoint = server(codec -> {});
        connect(client(codec -> codec.localIdentity("ada")), endpoint);

        client(codec -> codec.localIdentity("ada")).connect(endpoint);

        assertSaid(connects, endpoint, "closed by the peer, trying again");
    }
}
