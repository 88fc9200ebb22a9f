package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.Programs;
import dev.zmtp.testing.TestSockets;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that knows RFC 6455 only, with the Python library websockets. */
@Tag("T137")
@Tag("websockets")
class WebsocketsIT {

    private static final String SCRIPT = "src/test/resources/websocket/client.py";

    @TempDir
    private static Path directory;

    private static Certificates certificates;
    private static Path trusted;

    private final TestSockets sockets = new TestSockets(1);

    @BeforeAll
    static void find() throws Exception {
        certificates = Certificates.make(directory, "ours");
        trusted = certificates.writeCertificate(directory.resolve("trusted.pem"));
    }

    @AfterEach
    void close() {
        sockets.close();
    }

    private ZMTPSocket open(ZMTPSocketType type) throws Exception {
        ZMTPSocketConfig.Builder config = sockets.builder(type)
                .tls(SslContextBuilder.forServer(certificates.keys())
                        .sslProvider(SslProvider.JDK)
                        .build());
        return sockets.open(config);
    }

    /** Returns the endpoint with the name of the certificate. */
    private static String bind(String scheme, ZMTPSocket socket) {
        return TestSockets.bind(socket, scheme + "://127.0.0.1:*/feed").replace("127.0.0.1", "localhost");
    }

    /** Returns what the client prints about a socket that is bound with the scheme. */
    private static String client(String check, String scheme, ZMTPSocket socket) throws Exception {
        return client(check, bind(scheme, socket));
    }

    private static String client(String check, String uri) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("env", "PYTHONPATH=" + Programs.PYTHON_MODULES, "python3", SCRIPT, check, uri));
        if (uri.startsWith("wss:")) {
            command.add(trusted.toString());
        }
        return Programs.run(command.toArray(String[]::new)).strip();
    }

    private ZMTPSocket echo() throws Exception {
        ZMTPSocket router = open(ROUTER);
        router.onMessage((peer, received) -> peer.sendOrDrop(received));
        return router;
    }

    @ParameterizedTest
    @CsvSource({"frames, ws", "frames, wss", "fragments, ws", "fragments, wss"})
    void aRouterEchoesFramesOfEachLength(String check, String scheme) throws Exception {
        assertThat(client(check, scheme, echo())).isEqualTo("9 messages came back");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void aRepAnswersFramesOfEachLength(String scheme) throws Exception {
        ZMTPSocket rep = open(REP);
        rep.serve(request -> request.reply(request.message()));

        assertThat(client("rep", scheme, rep)).isEqualTo("9 messages came back");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void aPubSendsToASubscriber(String scheme) throws Exception {
        ZMTPSocket pub = open(PUB);
        pub.onSubscription((peer, topic) -> {
            pub.sendOrDrop(message("other", "today"));
            pub.sendOrDrop(message("news", "today"));
        });

        assertThat(client("pub", scheme, pub)).isEqualTo("news|today");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void pingsAreAnsweredWithTheirPayload(String scheme) throws Exception {
        assertThat(client("ping", scheme, echo())).isEqualTo("3 pongs");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void anotherPathIsRefused(String scheme) throws Exception {
        assertThat(client("frames", bind(scheme, echo()) + "/elsewhere")).isEqualTo("404");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void anOriginIsRefused(String scheme) throws Exception {
        assertThat(client("origin", scheme, echo())).isEqualTo("403");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void aTextFrameIsUnsupportedData(String scheme) throws Exception {
        assertThat(client("text", scheme, echo())).isEqualTo("sent 1003, received 1003, first received");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void aCloseOfTheClientIsAnswered(String scheme) throws Exception {
        assertThat(client("close", scheme, echo())).isEqualTo("sent 1000, received 1000, first sent");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void aCloseOfTheSocketIsAnsweredByTheClient(String scheme) throws Exception {
        ZMTPSocket router = open(ROUTER);
        router.onMessage((peer, received) -> {
            received.release();
            router.closeAsync(Duration.ofSeconds(10));
        });

        assertThat(client("closed", scheme, router)).isEqualTo("sent 1000, received 1000, first received");
    }
}
