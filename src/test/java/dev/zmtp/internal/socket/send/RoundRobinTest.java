package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.WriteGate.big;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** To one peer after the other. */
class RoundRobinTest {

    private static final String ENDPOINT = "inproc://robin";

    /** More messages of {@link WriteGate#big} size than a transport within the process takes. */
    private static final int TRANSPORT = 300;

    @ParameterizedTest
    @CsvSource({"PUSH, PULL", "SCATTER, GATHER", "DEALER, ROUTER", "CLIENT, SERVER"})
    void messagesGoToOnePeerAfterTheOther(ZMTPSocketType type, ZMTPSocketType peers, TestSockets sockets) {
        ZMTPSocket sender = sockets.open(type);
        List<ZMTPSocket> receivers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ZMTPSocket receiver = sockets.open(peers);
            connect(sender, bind(receiver, ENDPOINT + i));
            receivers.add(receiver);
        }

        for (int i = 0; i < 9; i++) {
            get(sender.sendAsync(message("m" + i)));
        }

        for (int i = 0; i < 9; i++) {
            assertThat(receive(receivers.get(i % 3))).endsWith("m" + i);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUSH", "SCATTER", "PUB", "RADIO"})
    void typesThatOnlySendDoNotReceive(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket socket = sockets.open(type);
        assertThatThrownBy(socket::receive)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining(type + "");
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PULL", "GATHER", "SUB", "DISH"})
    void typesThatOnlyReceiveDoNotSend(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket socket = sockets.open(type);
        ZMTPMessage message = message("x");
        assertThatThrownBy(() -> socket.sendAsync(message))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining(type + "");
        assertThat(message.refCnt()).as("taken over").isZero();
    }

    /**
     * T12. What waits is for whichever peer has room, so one that does not read has only what its channel has taken.
     */
    @Tag("T12")
    @Test
    void aPeerThatDoesNotReadKeepsWhatItsChannelHoldsAndNothingElse(TestSockets sockets) {
        int messages = 1_000;
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(10, 16 << 20));
        ZMTPSocket stopped = sockets.open(sockets.builder(PULL).receiveQueueLimit(1, 1));
        ZMTPPeer slow = connect(push, bind(stopped, ENDPOINT));
        AtomicIntegerArray received = new AtomicIntegerArray(2);
        for (int i = 0; i < 2; i++) {
            int index = i;
            ZMTPSocket pull = sockets.open(PULL);
            pull.onMessage((from, message) -> {
                message.release();
                received.incrementAndGet(index);
            });
            connect(push, bind(pull, ENDPOINT + i));
        }

        for (int i = 0; i < messages; i++) {
            ZMTPMessage next = big("m" + i);
            while (!push.trySend(next)) {
                Thread.onSpinWait();
            }
        }

        assertThat(slow.stats().queued()).isZero();
        assertThat(received.get(0)).isPositive();
        assertThat(received.get(1)).isPositive();
        AtomicInteger kept = new AtomicInteger();
        stopped.onMessage((from, message) -> {
            message.release();
            kept.incrementAndGet();
        });
        await("all", () -> kept.get() + received.get(0) + received.get(1) == messages);
        assertThat(kept).hasValueLessThan(TRANSPORT);
    }

    /** With libzmq, every second message would go to the endpoint that does not exist. */
    @Test
    void aPeerThatIsAwayGetsNothingWhileAnotherIsThere(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPSocket pull = sockets.open(PULL);
        push.connect("inproc://nobody");
        connect(push, bind(pull, ENDPOINT));

        for (int i = 0; i < 10; i++) {
            get(push.sendAsync(message("m" + i)));
        }

        for (int i = 0; i < 10; i++) {
            assertThat(receive(pull)).containsExactly("m" + i);
        }
    }

    /** T24 while all are away: nobody knows which one comes. */
    @Test
    void whatWaitsGoesToWhicheverPeerComesFirst(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("inproc://never");
        push.connect("inproc://later");
        for (int i = 0; i < 4; i++) {
            assertThat(push.trySend(message("m" + i))).isTrue();
        }

        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, "inproc://later");

        for (int i = 0; i < 4; i++) {
            assertThat(receive(pull)).containsExactly("m" + i);
        }
    }

    /** It takes with it what its channel has. */
    @Test
    void whatWaitsWhenAPeerLeavesGoesToTheNext(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        String endpoint = bind(push, ENDPOINT);
        ZMTPSocket stopped = sockets.open(sockets.builder(PULL).receiveQueueLimit(1, 1));
        connect(stopped, endpoint);
        int sent = 0;
        while (push.stats().queued() < 10) {
            get(CompletableFuture.runAsync(() -> push.sendOrDrop(big("m")), push.eventLoop()));
            sent++;
        }
        assertThat(sent).isGreaterThan(10);
        get(CompletableFuture.runAsync(() -> push.sendOrDrop(message("last")), push.eventLoop()));

        get(stopped.closeAsync(Duration.ZERO));
        ZMTPSocket next = sockets.open(PULL);
        connect(next, endpoint);

        for (int i = 0; i < 10; i++) {
            get(next.receiveAsync()).release();
        }
        assertThat(receive(next)).containsExactly("last");
    }

    @Test
    void aPeerThatComesJoinsTheTurns(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket first = sockets.open(ROUTER);
        ZMTPSocket second = sockets.open(ROUTER);
        connect(dealer, bind(first, ENDPOINT));
        get(dealer.sendAsync(message("1")));
        connect(dealer, bind(second, ENDPOINT + "2"));

        for (int i = 0; i < 4; i++) {
            get(dealer.sendAsync(message("more")));
        }

        assertThat(receive(first)).endsWith("1");
        for (int i = 0; i < 2; i++) {
            assertThat(receive(first)).endsWith("more");
            assertThat(receive(second)).endsWith("more");
        }
    }

    /** T27. A message of SCATTER and CLIENT, which may have one frame, is the number alone. */
    @Tag("T27")
    @ParameterizedTest
    @CsvSource({"PUSH, PULL, 3", "SCATTER, GATHER, 1", "CLIENT, SERVER, 1"})
    void theMessagesOfEachThreadKeepTheirOrderAndAreWhole(
            ZMTPSocketType type, ZMTPSocketType peers, int frames, TestSockets sockets) {
        int threads = 8;
        int messages = 2_000;
        ZMTPSocket sender = sockets.open(sockets.builder(type).maxWaitingSends(threads * messages));
        ZMTPSocket receiver = sockets.open(peers);
        int[] next = new int[threads];
        AtomicInteger received = new AtomicInteger();
        List<String> faults = new ArrayList<>();
        receiver.onMessage((from, message) -> {
            List<String> all = TestSockets.frames(message);
            List<String> data = all.subList(all.size() - frames, all.size());
            List<String> parts = List.of(data.get(0).split(":", 2));
            int thread = Integer.parseInt(parts.get(0));
            if (Integer.parseInt(parts.get(1)) != next[thread]++
                    || data.stream().distinct().count() != 1) {
                faults.add(data + " (expected: " + (next[thread] - 1) + ")");
            }
            received.incrementAndGet();
        });
        connect(sender, bind(receiver, "tcp://127.0.0.1:*"));

        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int thread = t;
            done.add(CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < messages; i++) {
                            String text = thread + ":" + i;
                            String[] data = new String[frames];
                            Arrays.fill(data, text);
                            sendSomehow(sender, message(data), i);
                        }
                    },
                    task -> new Thread(task).start()));
        }

        done.forEach(TestSockets::get);
        await("all", () -> received.get() == threads * messages);
        assertThat(faults).isEmpty();
    }

    /** The event loop takes over so many in a turn that others wait for the next one. */
    @Test
    void aSendThatWaitsInLineComesAfterWhatItsThreadHasSentBefore(TestSockets sockets) {
        int messages = 1_500;
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(messages, 16 << 20));
        ZMTPSocket pull = sockets.open(PULL);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        AtomicBoolean sent = new AtomicBoolean();
        ClockedSockets.core(push).context().eventLoop().execute(() -> {
            while (!sent.get()) {} // a loop that is busy, not one that waits
        });
        for (int i = 0; i < messages; i++) {
            assertThat(push.trySend(message(Integer.toString(i)))).isTrue();
        }
        CompletableFuture<Void> last = push.sendAsync(message("last"));
        sent.set(true);

        for (int i = 0; i < messages; i++) {
            assertThat(receive(pull)).containsExactly(Integer.toString(i));
        }
        assertThat(receive(pull)).containsExactly("last");
        get(last);
    }

    /** With a result, which may wait in line, or without. */
    private static void sendSomehow(ZMTPSocket sender, ZMTPMessage message, int i) {
        if (i % 3 == 0) {
            sender.sendAsync(message);
        } else {
            while (!sender.trySend(message)) {
                Thread.onSpinWait();
            }
        }
    }

    /** The socket takes over what it refuses. */
    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"SCATTER", "CLIENT", "CHANNEL"})
    void typesOfOneFrameRefuseMore(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket socket = sockets.open(type);
        ZMTPMessage message = message("a", "b");
        assertThatThrownBy(() -> socket.sendAsync(message))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("frames: 2 (expected: 1)");
        assertThat(message.refCnt()).as("taken over").isZero();
    }

    /** A peer that leaves has no turn any more. */
    @Test
    void aPeerThatLeavesTakesNoMoreMessages(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        String endpoint = bind(push, ENDPOINT);
        ZMTPSocket stays = sockets.open(PULL);
        ZMTPSocket leaves = sockets.open(PULL);
        connect(stays, endpoint);
        connect(leaves, endpoint);
        await("both", () -> push.peers().stream().filter(TestSockets::isUp).count() == 2);
        get(leaves.closeAsync(Duration.ZERO));
        await("one", () -> push.peers().size() == 1);

        for (int i = 0; i < 4; i++) {
            get(push.sendAsync(message("m" + i)));
        }

        for (int i = 0; i < 4; i++) {
            assertThat(receive(stays)).containsExactly("m" + i);
        }
    }

    /** Between the turns, the event loop serves others. */
    @Test
    void aLongQueueLeavesInOrderInSeveralTurns(TestSockets sockets) throws IOException {
        int messages = 3_000;
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .sendQueueLimit(messages, 16 << 20)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1 << 20, 2 << 20)));
        String endpoint = "tcp://127.0.0.1:" + TestSockets.freePort();
        push.connect(endpoint);
        for (int i = 0; i < messages; i++) {
            assertThat(push.trySend(message("" + i))).isTrue();
        }
        await("all in the queue", () -> push.stats().queued() == messages);
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(messages, 16 << 20));

        bind(pull, endpoint);

        for (int i = 0; i < messages; i++) {
            assertThat(receive(pull)).containsExactly("" + i);
        }
    }
}
