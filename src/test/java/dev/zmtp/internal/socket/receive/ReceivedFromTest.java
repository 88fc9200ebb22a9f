package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.socket.ZMTPReceived;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import io.netty.util.concurrent.BlockingOperationException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Receives of a message with its peer. */
class ReceivedFromTest {

    private static final String ENDPOINT = "inproc://from";

    @Test
    void theMessageComesAsItWasSentWithItsPeer(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).codec(c -> c.localIdentity("worker")));
        connect(dealer, bind(router, ENDPOINT));
        dealer.sendOrDrop(message("question"));

        ZMTPReceived received = router.receiveFrom();

        assertThat(received.peer()).isSameAs(router.peer("worker"));
        assertThat(frames(received.message())).containsExactly("question");
        received.peer().sendOrDrop(message("answer"));
        assertThat(receive(dealer)).containsExactly("answer");
    }

    @Test
    void itWaitsNoLongerThanItMay(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));

        assertThat(pull.receiveFrom(Duration.ZERO)).isNull();

        push.sendOrDrop(message("m"));
        ZMTPReceived received = pull.receiveFrom(PATIENCE);
        assertThat(received).isNotNull();
        assertThat(received.peer()).isSameAs(pull.peers().iterator().next());
        assertThat(frames(received.message())).containsExactly("m");
    }

    @Test
    void itFailsWhenTheSocketIsClosed(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        get(pull.closeAsync(Duration.ZERO));

        assertThatThrownBy(pull::receiveFrom)
                .isInstanceOf(ZMTPSocketException.class)
                .hasFieldOrPropertyWithValue("reason", CLOSED);
    }

    @Test
    void itIsNotForTypesThatReceiveInTurnOrNotAtAll(TestSockets sockets) {
        for (ZMTPSocket socket : new ZMTPSocket[] {sockets.open(REP), sockets.open(PUSH)}) {
            assertThatThrownBy(socket::receiveFrom)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage("receiveFrom: not with " + socket.socketType()
                            + " (expected: a type that receives, not REQ or REP)");
        }
    }

    @Test
    void itDoesNotWaitOnAnEventLoop(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        pull.eventLoop().execute(() -> {
            try {
                thrown.complete(new AssertionError("received " + pull.receiveFrom()));
            } catch (Throwable e) {
                thrown.complete(e);
            }
        });

        assertThat(get(thrown)).isInstanceOf(BlockingOperationException.class);
    }

    @Test
    void withoutATimeoutItTakesNoMessage(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));

        assertThatThrownBy(() -> pull.receiveFrom(null)).isInstanceOf(NullPointerException.class);
        push.sendOrDrop(message("first"));

        assertThat(receive(pull)).containsExactly("first");
    }
}
