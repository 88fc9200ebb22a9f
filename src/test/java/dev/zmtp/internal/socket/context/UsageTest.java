package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.CLIENT;
import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SERVER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is refused before anything happens, as it fits no socket or not this one. */
class UsageTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final TestSockets sockets = new TestSockets();

    @AfterEach
    void close() {
        sockets.close();
    }

    @Test
    void aMessageHasAFrame() {
        ZMTPSocket push = sockets.open(PUSH);
        assertThatThrownBy(() -> push.trySend(ZMTPMessage.from(List.of())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("frames: 0 (expected: from 1 to ");
    }

    /** A message from another peer can have exactly the maximum, and the service would end the connection of all. */
    @Test
    void aRequestMustNotExceedTheLimitsBecauseOfItsEnvelope() {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER)
                .codec(codec -> codec.maxMessageFrames(4).maxFrameLength(1_000).maxMessageLength(1_000)));

        assertThatThrownBy(() -> dealer.requestAsync(message("1", "2", "3"), TIMEOUT))
                .hasMessage("frames: 3 (expected: <= 2, because of the envelope, see maxMessageFrames)");
        assertThatThrownBy(() -> dealer.requestAsync(message("x".repeat(869)), TIMEOUT))
                .hasMessage("length: 869 (expected: <= 868, because of the envelope, see maxMessageLength)");

        dealer.requestAsync(message("x".repeat(868)), TIMEOUT);
        dealer.requestAsync(message("x", "y"), TIMEOUT);
    }

    /** Which has no id. */
    @Test
    void theEnvelopeOfAReqIsShorter() {
        ZMTPSocket req = sockets.open(sockets.builder(REQ).codec(codec -> codec.maxMessageFrames(2)));

        assertThatThrownBy(() -> req.requestAsync(message("1", "2"), TIMEOUT))
                .hasMessage("frames: 2 (expected: <= 1, because of the envelope, see maxMessageFrames)");
        assertThatThrownBy(() -> req.trySend(message("1", "2")))
                .hasMessage("frames: 2 (expected: <= 1, because of the envelope, see maxMessageFrames)");

        req.requestAsync(message("1"), TIMEOUT);
    }

    @Test
    void aTopicFitsIntoACommand() {
        ZMTPSocket sub = sockets.open(sockets.builder(SUB).codec(codec -> codec.maxCommandLength(20)));
        sub.subscribe("0123456789");

        assertThatThrownBy(() -> sub.subscribe("0123456789x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("topic: 11 bytes (expected: <= 10, see maxCommandLength)");

        sub.unsubscribe("0123456789x");
    }

    @Test
    void aRequestHasAFrame() {
        ZMTPSocket dealer = sockets.open(DEALER);
        assertThatThrownBy(() -> dealer.requestAsync(ZMTPMessage.from(List.of()), TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("frames: 0 (expected: from 1 to ");
    }

    @Test
    void aMessageOfAnXsubIsNoSubscription() {
        ZMTPSocket xsub = sockets.open(XSUB);
        ZMTPMessage message = message("\1topic");
        assertThatThrownBy(() -> xsub.sendAsync(message))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("first byte: 0 or 1 (expected: another");
        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aMessageThatWasSentIsNotSentAgain() {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPMessage message = message("once");
        push.sendOrDrop(message);
        for (Consumer<ZMTPMessage> send : List.<Consumer<ZMTPMessage>>of(push::sendAsync, push::sendOrDrop)) {
            assertThatThrownBy(() -> send.accept(message))
                    .isInstanceOf(IllegalReferenceCountException.class)
                    .hasMessage("message: it was already sent or released");
        }
    }

    @Test
    void aMessageWhoseGroupWasReleasedIsReleased() {
        ZMTPSocket radio = sockets.open(RADIO);
        ZMTPMessage message = message("group", "body");
        ByteBuf body = message.frame(1);
        message.frame(0).release();
        assertThatThrownBy(() -> radio.sendAsync(message)).isInstanceOf(IllegalReferenceCountException.class);
        assertThat(body.refCnt()).isZero();
    }

    @Test
    void aMessageToAPeerHasNoMoreFramesThanItsTypeAllows() {
        ZMTPSocket server = sockets.open(SERVER);
        connect(sockets.open(CLIENT), bind(server, "inproc://frames"));
        ZMTPPeer client = TestSockets.peer(server);
        ZMTPMessage message = message("a", "b");
        assertThatThrownBy(() -> client.sendAsync(message))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("frames: 2 (expected: 1)");
        assertThat(message.refCnt()).isZero();
    }

    @Test
    void onlyTypesWithTopicsOrGroupsSubscribe() {
        ZMTPSocket push = sockets.open(PUSH);
        assertThatThrownBy(() -> push.subscribe("news"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("subscribe: not with PUSH (expected: SUB, XSUB or DISH)");
        assertThatThrownBy(() -> push.unsubscribe("news"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("unsubscribe: not with PUSH (expected: SUB, XSUB or DISH)");
    }

    @Test
    void onlyTypesThatKnowTheirPeersSendToOneOfThem() {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPPeer peer = connect(pull, bind(sockets.open(PUSH), "inproc://send-to"));
        Map<String, Consumer<ZMTPMessage>> calls =
                Map.of("sendAsync", peer::sendAsync, "trySend", peer::trySend, "sendOrDrop", peer::sendOrDrop);

        calls.forEach((name, call) -> {
            ZMTPMessage message = message("a");
            assertThatThrownBy(() -> call.accept(message))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage(name + ": not with PULL (expected: ROUTER, SERVER, PEER, PUB or XPUB)");
            assertThat(message.refCnt()).isZero();
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUB", "XPUB"})
    void aPublisherMaySendToOneOfItsSubscribers(ZMTPSocketType type) {
        ZMTPSocket publisher = sockets.open(type);
        ZMTPSocket sub = sockets.open(SUB);
        sub.subscribe("news");
        connect(sub, bind(publisher, "inproc://send-to-one"));

        TestSockets.get(TestSockets.peer(publisher).sendAsync(message("news", "for one")));

        assertThat(TestSockets.receive(sub)).containsExactly("news", "for one");
    }

    @Test
    void aRequestHasATimeThatIsNotOver() {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPMessage message = message("?");

        assertThatThrownBy(() -> dealer.requestAsync(message, Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("timeout: PT-0.000000001S (expected: >= 0)");

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aRequestMayHaveNoTimeAtAll() {
        ZMTPSocket dealer = sockets.open(DEALER);
        dealer.connect("inproc://nobody");

        assertThat(TestSockets.reason(dealer.requestAsync(message("?"), Duration.ZERO)))
                .isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
    }

    @Test
    void nothingIsNotAMessage() {
        ZMTPSocket dealer = sockets.open(DEALER);

        assertThatThrownBy(() -> dealer.sendAsync(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> dealer.requestAsync(null, TIMEOUT)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void noTimeIsNotATimeout() {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPMessage message = message("?");

        assertThatThrownBy(() -> dealer.requestAsync(message, null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("timeout");
        assertThatThrownBy(() -> dealer.receive(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("timeout");

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void nothingIsNotAHandler() {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket xpub = sockets.open(XPUB);

        assertThatNullPointerException()
                .isThrownBy(() -> router.onMessage(null))
                .withMessage("handler");
        assertThatNullPointerException().isThrownBy(() -> router.serve(null)).withMessage("handler");
        assertThatNullPointerException()
                .isThrownBy(() -> router.onWritable(null))
                .withMessage("action");
        assertThatNullPointerException()
                .isThrownBy(() -> router.onEvent(null, event -> {}))
                .withMessage("executor");
        assertThatNullPointerException()
                .isThrownBy(() -> router.onEvent(Runnable::run, null))
                .withMessage("listener");
        assertThatNullPointerException()
                .isThrownBy(() -> xpub.onSubscription(null))
                .withMessage("handler");
        assertThatNullPointerException()
                .isThrownBy(() -> xpub.onEverySubscription(null))
                .withMessage("handler");
    }

    @Test
    void aReleasedMessageIsRefusedForTheFirstReason() {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPMessage released = message("released");
        released.release();
        assertThatThrownBy(() -> pull.sendAsync(released))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageStartingWith("sendAsync: not with PULL");
    }
}
