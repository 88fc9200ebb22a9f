package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From one peer after the other, and none may fill the memory. */
class FairQueueTest {

    private static final String ENDPOINT = "inproc://fair";

    @ParameterizedTest
    @CsvSource({"PULL, PUSH", "GATHER, SCATTER", "ROUTER, DEALER", "DEALER, ROUTER", "SERVER, CLIENT", "PEER, PEER"})
    void messagesOfSeveralPeersAreTakenInTurn(ZMTPSocketType type, ZMTPSocketType peers, TestSockets sockets) {
        ZMTPSocket receiver = sockets.open(type);
        for (int i = 0; i < 3; i++) {
            ZMTPSocket sender = sockets.open(peers);
            if (peers == ZMTPSocketType.ROUTER || peers == ZMTPSocketType.PEER) {
                ZMTPPeer to = connect(sender, bind(receiver, ENDPOINT + i));
                for (int m = 0; m < 4; m++) {
                    get(to.sendAsync(message("s" + i)));
                }
            } else {
                connect(sender, bind(receiver, ENDPOINT + i));
                for (int m = 0; m < 4; m++) {
                    get(sender.sendAsync(message("s" + i)));
                }
            }
        }
        await(
                "all",
                () -> receiver.peers().stream()
                                .mapToLong(peer -> peer.stats().received())
                                .sum()
                        == 12);

        for (int round = 0; round < 4; round++) {
            Set<String> senders = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                List<String> frames = receive(receiver);
                senders.add(frames.get(frames.size() - 1));
            }
            assertThat(senders).containsExactlyInAnyOrder("s0", "s1", "s2");
        }
    }

    /** T13. */
    @Tag("T13")
    @Test
    void aFewMessagesAreNotLostInAFlood(TestSockets sockets) {
        int flooders = 9;
        int few = 100;
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = bind(pull, ENDPOINT);
        AtomicBoolean over = new AtomicBoolean();
        for (int i = 0; i < flooders; i++) {
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, endpoint);
            flood(push, over);
        }
        ZMTPSocket tenth = sockets.open(PUSH);
        connect(tenth, endpoint);
        await(
                "a flood",
                () -> pull.peers().stream()
                                .filter(peer -> peer.stats().received() >= 1_000)
                                .count()
                        == flooders);
        for (int i = 0; i < few; i++) {
            get(tenth.sendAsync(message("few")));
        }
        await(
                "their arrival",
                () -> pull.peers().stream().anyMatch(peer -> peer.stats().received() == few));

        int found = 0;
        int taken = 0;
        int since = 0;
        while (found < few && since <= 20) {
            taken++;
            since++;
            if (receive(pull).get(0).equals("few")) {
                found++;
                since = 0;
            }
        }

        over.set(true);
        assertThat(found).as("after %d messages", taken).isEqualTo(few);
    }

    private static void flood(ZMTPSocket push, AtomicBoolean over) {
        Runnable send = () -> {
            ZMTPMessage next = message("flood");
            while (!over.get() && push.trySend(next)) {
                next = message("flood");
            }
            next.release();
        };
        push.onWritable(send);
        send.run();
    }

    /** Its sender notices, as its own queue fills. */
    @Test
    void aPeerIsNotReadFromWhileItsQueueIsFull(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(10, 1 << 20));
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));
        for (int i = 0; i < 100; i++) {
            get(push.sendAsync(message("m" + i)));
        }
        ZMTPPeer peer = TestSockets.peer(pull);
        await("as many as may be", () -> peer.stats().received() == 10);

        for (int i = 0; i < 100; i++) {
            assertThat(receive(pull)).containsExactly("m" + i);
            assertThat(peer.stats().received()).isLessThanOrEqualTo(i + 1 + 10);
        }
    }

    @Test
    void aFullInboundQueueDoesNotStopSends(TestSockets sockets) {
        ZMTPSocket one = sockets.open(sockets.builder(ZMTPSocketType.PAIR).receiveQueueLimit(1, 1 << 20));
        ZMTPSocket other = sockets.open(ZMTPSocketType.PAIR);
        connect(one, bind(other, "tcp://127.0.0.1:*"));
        for (int i = 0; i < 10; i++) {
            get(other.sendAsync(message("in" + i)));
        }

        get(one.sendAsync(message("out")));

        assertThat(receive(other)).containsExactly("out");
        for (int i = 0; i < 10; i++) {
            assertThat(receive(one)).containsExactly("in" + i);
        }
    }

    @Test
    void whatAPeerHasSentIsReceivedAfterItHasLeft(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));
        for (int i = 0; i < 5; i++) {
            get(push.sendAsync(message("m" + i)));
        }
        await(
                "all there",
                () -> pull.peers().stream().anyMatch(peer -> peer.stats().received() == 5));

        get(push.closeAsync(Duration.ZERO));
        await("nobody", () -> pull.peers().isEmpty());

        for (int i = 0; i < 5; i++) {
            assertThat(receive(pull)).containsExactly("m" + i);
        }
    }

    @Test
    void whatNobodyHasTakenIsReleasedAtTheClose(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        for (int i = 0; i < 5; i++) {
            get(push.sendAsync(message("x".repeat(2_000)))); // of a tracked buffer
        }
        await(
                "all there",
                () -> pull.peers().stream().anyMatch(peer -> peer.stats().received() == 5));

        get(pull.closeAsync(Duration.ZERO));
    }

    /** Receives that are cancelled, on any thread, while messages come: each message is received once. */
    @Test
    void cancelledReceivesLoseNoMessage(TestSockets sockets) {
        int messages = 20_000;
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ENDPOINT));
        ConcurrentLinkedQueue<Integer> received = new ConcurrentLinkedQueue<>();
        AtomicInteger count = new AtomicInteger();
        List<CompletableFuture<Void>> receivers = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            boolean cancels = t == 0;
            receivers.add(CompletableFuture.runAsync(
                    () -> receiveAll(pull, cancels, messages, count, received), task -> new Thread(task).start()));
        }

        for (int i = 0; i < messages; i++) {
            ZMTPMessage next = message("" + i);
            while (!push.trySend(next)) {
                Thread.onSpinWait();
            }
        }

        await("all", () -> count.get() == messages);
        receivers.forEach(TestSockets::get);
        assertThat(new HashSet<>(received)).hasSize(messages);
    }

    private static void receiveAll(
            ZMTPSocket pull,
            boolean cancels,
            int messages,
            AtomicInteger count,
            ConcurrentLinkedQueue<Integer> received) {
        for (int i = 0; count.get() < messages; i++) {
            CompletableFuture<ZMTPMessage> next = pull.receiveAsync();
            for (int spin = 0; spin < i % 50; spin++) {
                Thread.onSpinWait();
            }
            while (!cancels && !next.isDone() && count.get() < messages) {
                Thread.onSpinWait();
            }
            next.cancel(false);
            try {
                received.add(Integer.parseInt(TestSockets.frames(next.join()).get(0)));
                count.incrementAndGet();
            } catch (CancellationException e) {
                // the message is for another one
            }
        }
    }

    @Test
    void aPausedPeerIsNotReadFromUntilItIsResumed() {
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, bind(pull, ENDPOINT));
            await("the peer", () -> pull.peers().stream().anyMatch(TestSockets::isUp));
            ZMTPPeer peer = TestSockets.peer(pull);

            peer.pauseReading();
            get(push.sendAsync(message("while paused"))); // on the same event loop, after the pause
            assertThat(peer.stats().received()).isZero();
            CompletableFuture<ZMTPMessage> received = pull.receiveAsync();
            peer.resumeReading();

            assertThat(TestSockets.frames(get(received))).containsExactly("while paused");
        }
    }
}
