package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Forwarder;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which limiter of handshakes the channels of a socket have, and that its default lets the clients of a service in. */
class ChannelSetupTest {

    private static int portOf(String endpoint) {
        return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }

    private static Socket stranger(String endpoint) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), portOf(endpoint));
    }

    @Test
    void theSocketsOfALimiterAreCountedTogether(TestSockets sockets) throws IOException {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(10, 2);
        ZMTPSocket one = sockets.open(sockets.builder(ROUTER).handshakeLimiter(limiter));
        ZMTPSocket other = sockets.open(sockets.builder(ROUTER).handshakeLimiter(limiter));
        try (Socket first = stranger(TestSockets.bind(one, "tcp://127.0.0.1:*"));
                Socket second = stranger(TestSockets.bind(other, "tcp://127.0.0.1:*"))) {
            TestSockets.await("both", () -> limiter.handshakeCount() == 2);
            assertThat(first.isConnected() && second.isConnected()).isTrue();
        }
        TestSockets.await("their ends", () -> limiter.handshakeCount() == 0);
    }

    @Test
    void whatTheLimiterRefusesIsReportedAndNotAsAnEndByThePeer(TestSockets sockets) throws IOException {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).handshakeLimiter(new ZMTPHandshakeLimiter(10, 2)));
        TestSockets.Events events = TestSockets.events(router);
        String endpoint = TestSockets.bind(router, "tcp://127.0.0.1:*");
        List<Socket> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < 5; i++) {
                strangers.add(stranger(endpoint));
            }

            assertThat(events.next(ZMTPSocketEvent.HandshakeFailed.class).cause())
                    .hasMessageContaining("ended as the channel was closed");
            TestSockets.await("the others", () -> router.stats().handshakeFailures() == 3);
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    @Test
    void theSocketsOfAConfigHaveOneLimiterAndThoseOfAnotherConfigTheirOwn() {
        ZMTPSocketConfig config = ZMTPSocketConfig.of(ROUTER);
        assertThat(config.toBuilder().build().handshakeLimiter())
                .isNotNull()
                .isSameAs(config.handshakeLimiter())
                .isNotSameAs(ZMTPSocketConfig.of(ROUTER).handshakeLimiter());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theLimiterCanBeSwitchedOff(boolean on, TestSockets sockets) throws Exception {
        BlockingQueue<Boolean> limited = new ArrayBlockingQueue<>(1);
        ZMTPSocketConfig.Builder config = sockets.builder(ROUTER)
                .pipelineInitializer((endpoint, p) -> limited.add(p.get(ZMTPHandshakeLimiter.class) != null));
        ZMTPSocket router = sockets.open(on ? config : config.handshakeLimiter(null));
        try (Socket stranger = stranger(TestSockets.bind(router, "tcp://127.0.0.1:*"))) {
            assertThat(stranger.isConnected()).isTrue();
            assertThat(limited.poll(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(on);
        }
    }

    /** As after a restart of the server, or through a balancer. Each asks at once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void hundredsOfClientsOfOneAddressFarAwayAreServedAndNoneIsRefused(boolean curve, TestSockets sockets)
            throws IOException {
        int clients = 250;
        ZMTPCurveKeyPair serverKeys = ZMTPCurveKeyPair.generate();
        ZMTPCurveKeyPair clientKeys = ZMTPCurveKeyPair.generate();
        ZMTPSocketConfig.Builder server = sockets.builder(ROUTER);
        if (curve) {
            server.codec(codec ->
                    codec.mechanism(ZMTPCurve.server(serverKeys)).authenticator(ZMTPAuthenticator.acceptAll()));
        }
        ZMTPSocket router = sockets.open(server);
        router.onMessage((peer, message) -> peer.sendOrDrop(message));
        AtomicInteger answers = new AtomicInteger();
        AtomicInteger ends = new AtomicInteger();
        try (Forwarder line = new Forwarder(TestSockets.bind(router, "tcp://127.0.0.1:*"))) {
            line.delay(Duration.ofMillis(50));
            List<ZMTPSocket> dealers = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                ZMTPSocketConfig.Builder client = sockets.builder(DEALER);
                if (curve) {
                    client.codec(codec -> codec.mechanism(ZMTPCurve.client(serverKeys.publicKey(), clientKeys)));
                }
                ZMTPSocket dealer = sockets.open(client);
                dealer.onEvent(Runnable::run, event -> {
                    if (event instanceof ZMTPSocketEvent.Retrying) {
                        ends.incrementAndGet();
                    }
                });
                dealer.onMessage((peer, message) -> {
                    message.release();
                    answers.incrementAndGet();
                });
                dealer.connect(line.endpoint());
                dealers.add(dealer);
            }
            dealers.forEach(dealer -> dealer.sendAsync(TestSockets.message("hello")));
            TestSockets.await("answers", () -> answers.get() == clients);
            assertThat(ends).hasValue(0);
            assertThat(router.stats().handshakeFailures()).isZero();
        }
    }

    @Test
    void aConnectorWhoseHandlersCannotBeCreatedReportsWhyAndTriesAgain(TestSockets sockets) {
        IllegalStateException failure = new IllegalStateException("the key store is being replaced");
        AtomicBoolean fails = new AtomicBoolean(true);
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).pipelineInitializer((endpoint, pipeline) -> {
            if (fails.get()) {
                throw failure;
            }
        }));
        TestSockets.Events events = TestSockets.events(push);
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.ChannelSetup")) {
            push.connect(TestSockets.bind(pull, "tcp://127.0.0.1:*"));
            assertThat(events.next(ZMTPSocketEvent.Retrying.class).cause()).isSameAs(failure);
            assertThat(log.traces).contains(failure);

            fails.set(false);

            events.next(ZMTPSocketEvent.PeerUp.class);
        }
    }

    @Test
    void anAcceptedConnectionWhoseHandlersCannotBeCreatedIsAFailedHandshake(TestSockets sockets) throws IOException {
        IllegalStateException failure = new IllegalStateException("no certificate");
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).pipelineInitializer((endpoint, pipeline) -> {
            throw failure;
        }));
        TestSockets.Events events = TestSockets.events(pull);
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.ChannelSetup");
                Socket stranger = stranger(TestSockets.bind(pull, "tcp://127.0.0.1:*"))) {
            ZMTPSocketEvent.HandshakeFailed failed = events.next(ZMTPSocketEvent.HandshakeFailed.class);

            assertThat(failed.cause()).isSameAs(failure);
            assertThat(failed.address()).isEqualTo(stranger.getLocalSocketAddress());
            assertThat(pull.stats().handshakeFailures()).isOne();
            assertThat(log.traces).containsExactly(failure);
        }
    }

    @Test
    void aConnectorReportsWhatAHandlerThrowsWhenItIsAdded(TestSockets sockets) {
        IllegalStateException failure = new IllegalStateException("no file with keys");
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .codec(codec -> codec.mechanism(context -> {
                    throw failure;
                })));
        TestSockets.Events events = TestSockets.events(push);
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.ChannelSetup")) {
            push.connect(TestSockets.bind(pull, "tcp://127.0.0.1:*"));

            assertThat(events.next(ZMTPSocketEvent.Retrying.class).cause()).isSameAs(failure);
            assertThat(log.traces).contains(failure);
        }
    }
}
