package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.socket.ZMTPFlow;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.DefaultEventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An event loop has no memory for a task, once. What is not run then must run later. */
class HandOverTest {

    /** Part of the class name of the next task that the loop does not take; null if it takes all. */
    private final AtomicReference<@Nullable String> failing = new AtomicReference<>();

    private final DefaultEventLoop loop = new DefaultEventLoop() {
        @Override
        public void execute(Runnable task) {
            failIfWanted(task);
            super.execute(task);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            failIfWanted(task);
            return super.schedule(task, delay, unit);
        }

        private void failIfWanted(Runnable task) {
            String name = failing.get();
            if (name != null && task.getClass().getName().contains(name) && failing.compareAndSet(name, null)) {
                throw new OutOfMemoryError("of the test");
            }
        }
    };

    @AfterEach
    void end() throws InterruptedException {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    }

    @Test
    void aMessageOfAnotherThreadDoesNotKeepTheNextOne() {
        ZMTPSocket push = ZMTPSocket.of(PUSH, loop);
        ZMTPSocket pull = ZMTPSocket.of(PULL);
        connect(push, bind(pull, "inproc://hand-over"));
        failing.set("Senders");
        assertThat(catchThrowable(() -> push.sendAsync(message("1")))).isInstanceOf(OutOfMemoryError.class);

        get(push.sendAsync(message("2")));

        assertThat(receive(pull)).containsExactly("1");
        assertThat(receive(pull)).containsExactly("2");
        get(push.closeAsync(Duration.ZERO));
        get(pull.closeAsync(Duration.ZERO));
    }

    @Test
    void futuresAndACloseAreCompletedByTheNext() throws Exception {
        ZMTPSocket router = ZMTPSocket.of(ROUTER, loop);
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        failing.set("Completions");
        Throwable thrown = loop.submit(() -> {
                    Throwable first = null;
                    for (int i = 0; i < 100; i++) {
                        Throwable next = catchThrowable(() -> sent.add(router.sendAsync(message("nobody", "x"))));
                        first = first == null ? next : first;
                    }
                    return first;
                })
                .get(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS);

        assertThat(thrown).as("which would leave the sender without its future").isNull();
        assertThat(failing.get()).isNull();
        sent.forEach(future -> assertThat(failure(future)).hasMessageStartingWith("UNROUTABLE"));
        get(router.closeAsync(Duration.ZERO));
    }

    @Test
    void aCloseEndsAlthoughItsFuturesHaveFoundNoRoom() {
        ZMTPSocket push = ZMTPSocket.of(PUSH, loop);
        push.connect("inproc://nobody-at-hand-over");
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            sent.add(push.sendAsync(message("x")));
        }
        failing.set("Completions");

        get(push.closeAsync(Duration.ZERO));

        assertThat(failing.get()).isNull();
    }

    /** Nobody then looks at its age for now. */
    @Test
    void aMessageWaitsAlthoughThereIsNoTimerForItsAge() {
        ZMTPSocket push = ZMTPSocket.of(ZMTPSocketConfig.builder(PUSH)
                .group(loop)
                .maxMessageAge(Duration.ofHours(1))
                .build());
        failing.set("MessageAges");
        CompletableFuture<Void> waits = push.sendAsync(message("x"));

        get(push.closeAsync(Duration.ZERO));

        assertThat(failing.get()).isNull();
        assertThat(failure(waits)).hasMessageStartingWith("CLOSED");
    }

    @Test
    void aCloseCanBeMadeAgain() {
        ZMTPSocket router = ZMTPSocket.of(ROUTER, loop);
        failing.set("Closing");
        assertThat(catchThrowable(() -> router.closeAsync(Duration.ZERO))).isInstanceOf(OutOfMemoryError.class);

        get(router.closeAsync(Duration.ZERO));
    }

    /** A socket whose queue is full after this many messages, because nobody takes them. */
    private ZMTPSocket full(ZMTPSocketType type, int after) {
        return ZMTPSocket.of(ZMTPSocketConfig.builder(type)
                .group(loop)
                .sendQueueLimit(after, 1 << 20)
                .build());
    }

    @Test
    void aSendThatWouldWaitFailsAndKeepsNoRoom() throws Exception {
        ZMTPSocket push = full(PUSH, 1);
        push.connect("inproc://hand-over-full");
        push.send(message("1"));
        loop.submit(() -> {}).get(); // after the first send
        failing.set("Senders");

        assertThat(catchThrowable(() -> push.send(message("2"))))
                .hasMessage("FULL: there is no memory for a waiting send");

        ZMTPSocket pull = ZMTPSocket.of(PULL);
        bind(pull, "inproc://hand-over-full");
        for (int i = 3; i <= 6; i++) {
            push.send(message("" + i), TestSockets.PATIENCE);
        }
        assertThat(receive(pull)).containsExactly("1");
        assertThat(receive(pull)).containsExactly("3");
        assertThat(push.stats().dropped()).isOne();
        get(push.closeAsync(Duration.ZERO));
        get(pull.closeAsync(Duration.ZERO));
    }

    @Test
    void aSendThatWouldWaitForAPeerFailsAndKeepsNoPlace() throws Exception {
        ZMTPSocket router = full(ROUTER, 1);
        ZMTPPeer peer = router.connect("inproc://hand-over-peer").peer();
        peer.send(message("1"));
        loop.submit(() -> {}).get(); // after the first send
        failing.set("PlaceLines");

        assertThat(catchThrowable(() -> peer.send(message("2"))))
                .hasMessage("FULL: there is no memory for a waiting send");

        assertThat(router.stats().dropped()).isOne();
        get(router.closeAsync(Duration.ZERO));
    }

    /** The task that ends the count of the messages that a handler sends. */
    @Test
    void aHandlerCanSendAlthoughTheEndOfItsTaskWasNotHandedOver() throws Exception {
        ZMTPSocket push = full(PUSH, 4 * LoopBudget.MESSAGES);
        push.connect("inproc://hand-over-nobody");
        failing.set("Writability");
        sendHere(() -> push.sendOrDrop(message("x")));

        for (int i = 0; i < LoopBudget.MESSAGES; i++) {
            sendHere(() -> push.sendOrDrop(message("x")));
        }

        assertThat(loop.submit(push::isWritable).get()).isTrue();
        get(push.closeAsync(Duration.ZERO));
    }

    @Test
    void aHandlerCanSendToAPeerAlthoughTheEndOfItsTaskWasNotHandedOver() throws Exception {
        ZMTPSocket router = full(ROUTER, 4 * LoopBudget.MESSAGES);
        ZMTPPeer peer = router.connect("inproc://hand-over-nobody").peer();
        peer.onWritable(() -> {});
        failing.set("PeerRoom");
        sendHere(() -> peer.sendOrDrop(message("x")));

        for (int i = 0; i < LoopBudget.MESSAGES; i++) {
            sendHere(() -> peer.sendOrDrop(message("x")));
        }

        assertThat(loop.submit(peer::isWritable).get()).isTrue();
        get(router.closeAsync(Duration.ZERO));
    }

    private void sendHere(Runnable send) throws InterruptedException {
        loop.submit(() -> catchThrowable(send::run)).await();
    }

    /** They are told a thousand in a task. */
    @Test
    void allCancellationsOfASubscriberAreToldAfterTheNextSubscription() {
        ZMTPSocket xpub = ZMTPSocket.of(XPUB, loop);
        AtomicInteger told = new AtomicInteger();
        xpub.onSubscription((peer, subscription) -> told.incrementAndGet());
        String endpoint = bind(xpub, "inproc://hand-over-topics");
        int topics = 3 * LoopBudget.MESSAGES;
        ZMTPSocket first = ZMTPSocket.of(SUB);
        for (int i = 0; i < topics; i++) {
            first.subscribe("" + i);
        }
        connect(first, endpoint);
        await("the publisher has all topics", () -> told.get() == topics);
        ZMTPSocket second = ZMTPSocket.of(SUB);
        connect(second, endpoint);
        failing.set("Subscribers");
        get(first.closeAsync(Duration.ZERO));
        await("the task failed", () -> failing.get() == null);

        second.subscribe("next");

        await("all were told", () -> told.get() == 2 * topics + 1);
        get(second.closeAsync(Duration.ZERO));
        get(xpub.closeAsync(Duration.ZERO));
    }

    @Test
    void aSubscriptionOfFlowGoesOnWithTheNextRequest() throws Exception {
        ZMTPSocket push = ZMTPSocket.of(PUSH);
        ZMTPSocket pull = ZMTPSocket.of(PULL, loop);
        connect(push, bind(pull, "inproc://hand-over-flow"));
        AtomicReference<Flow.Subscription> subscribed = new AtomicReference<>();
        AtomicInteger received = new AtomicInteger();
        ZMTPFlow.messages(pull).subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscribed.set(subscription);
            }

            @Override
            public void onNext(ZMTPMessage message) {
                message.release();
                received.incrementAndGet();
            }

            @Override
            public void onError(Throwable cause) {}

            @Override
            public void onComplete() {}
        });
        await("subscribed", () -> subscribed.get() != null);
        loop.submit(() -> {}).get(); // after its task
        failing.set("MessageSubscription");
        assertThat(catchThrowable(() -> subscribed.get().request(1))).isInstanceOf(OutOfMemoryError.class);

        subscribed.get().request(1);

        get(push.sendAsync(message("1")));
        get(push.sendAsync(message("2")));
        await("both were received", () -> received.get() == 2);
        get(push.closeAsync(Duration.ZERO));
        get(pull.closeAsync(Duration.ZERO));
    }

    /** Requests with the same timeout share a timer. */
    @Test
    void allRequestsTimeOutAlthoughOneTimerFailed() throws InterruptedException {
        ZMTPSocket router = ZMTPSocket.of(ROUTER);
        router.onMessage((from, message) -> message.release());
        ZMTPSocket dealer = ZMTPSocket.of(DEALER, loop);
        connect(dealer, bind(router, "inproc://hand-over-timers"));
        Duration timeout = Duration.ofMillis(100);
        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(message("1"), timeout);
        Thread.sleep(20); // so that the second one's time is not over when the first one's is
        failing.set("SameTimeout");
        CompletableFuture<ZMTPMessage> second = dealer.requestAsync(message("2"), timeout);
        assertThat(reason(first)).isEqualTo(TIMEOUT);
        await("the timer failed", () -> failing.get() == null);

        CompletableFuture<ZMTPMessage> third = dealer.requestAsync(message("3"), timeout);

        assertThat(reason(second)).isEqualTo(TIMEOUT);
        assertThat(reason(third)).isEqualTo(TIMEOUT);
        get(dealer.closeAsync(Duration.ZERO));
        get(router.closeAsync(Duration.ZERO));
    }
}
