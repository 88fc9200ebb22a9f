package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that send and wait for room. */
class BlockingSendsTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final WriteGate gate = new WriteGate();
    private final SendingThreads threads = new SendingThreads();

    @AfterEach
    void open() throws InterruptedException {
        gate.open();
        threads.end();
    }

    @Test
    void aMessageNeedsOnlyRoom(TestSockets sockets) throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("tcp://127.0.0.1:1"); // nobody is there

        push.send(message("m"));

        await("it is queued", () -> push.stats().queued() == 1);
    }

    /** They take turns with the listener, which has nothing to send. */
    @Test
    void twoThreadsContinueAlthoughAListenerForRoomHasWaitedLonger(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).pipelineInitializer(gate).sendQueueLimit(1, 1 << 20));
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        push.onWritable(() -> {});
        gate.close();
        push.send(WriteGate.big("0"));
        push.send(message("1"));
        await("it is full", () -> !push.isWritable());
        CompletableFuture<Throwable> second = threads.waiting(() -> push.send(message("2")));
        CompletableFuture<Throwable> third = threads.waiting(() -> push.send(message("3")));

        gate.open();

        assertThat(get(second)).isNull();
        assertThat(get(third)).isNull();
    }

    @Test
    void aPeerThatDoesNotReadLeavesRoomInTheQueueOnly(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).pipelineInitializer(gate).sendQueueLimit(4, 1 << 20));
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        gate.close();
        push.send(WriteGate.big("0"));
        for (int i = 1; i <= 4; i++) {
            push.send(message("" + i));
        }
        CompletableFuture<Throwable> fifth = threads.waiting(() -> push.send(message("5")));

        gate.open();

        assertThat(get(fifth)).isNull();
        for (int i = 0; i <= 5; i++) {
            assertThat(WriteGate.text(pull.receive(PATIENCE))).isEqualTo("" + i);
        }
    }

    /** The event loop is played by the test. */
    @Test
    void aThreadIsWokenWhenAQuarterIsFree() {
        StressedSender socket = new StressedSender(3);
        Senders senders = socket.senders;
        socket.loop.runTasks();
        senders.limit(new QueueLimit(8, 80));
        for (int i = 0; i < 8; i++) {
            assertThat(senders.takeRoom(1)).isTrue();
        }
        ZMTPMessage waits = StressedSender.message("w");
        CompletableFuture<Throwable> sent =
                threads.waiting(() -> senders.blocking().send(waits, null));
        socket.loop.runTasks();

        senders.credit().give(1, 1);
        senders.capacityFreed();
        assertThat(socket.senders.waiting()).isEqualTo(1);

        senders.credit().give(1, 1);
        senders.capacityFreed();
        assertThat(get(sent)).isNull();
    }

    @Test
    void withoutRoomInTimeTheMessageIsReleased(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH); // has no room before it has a peer
        for (Duration timeout : List.of(SHORT, Duration.ZERO, Duration.ofSeconds(-1))) {
            ZMTPMessage late = message("late");

            SendingThreads.assertFails(TIMEOUT, () -> push.send(late, timeout));

            assertThat(late.refCnt()).isZero();
        }
        await("nothing waits", () -> push.stats().queued() == 0);
        assertThat(push.stats().dropped()).isEqualTo(3);
    }

    @Test
    void aTimeoutIsNoLimitWhenThereIsRoom(TestSockets sockets) throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPSocket pull = sockets.open(PULL);
        push.connect(bind(pull, "tcp://127.0.0.1:*"));

        push.send(message("0"), Duration.ZERO);
        push.send(message("1"), Duration.ofSeconds(Long.MAX_VALUE));

        assertThat(receive(pull)).containsExactly("0");
        assertThat(receive(pull)).containsExactly("1");
    }

    @Test
    void aMissingTimeoutReleasesTheMessage(TestSockets sockets) {
        ZMTPMessage message = message("m");

        assertThatThrownBy(() -> sockets.open(PUSH).send(message, null)).isInstanceOf(NullPointerException.class);

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aCloseEndsAllThatWait(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        List<ZMTPMessage> messages = List.of(message("1"), message("2"));
        List<CompletableFuture<Throwable>> sends =
                messages.stream().map(m -> threads.waiting(() -> push.send(m))).toList();

        push.close();

        sends.forEach(send -> SendingThreads.assertReason(get(send), CLOSED));
        assertThat(messages).allSatisfy(m -> assertThat(m.refCnt()).isZero());
        ZMTPMessage after = message("after");
        SendingThreads.assertFails(CLOSED, () -> push.send(after));
        assertThat(after.refCnt()).isZero();
    }

    @Test
    void anInterruptComesFirst(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("tcp://127.0.0.1:1");
        ZMTPMessage message = message("m");
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> push.send(message)).isInstanceOf(InterruptedException.class);

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aThreadThatGivesUpHoldsUpNoOther(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).maxWaitingSends(1));
        CompletableFuture<Throwable> interrupted = threads.waiting(() -> push.send(message("never")));
        threads.interruptFirst();
        assertThat(get(interrupted)).isInstanceOf(InterruptedException.class);
        await("nothing waits", () -> push.stats().queued() == 0);
        CompletableFuture<Void> sent = push.sendAsync(message("m"));
        ZMTPSocket pull = sockets.open(PULL);

        push.connect(bind(pull, "tcp://127.0.0.1:*"));

        assertThat(receive(pull)).containsExactly("m");
        get(sent);
    }

    @Test
    void whatWasSentBeforeComesFirst(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.sendAsync(message("1"));
        CompletableFuture<Throwable> second = threads.waiting(() -> push.send(message("2")));
        push.sendAsync(message("3"));
        ZMTPSocket pull = sockets.open(PULL);

        push.connect(bind(pull, "tcp://127.0.0.1:*"));

        assertThat(receive(pull)).containsExactly("1");
        assertThat(get(second)).isNull();
        assertThat(List.of(receive(pull), receive(pull))).containsExactlyInAnyOrder(List.of("2"), List.of("3"));
    }

    @Test
    void whatIsDroppedWithoutRoomFailsAtOnce(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).overflowPolicy(OverflowPolicy.DROP_NEW));

        SendingThreads.assertFails(FULL, () -> push.send(message("m")));
    }

    @Test
    void aPublisherWithoutSubscribersTakesAll(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pub = sockets.open(PUB);
        int messages = 100_000; // far more than may be on the way
        for (int i = 0; i < messages; i++) {
            pub.send(message("m"));
        }
        assertThat(pub.stats().dropped()).isZero();
    }

    @Test
    void aLossAfterwardsIsAnEvent(TestSockets sockets) throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        TestSockets.Events events = events(push);
        ZMTPEndpoint nowhere = push.connect("tcp://127.0.0.1:1");
        push.send(message("1"));
        push.send(message("2"));
        await("they are queued", () -> push.stats().queued() == 2);

        TestSockets.disconnect(nowhere);

        ZMTPSocketEvent.Dropped dropped = events.next(ZMTPSocketEvent.Dropped.class);
        assertThat(dropped.reason()).isEqualTo(DropReason.NO_PEER);
        assertThat(dropped.messages()).isEqualTo(2);
    }

    /** The thread waits for the way to the event loop, which the event loop itself does not take. */
    @Test
    @Tag("netty-4.2-only")
    void aThreadThatWaitsHoldsUpNoMessageOfTheEventLoop() {
        ZMTPTestLoop loop = ZMTPTestLoop.create();
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB).sendQueueLimit(1, 1 << 20));
        int way = 64;
        CompletableFuture<Throwable> ended = threads.waiting(() -> {
            for (int i = 0; i <= way; i++) {
                pub.send(message("there"));
            }
        });

        assertThat(pub.isWritable()).isTrue();
        assertThat(pub.trySend(message("here"))).isTrue();
        assertThat(pub.sendAsync(message("here"))).isCompleted();

        await("the thread goes on", () -> {
            loop.run();
            return ended.isDone();
        });
        assertThat(pub.stats().dropped()).isZero();
        loop.close();
    }
}
