package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers that do not fit: both sides report each attempt with its reason, and nothing is for ever. */
class RefusedPeersTest {

    private static final int ATTEMPTS = 3;

    private static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.generate();

    /** What is wrong at the server, and is mended there. */
    @SuppressWarnings("ImmutableEnumChecker") // the operators keep nothing
    enum Wrong {
        CURVE_SERVER_KEY(
                client -> client.mechanism(ZMTPCurve.client(SERVER.publicKey(), ZMTPCurveKeyPair.generate())),
                server -> curve(server, ZMTPCurveKeyPair.generate()),
                server -> curve(server, SERVER),
                Code.CLOSED,
                Code.MALFORMED,
                ZMTPSocketEvent.FailureKind.TRANSIENT),
        PASSWORD(
                client -> client.mechanism(ZMTPPlain.client("user", "password")),
                server -> server.mechanism(ZMTPPlain.server())
                        .authenticator(ZMTPPasswordAuthenticator.of(Map.of("user", "another one"))),
                server -> server.mechanism(ZMTPPlain.server())
                        .authenticator(ZMTPPasswordAuthenticator.of(Map.of("user", "password"))),
                Code.PEER_ERROR,
                Code.AUTHENTICATION,
                ZMTPSocketEvent.FailureKind.REJECTED),
        AUTHENTICATOR(
                client -> client,
                server -> server.authenticator(
                        request -> CompletableFuture.completedStage(ZMTPAuthDecision.deny("not this one"))),
                server -> server,
                Code.PEER_ERROR,
                Code.AUTHENTICATION,
                ZMTPSocketEvent.FailureKind.REJECTED),
        MECHANISM(
                client -> client,
                server -> curve(server, SERVER),
                server -> server,
                Code.MECHANISM,
                Code.MECHANISM,
                ZMTPSocketEvent.FailureKind.INCOMPATIBLE),
        SOCKET_TYPE(
                client -> client,
                server -> server.socketType(PUSH),
                server -> server,
                Code.SOCKET_TYPE,
                Code.SOCKET_TYPE,
                ZMTPSocketEvent.FailureKind.INCOMPATIBLE);

        private final UnaryOperator<ZMTPConfig.Builder> client;
        private final UnaryOperator<ZMTPConfig.Builder> server;
        private final UnaryOperator<ZMTPConfig.Builder> mended;
        private final Code atClient;
        private final Code atServer;
        private final ZMTPSocketEvent.FailureKind kind;

        Wrong(
                UnaryOperator<ZMTPConfig.Builder> client,
                UnaryOperator<ZMTPConfig.Builder> server,
                UnaryOperator<ZMTPConfig.Builder> mended,
                Code atClient,
                Code atServer,
                ZMTPSocketEvent.FailureKind kind) {
            this.client = client;
            this.server = server;
            this.mended = mended;
            this.atClient = atClient;
            this.atServer = atServer;
            this.kind = kind;
        }
    }

    private static ZMTPConfig.Builder curve(ZMTPConfig.Builder server, ZMTPCurveKeyPair keys) {
        return server.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll());
    }

    private static ZMTPSocketConfig.Builder config(ZMTPSocketType type, UnaryOperator<ZMTPConfig.Builder> wrong) {
        return ZMTPSocketConfig.builder(
                wrong.apply(ZMTPConfig.builder().socketType(type)).build());
    }

    private static Code code(ZMTPSocketEvent.HandshakeFailed failed) {
        assertThat(failed.cause()).isInstanceOf(ZMTPException.class);
        return ((ZMTPException) failed.cause()).code();
    }

    /** T44. */
    @Tag("T44")
    @ParameterizedTest
    @EnumSource
    void eachAttemptIsReportedOnBothSidesAndTrafficBeginsWhenTheServerIsMended(Wrong wrong, TestSockets sockets) {
        ZMTPSocket server = sockets.open(config(PULL, wrong.server));
        TestSockets.Events atServer = TestSockets.events(server);
        String endpoint = bind(server, "tcp://127.0.0.1:*");
        ZMTPSocket client = sockets.open(config(PUSH, wrong.client));
        TestSockets.Events atClient = TestSockets.events(client);
        ZMTPEndpoint connector = client.connect(endpoint);
        client.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Retrying) {
                connector.retryNow(); // the wait is that of another test
            }
        });
        CompletableFuture<Void> sent = client.sendAsync(message("sent before it was mended"));

        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            assertThat(atClient.next(ZMTPSocketEvent.class))
                    .isEqualTo(new ZMTPSocketEvent.Connecting(endpoint, attempt));
            ZMTPSocketEvent.HandshakeFailed failed =
                    (ZMTPSocketEvent.HandshakeFailed) atClient.next(ZMTPSocketEvent.class);
            assertThat(code(failed)).as("at the client: %s", failed).isEqualTo(wrong.atClient);
            ZMTPSocketEvent.Retrying retry = (ZMTPSocketEvent.Retrying) atClient.next(ZMTPSocketEvent.class);
            assertThat(retry.attempt()).isEqualTo(attempt);
            assertThat(retry.kind()).isEqualTo(wrong.kind);
            assertThat(retry.cause()).isSameAs(failed.cause());

            ZMTPSocketEvent.HandshakeFailed there = atServer.next(ZMTPSocketEvent.HandshakeFailed.class);
            assertThat(code(there)).as("at the server: %s", there).isEqualTo(wrong.atServer);
            assertThat(there.endpoint()).isEqualTo(endpoint);
            assertThat(there.address()).isNotNull();
        }

        get(server.closeAsync(Duration.ZERO));
        assertThat(sent).isNotDone();
        ZMTPSocket mended = sockets.open(config(PULL, wrong.mended));
        bind(mended, endpoint);

        assertThat(receive(mended)).containsExactly("sent before it was mended");
    }
}
