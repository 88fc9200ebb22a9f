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
import dev.zmtp.security.ZMTPPasswords;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a newcomer's program says by itself when something is wrong, with all defaults: a line that docs/sockets.md has. */
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
                server(codec -> codec.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.anyone()));

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
        String endpoint = server(
                codec -> codec.mechanism(ZMTPPlain.server()).authenticator(ZMTPPasswords.of(Map.of("ada", "right"))));

        client(codec -> codec.mechanism(ZMTPPlain.client("ada", "wrong"))).connect(endpoint);

        assertSaid(
                connects,
                endpoint,
                "refused by the peer: 400, peer HOST:PORT (wrong password, or not allowed?), trying again");
    }

    @Test
    void thePortIsInUse() throws IOException {
        String endpoint = server(codec -> {});

        Throwable thrown = failure(sockets.open(ROUTER).bind(endpoint).ready());

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
