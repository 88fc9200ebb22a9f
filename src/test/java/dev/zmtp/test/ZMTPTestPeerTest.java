package dev.zmtp.test;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The peer of a script that users test with. */
@Tag("netty-4.2-only")
class ZMTPTestPeerTest {

    private static final String ENDPOINT = "test://peer";

    @AutoClose
    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    private final List<ZMTPSocketEvent> events = new ArrayList<>();

    private ZMTPSocket open(ZMTPSocketConfig.Builder config) {
        ZMTPSocket socket = loop.open(config);
        socket.onEvent(Runnable::run, events::add);
        return socket;
    }

    @Test
    void itAsksAServer() {
        ZMTPSocket router = open(ZMTPSocketConfig.builder(ROUTER));
        router.serve(request -> request.reply(ZMTPMessage.fromUTF8("answer")));
        router.bind(ENDPOINT);

        ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, ENDPOINT, REQ);
        peer.send("", "question");

        assertThat(peer.receive()).containsExactly("", "answer");
    }

    @Test
    void itAnswersAClient() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, ROUTER);
        ZMTPSocket req = open(ZMTPSocketConfig.builder(REQ));
        req.connect(ENDPOINT);
        CompletableFuture<ZMTPMessage> answer = req.requestAsync(message("?"), Duration.ofSeconds(1));

        assertThat(peer.receive()).containsExactly("", "?");
        peer.send("", "!");

        assertThat(answer).isCompleted();
        answer.join().release();
    }

    /** Requests begin with a binary id. */
    @Test
    void itAnswersADealer() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, ROUTER);
        ZMTPSocket dealer = open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect(ENDPOINT);
        CompletableFuture<ZMTPMessage> answer = dealer.requestAsync(message("?"), Duration.ofSeconds(1));

        List<byte[]> request = peer.receiveBytes();
        peer.sendBytes(request.get(0), request.get(1), new byte[] {(byte) 0xff});

        ZMTPMessage reply = loop.await(answer);
        assertThat(reply.frame(reply.size() - 1).getByte(0)).isEqualTo((byte) 0xff);
        reply.release();
    }

    @Test
    void aRouterKnowsItByItsRoutingId() {
        ZMTPSocket router = open(ZMTPSocketConfig.builder(ROUTER));
        router.bind(ENDPOINT);
        ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, ENDPOINT, DEALER, "worker 1");

        router.sendOrDrop(ZMTPMessage.fromUTF8("worker 1", "job"));

        assertThat(peer.receive()).containsExactly("job");
    }

    @Test
    void itKnowsWhatWasSubscribedTo() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PUB);
        ZMTPSocket sub = open(ZMTPSocketConfig.builder(SUB));
        sub.subscribe("b");
        ZMTPRegistration first = sub.subscribe("a");
        sub.connect(ENDPOINT);
        assertThat(peer.subscriptions()).containsExactlyInAnyOrder("a", "b");

        first.close();

        assertThat(peer.subscriptions()).containsExactly("b");
    }

    @Test
    void aSecondConnectionIsRefusedWhileTheFirstLives() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        ZMTPSocket first = open(ZMTPSocketConfig.builder(PUSH));
        first.connect(ENDPOINT);
        loop.run();
        ZMTPSocket second = open(ZMTPSocketConfig.builder(PUSH));
        second.connect(ENDPOINT);

        loop.advance(Duration.ofMinutes(1));

        assertThat(first.peers()).hasSize(1);
        assertThat(second.peers()).isEmpty();
        assertThat(peer.isClosed()).isFalse();
    }

    /** The row of the page about robustness on reserved flags. */
    @Test
    @Tag("T92")
    void bytesThatAreMalformedEndTheConnectionAndAreReported() {
        ZMTPSocket pull = open(ZMTPSocketConfig.builder(PULL));
        pull.bind(ENDPOINT);
        ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, ENDPOINT, PUSH);
        assertThat(peer.isClosed()).isFalse();

        peer.raw(new byte[] {(byte) 0x80, 0});

        assertThat(peer.isClosed()).isTrue();
        assertThat(events.get(events.size() - 1))
                .isInstanceOfSatisfying(
                        ZMTPSocketEvent.PeerDown.class,
                        down -> assertThat(down.cause())
                                .isInstanceOfSatisfying(
                                        ZMTPException.class,
                                        e -> assertThat(e.code()).isEqualTo(ZMTPException.Code.MALFORMED)));
    }

    /** Its type does not fit. */
    @Test
    void aPeerThatIsRefusedIsClosed() {
        open(ZMTPSocketConfig.builder(PULL)).bind(ENDPOINT);

        assertThat(ZMTPTestPeer.connect(loop, ENDPOINT, SUB).isClosed()).isTrue();
        assertThat(events)
                .last()
                .isInstanceOfSatisfying(
                        ZMTPSocketEvent.HandshakeFailed.class,
                        failed -> assertThat(failed.cause()).hasMessageContaining("SUB"));
    }

    @Test
    void longFramesArriveWhole() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);
        String frame = "x".repeat(200_000);
        push.sendOrDrop(ZMTPMessage.fromUTF8("", frame, "é"));

        assertThat(peer.receive()).containsExactly("", frame, "é");
    }

    @Test
    void heartbeatsAreAnswered() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);

        loop.advance(Duration.ofHours(1));

        assertThat(peer.isClosed()).isFalse();
        assertThat(events).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
    }

    @Test
    void aPeerThatStopsReadingFillsTheQueueOfTheSocket() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH).sendQueueLimit(10, 1 << 20));
        push.connect(ENDPOINT);
        peer.stopReading();

        int sent = 0;
        while (sent < 10_000 && trySend(push, "x".repeat(1_000))) {
            sent++;
            loop.run();
        }

        assertThat(sent).isLessThan(1_000);
        assertThat(push.stats().queued()).isGreaterThanOrEqualTo(10);
        peer.resumeReading();
        for (int i = 0; i < sent; i++) {
            assertThat(peer.receive()).hasSize(1);
        }
        assertThat(push.stats().queued()).isZero();
    }

    @Test
    void aPeerThatHasStoppedReadingReadsOnNoLaterConnection() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        peer.stopReading();
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);

        assertThat(trySend(push, "waits")).isTrue();

        assertThat(peer.isEmpty()).isTrue();
        peer.resumeReading();
        assertThat(peer.receive()).containsExactly("waits");
    }

    private static boolean trySend(ZMTPSocket socket, String text) {
        ZMTPMessage message = message(text);
        boolean accepted = socket.trySend(message);
        if (!accepted) {
            message.release();
        }
        return accepted;
    }

    /** It is slow by nature then. */
    @Test
    void thousandMessagesWaitToBeReceived() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH).sendQueueLimit(100_000, 1 << 30));
        push.connect(ENDPOINT);
        for (int i = 0; i < 20_000; i++) {
            push.sendOrDrop(message("x".repeat(100) + i));
        }
        loop.run();
        assertThat(push.stats().queued()).isPositive();

        for (int i = 0; i < 20_000; i++) {
            assertThat(peer.receive()).containsExactly("x".repeat(100) + i);
        }
    }

    @Test
    void aConnectorThatIsCutComesBackToIt() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        assertThat(peer.isClosed()).isTrue();
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);
        assertThat(peer.isClosed()).isFalse();
        loop.cut(push);
        assertThat(peer.isClosed()).isTrue();

        loop.advance(Duration.ofSeconds(1));
        push.sendOrDrop(message("again"));

        assertThat(peer.receive()).containsExactly("again");
    }

    @Test
    void aCloseEndsTheConnectionAndFreesTheEndpoint() {
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);
        loop.run();

        peer.close();

        assertThat(push.peers()).isEmpty();
        assertThat(ZMTPTestPeer.bind(loop, ENDPOINT, PULL).isClosed()).isTrue();
    }

    @Test
    void aSubscriberGetsWhatItSubscribedTo() {
        ZMTPSocket pub = open(ZMTPSocketConfig.builder(PUB));
        pub.bind(ENDPOINT);
        ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, ENDPOINT, SUB);

        peer.subscribe("a");
        pub.sendOrDrop(message("b"));
        pub.sendOrDrop(message("a"));

        assertThat(peer.receive()).containsExactly("a");
    }

    @Test
    void whatIsNotThereFailsTheTest() {
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> ZMTPTestPeer.connect(loop, ENDPOINT, DEALER))
                .withMessage("endpoint: " + ENDPOINT + " (expected: an endpoint to which a socket is bound)");
        ZMTPTestPeer peer = ZMTPTestPeer.bind(loop, ENDPOINT, PULL);
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> ZMTPTestPeer.bind(loop, ENDPOINT, PULL))
                .withMessage("endpoint: " + ENDPOINT + " (expected: a free endpoint)");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(peer::receive)
                .withMessage("message: none (expected: a message of the socket)");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> peer.send("m"))
                .withMessage("peer: not connected (expected: a connection)");
        assertThatIllegalArgumentException().isThrownBy(peer::send).withMessage("frames: 0 (expected: >= 1)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPTestPeer.bind(loop, "inproc://peer", PULL))
                .withMessage("endpoint: inproc://peer (expected: one of the schemes test)");
    }
}
