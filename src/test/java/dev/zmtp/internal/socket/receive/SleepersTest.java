package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Threads that wait for messages. */
class SleepersTest {

    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
    }

    private interface Receive {
        ZMTPMessage call() throws InterruptedException;
    }

    /** Receives on a thread of its own, and completes with the last frame. */
    private CompletableFuture<String> begin(Receive receive) {
        CompletableFuture<String> received = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                received.complete(String.join(",", frames(receive.call())));
            } catch (Throwable e) {
                received.completeExceptionally(e);
            }
        });
        threads.add(thread);
        thread.start();
        return received;
    }

    private CompletableFuture<String> asleep(Receive receive) {
        CompletableFuture<String> received = begin(receive);
        Thread thread = threads.get(threads.size() - 1);
        await("it sleeps", () -> thread.getState() == Thread.State.WAITING);
        return received;
    }

    /** The event loop is played by the test. */
    @Test
    void aThreadIsWokenAtTheEndOfARead() {
        StressedReceiver socket = new StressedReceiver();
        CompletableFuture<String> received = asleep(() -> socket.inbox.await(Long.MAX_VALUE));

        socket.inbox.deliver(socket.peer, StressedReceiver.message("1"));
        socket.inbox.deliver(socket.peer, StressedReceiver.message("2"));
        assertThat(socket.peer.inbound().messages).as("both wait").hasSize(2);

        socket.inbox.readComplete();
        assertThat(get(received)).isEqualTo("1");
        assertThat(socket.left()).isEqualTo("2");
    }

    @Test
    void aThreadIsWokenByWhatComesWithoutARead() {
        StressedReceiver socket = new StressedReceiver();
        CompletableFuture<String> received = asleep(() -> socket.inbox.await(Long.MAX_VALUE));

        socket.arrives("1");
        socket.loop.runTasks();

        assertThat(get(received)).isEqualTo("1");
    }

    /** One is woken, and each that leaves messages wakes the next. */
    @Test
    void whatOneReadBringsWakesAsManyThreadsAsItHasMessagesFor() {
        StressedReceiver socket = new StressedReceiver();
        CompletableFuture<String> one = asleep(() -> socket.inbox.await(Long.MAX_VALUE));
        CompletableFuture<String> other = asleep(() -> socket.inbox.await(Long.MAX_VALUE));

        socket.inbox.deliver(socket.peer, StressedReceiver.message("1"));
        socket.inbox.deliver(socket.peer, StressedReceiver.message("2"));
        socket.inbox.readComplete();

        assertThat(List.of(get(one), get(other))).containsExactlyInAnyOrder("1", "2");
    }

    @Test
    void futuresAndThreadsEachGetTheirMessages() {
        StressedReceiver socket = new StressedReceiver();
        Received future = socket.receive();
        CompletableFuture<String> thread = asleep(() -> socket.inbox.await(Long.MAX_VALUE));

        socket.inbox.deliver(socket.peer, StressedReceiver.message("1"));
        socket.inbox.deliver(socket.peer, StressedReceiver.message("2"));
        socket.inbox.readComplete();

        assertThat(socket.text(future)).isEqualTo("1");
        assertThat(get(thread)).isEqualTo("2");
    }

    @Test
    void severalThreadsGetAllMessagesOnceAndInOrder(TestSockets sockets) throws InterruptedException {
        int messages = 10_000;
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(16, 1 << 20));
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(16, 1 << 20));
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        BlockingQueue<Integer> all = new LinkedBlockingQueue<>();
        BlockingQueue<String> faults = new LinkedBlockingQueue<>();
        for (int i = 0; i < 3; i++) {
            begin(() -> {
                int last = -1;
                while (true) {
                    int next = Integer.parseInt(frames(pull.receive()).get(0));
                    if (next <= last) {
                        faults.add(next + " after " + last);
                    }
                    last = next;
                    all.add(next);
                }
            });
        }

        for (int i = 0; i < messages; i++) {
            push.send(message("" + i));
        }

        List<Integer> received = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            received.add(all.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        }
        assertThat(received)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, messages).boxed().toList());
        assertThat(faults).isEmpty();
    }

    @Test
    void aTimeoutInTheMomentOfAMessageLosesNone(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "inproc://timeouts"));
        for (int i = 0; i < 2_000; i++) {
            push.send(message("" + i));
            ZMTPMessage received = null;
            while (received == null) {
                received = pull.receive(Duration.ofNanos(1_000L * (i % 100)));
            }
            assertThat(frames(received)).containsExactly("" + i);
        }
    }

    @Test
    void aCloseEndsAllWaits(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        List<CompletableFuture<String>> waits = List.of(asleep(pull::receive), asleep(pull::receive));

        pull.close();

        assertThat(waits)
                .allSatisfy(wait -> assertThat(TestSockets.failure(wait))
                        .isInstanceOfSatisfying(
                                ZMTPSocketException.class,
                                e -> assertThat(e.reason()).isEqualTo(CLOSED)));
        assertThatThrownBy(pull::receive).hasMessageStartingWith("CLOSED");
    }

    @Test
    void aThreadThatReceivesIsTheOnlyKindOfReceiver(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        CompletableFuture<String> wait = asleep(pull::receive);
        assertThatThrownBy(() -> pull.onMessage((from, message) -> message.release()))
                .isInstanceOf(IllegalStateException.class);
        threads.get(0).interrupt();
        assertThat(TestSockets.failure(wait)).isInstanceOf(InterruptedException.class);

        ZMTPRegistration handler = pull.onMessage((from, message) -> message.release());

        assertThatThrownBy(pull::receive)
                .isInstanceOfSatisfying(
                        ZMTPSocketException.class, e -> assertThat(e.reason()).isEqualTo(ILLEGAL_STATE));
        handler.close();
        assertThat(pull.receive(Duration.ZERO)).isNull();
    }

    @Test
    void aThreadGetsTheNameOfTheSender(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("ada")));
        CompletableFuture<String> received = asleep(router::receive);
        connect(dealer, bind(router, "tcp://127.0.0.1:*"));

        dealer.sendOrDrop(message("hello"));

        assertThat(get(received)).isEqualTo("ada,hello");
    }
}
