package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.EventLoopGroup;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Names within the process: who binds and who connects comes in any order, and ends in any. */
@SuppressWarnings("try") // some loops end before their test does
class InprocTest {

    /** T61. */
    @Tag("T61")
    @Test
    void connectorsFromBeforeAndAfterTheBindAreJoined(TestSockets sockets) {
        ZMTPSocket early = sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofDays(1), Duration.ofDays(1)));
        ZMTPEndpoint waiting = early.connect("inproc://joined");
        CompletableFuture<Void> queued = early.sendAsync(message("early"));
        await("nobody is there", () -> waiting.state() == ZMTPEndpoint.State.RETRYING);
        ZMTPSocket pull = sockets.open(PULL);

        bind(pull, "inproc://joined");

        get(queued);
        assertThat(receive(pull)).containsExactly("early");
        ZMTPSocket late = sockets.open(PUSH);
        late.connect("inproc://joined");
        get(late.sendAsync(message("late")));
        assertThat(receive(pull)).containsExactly("late");
    }

    /** T61. */
    @Tag("T61")
    @Test
    void anotherThatBindsTheNameGetsWhatWasQueuedMeanwhile(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofDays(1), Duration.ofDays(1)));
        ZMTPSocket first = sockets.open(PULL);
        bind(first, "inproc://again");
        ZMTPEndpoint connector = push.connect("inproc://again");
        get(connector.readyFuture());
        get(first.closeAsync(Duration.ZERO));
        await("the connector has seen it", () -> connector.state() == ZMTPEndpoint.State.RETRYING);
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            sent.add(push.sendAsync(message(String.valueOf(i))));
        }

        ZMTPSocket second = sockets.open(PULL);
        bind(second, "inproc://again");

        for (int i = 0; i < 10; i++) {
            assertThat(receive(second)).containsExactly(String.valueOf(i));
        }
        sent.forEach(TestSockets::get);
    }

    @Test
    void aNameIsBoundOnce(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint binding = get(pull.bind("inproc://once").readyFuture());

        assertThat(failure(pull.bind("inproc://once").readyFuture()))
                .hasCauseInstanceOf(BindException.class)
                .hasMessage("BIND_FAILED: inproc://once: the name is in use");

        TestSockets.unbind(binding);
        assertThat(bind(pull, "inproc://once")).isEqualTo("inproc://once");
    }

    @Test
    void anyCharactersMakeAName(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);

        connect(push, bind(pull, "inproc://a b/ü://*:@"));

        get(push.sendAsync(message("m")));
        assertThat(receive(pull)).containsExactly("m");
    }

    @Test
    void typesThatDoNotFitAreRefused(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        bind(pub, "inproc://types");
        ZMTPSocket push = sockets.open(PUSH);
        TestSockets.Events events = TestSockets.events(push);

        push.connect("inproc://types");

        assertThat(events.next(ZMTPSocketEvent.HandshakeFailed.class).cause())
                .isInstanceOf(ZMTPException.class)
                .hasMessage("socket type: PUB (expected: one that fits to a PUSH)");
    }

    @Test
    void aNameIsFreeAfterTheEventLoopOfItsSocketHasEnded(TestSockets sockets) {
        EventLoopGroup group = EventLoops.newGroup(1);
        try (EventLoops loops = new EventLoops(group)) {
            ZMTPSocket pull =
                    ZMTPSocket.of(ZMTPSocketConfig.builder(PULL).group(group).build());
            bind(pull, "inproc://ended");
            ZMTPSocket push =
                    sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofDays(1), Duration.ofDays(1)));
            ZMTPEndpoint connector = push.connect("inproc://ended");
            get(connector.readyFuture());

            loops.close();

            await("the other end has seen it", () -> connector.state() == ZMTPEndpoint.State.RETRYING);
            bind(sockets.open(PULL), "inproc://ended");
            get(push.sendAsync(message("m")));
        }
    }

    @Test
    void nothingIsLeftInAConnectionThatEndsWhileMessagesCome() {
        for (int round = 0; round < 50; round++) {
            try (TestSockets sockets = new TestSockets()) {
                ZMTPSocket pull = sockets.open(PULL);
                ZMTPSocket push = sockets.open(PUSH);
                connect(push, bind(pull, "inproc://ends"));
                for (int i = 0; i < 100; i++) {
                    push.sendOrDrop(ZMTPMessage.from(
                            io.netty.buffer.ByteBufAllocator.DEFAULT.buffer(1).writeByte(1)));
                }

                pull.closeAsync(Duration.ZERO);

                for (int i = 0; i < 100; i++) {
                    push.sendOrDrop(ZMTPMessage.from(
                            io.netty.buffer.ByteBufAllocator.DEFAULT.buffer(1).writeByte(1)));
                }
            }
        }
    }

    /** On two event loops, the first message may come before the reader is registered with its own. */
    @Test
    void aHandshakeNeverHangs(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        bind(router, "inproc://meets");
        for (int i = 0; i < 300; i++) {
            ZMTPSocket dealer = sockets.open(DEALER);
            connect(dealer, "inproc://meets");
            dealer.closeAsync(Duration.ZERO);
        }
        await("all have left", () -> router.peers().isEmpty());
    }

    @Test
    void aPausedPeerIsNotReadAndNothingIsLost(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(10, 1 << 20));
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "inproc://paused"));
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) { // more than the receiver's queue, the ring, and the sender's queue hold
            sent.add(push.sendAsync(message(String.valueOf(i))));
            if (i == 1_000) {
                ZMTPPeer peer = TestSockets.peer(pull);
                await("the receiver's queue is full", () -> peer.stats().received() == 10);
            }
        }

        List<String> received = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            if (sent.get(i).isCompletedExceptionally()) {
                continue; // there was no place in line
            }
            received.addAll(frames(get(pull.receiveAsync())));
        }

        assertThat(received)
                .hasSizeGreaterThan(1_000)
                .isSortedAccordingTo((a, b) -> Integer.compare(Integer.parseInt(a), Integer.parseInt(b)));
    }

    @Test
    void whatAPeerHasSentBeforeItsEndWaitsUntilTheReceiverHasRoom(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(10, 1 << 20));
        String endpoint = bind(pull, "inproc://unread");
        for (int i = 0; i < 3; i++) {
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, endpoint);
            for (int j = 0; j < 500; j++) {
                push.sendOrDrop(message(String.valueOf(j)));
            }
            assertThat(get(push.closeAsync(TestSockets.PATIENCE)).written()).isEqualTo(500);
        }
        TestSockets.settle(pull);

        assertThat(pull.stats().received()).isLessThanOrEqualTo(30);
        assertThat(pull.peers()).hasSize(3);
        for (int i = 0; i < 3 * 500; i++) {
            get(pull.receiveAsync()).release();
        }
        await("their ends are read, too", () -> pull.peers().isEmpty());
    }

    @Test
    void aPeerThatHasEndedAndIsNotReadIsNoticedByTheNextWrite(TestSockets sockets) {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).receiveQueueLimit(10, 1 << 20));
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(router, "inproc://ended"));
        for (int i = 0; i < 100; i++) {
            dealer.sendOrDrop(message(String.valueOf(i)));
        }
        get(dealer.closeAsync(TestSockets.PATIENCE));
        TestSockets.settle(router);

        TestSockets.peer(router).sendOrDrop(message("answer"));

        await("it is gone", () -> router.peers().isEmpty());
        for (int i = 0; i < 100; i++) {
            assertThat(receive(router)).endsWith(String.valueOf(i));
        }
    }
}
