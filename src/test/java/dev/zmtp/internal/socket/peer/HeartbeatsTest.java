package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.Forwarder;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that is slow lives, and one that is out of reach does not, in real time. */
class HeartbeatsTest {

    private static final Duration INTERVAL = Duration.ofMillis(100);

    /** Rather long, as an event loop of a busy machine may be late. */
    private static final Duration TIMEOUT = Duration.ofMillis(600);

    /** Long enough to be taken for dead more than once. */
    private static final Duration ASLEEP = Duration.ofMillis(1_500);

    private static ZMTPSocketConfig.Builder config(ZMTPSocketType type) {
        return ZMTPSocketConfig.builder(ZMTPConfig.builder()
                        .socketType(type)
                        .heartbeatInterval(INTERVAL)
                        .heartbeatTimeout(TIMEOUT)
                        .handshakeTimeout(TIMEOUT)
                        .build())
                .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(50));
    }

    /** T36: few messages leave room in the kernel, where PINGs go; many do not. */
    @Tag("T36")
    @ParameterizedTest
    @ValueSource(ints = {20, 20_000})
    void aReceiverThatDoesNotReadForAWhileIsNotDisconnectedAndMissesNothing(int messages, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(config(PULL).receiveQueueLimit(10, 16 << 20));
        ZMTPSocket push = sockets.open(config(PUSH));
        TestSockets.Events ofPush = TestSockets.events(push);
        TestSockets.Events ofPull = TestSockets.events(pull);
        TestSockets.connect(push, bind(pull, "tcp://127.0.0.1:*"));
        CompletableFuture<Void> awake = new CompletableFuture<>();
        sockets.group().schedule(() -> awake.complete(null), ASLEEP.toMillis(), TimeUnit.MILLISECONDS);
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> sendAll(push, messages));
        get(awake);

        List<String> received = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            received.add(frames(get(pull.receiveAsync())).get(0));
        }

        get(sent);
        for (int i = 0; i < messages; i++) {
            assertThat(received.get(i)).isEqualTo(Integer.toString(i));
        }
        assertThat(ofPush.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
        assertThat(ofPull.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
    }

    private static void sendAll(ZMTPSocket push, int messages) {
        String body = "b".repeat(1_000);
        for (int i = 0; i < messages; i++) {
            get(push.sendAsync(message(Integer.toString(i), body)));
        }
    }

    /** T37. */
    @Tag("T37")
    @Test
    void aNetworkThatSwallowsEverythingIsReportedOnBothSidesAndOvercomeWhenItHeals(TestSockets sockets)
            throws IOException {
        ZMTPSocket router = sockets.open(config(ROUTER));
        router.serve(request -> request.reply(message("answer")));
        ZMTPSocket dealer = sockets.open(config(DEALER));
        TestSockets.Events ofRouter = TestSockets.events(router);
        TestSockets.Events ofDealer = TestSockets.events(dealer);
        try (Forwarder network = new Forwarder(bind(router, "tcp://127.0.0.1:*"))) {
            TestSockets.connect(dealer, network.endpoint());
            ask(dealer);

            network.swallow(true);
            CompletableFuture<ZMTPMessage> lost = dealer.requestAsync(message("lost"), TestSockets.PATIENCE);
            assertHeartbeatTimeout(ofRouter.next(ZMTPSocketEvent.PeerDown.class));
            assertHeartbeatTimeout(ofDealer.next(ZMTPSocketEvent.PeerDown.class));
            assertThat(TestSockets.reason(lost)).isEqualTo(ZMTPSocketException.Reason.PEER_DOWN);

            network.swallow(false);
            ofRouter.next(ZMTPSocketEvent.PeerUp.class);
            ofDealer.next(ZMTPSocketEvent.PeerUp.class);
            ask(dealer);
        }
    }

    private static void ask(ZMTPSocket dealer) {
        assertThat(frames(get(dealer.requestAsync(message("question"), TestSockets.PATIENCE))))
                .containsExactly("answer");
    }

    private static void assertHeartbeatTimeout(ZMTPSocketEvent.PeerDown down) {
        assertThat(down.cause()).isInstanceOf(ZMTPException.class);
        assertThat(((ZMTPException) down.cause()).code()).isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT);
    }
}
