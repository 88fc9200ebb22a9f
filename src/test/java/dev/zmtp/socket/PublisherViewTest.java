package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.TestSockets.await;
import static dev.zmtp.socket.TestSockets.bind;
import static dev.zmtp.socket.TestSockets.connect;
import static dev.zmtp.socket.TestSockets.frames;
import static dev.zmtp.socket.TestSockets.get;
import static dev.zmtp.socket.TestSockets.message;
import static dev.zmtp.socket.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The messages of a socket as a stream, by the rules of Reactive Streams. */
class PublisherViewTest {

    private TestSockets sockets;
    private ZMTPSocket pull;
    private ZMTPSocket push;

    @BeforeEach
    void connected() {
        sockets = new TestSockets();
        pull = sockets.open(sockets.builder(PULL).receiveLimit(new ZMTPQueueLimit(10, 1 << 20)));
        push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
    }

    @AfterEach
    void closed() {
        sockets.close();
    }

    private void send(int from, int to) {
        for (int i = from; i < to; i++) {
            get(push.send(message(String.valueOf(i))));
        }
    }

    /** Waits until what was asked of the loop before is done. */
    private void settle() {
        ZMTPPeer peer = TestSockets.peer(pull);
        for (int i = 0; i < 3; i++) {
            sockets.group().forEach(loop -> loop.submit(() -> {}).syncUninterruptibly());
        }
        assertThat(peer.isUp()).isTrue();
    }

    /** T70. */
    @Test
    void aDemandOfOneIsOneMessageAndTheRestIsNotRead() {
        Recorder recorder = subscribe();
        send(0, 100);

        recorder.request(1);

        assertThat(recorder.next()).isEqualTo("message 0");
        ZMTPPeer peer = TestSockets.peer(pull);
        await("its queue is full", () -> peer.received() >= 10);
        settle();
        assertThat(peer.received()).isLessThan(100);
        assertThat(recorder.isQuiet()).isTrue();
        recorder.request(99);
        for (int i = 1; i < 100; i++) {
            assertThat(recorder.next()).isEqualTo("message " + i);
        }
    }

    /** T70. */
    @Test
    void aCancelLeavesTheSocketAndItsMessages() {
        Recorder recorder = subscribe();
        send(0, 5);
        recorder.request(2);
        assertThat(recorder.next()).isEqualTo("message 0");
        assertThat(recorder.next()).isEqualTo("message 1");

        recorder.subscription.cancel();
        recorder.request(100); // means nothing (3.6)
        settle();

        assertThat(receive(pull)).containsExactly("2");
        assertThat(receive(pull)).containsExactly("3");
        Recorder another = subscribe();
        another.request(Long.MAX_VALUE);
        assertThat(another.next()).isEqualTo("message 4");
        send(5, 6);
        assertThat(another.next()).isEqualTo("message 5");
        assertThat(recorder.isQuiet()).isTrue();
    }

    @Test
    void demandsAddUpAndMayBeMadeFromOnNext() {
        Recorder recorder = new Recorder() {
            @Override
            public void onNext(ZMTPMessage message) {
                super.onNext(message);
                request(1);
            }
        };
        pull.messages().subscribe(recorder);
        recorder.awaitSubscription();
        recorder.request(1);
        recorder.request(Long.MAX_VALUE);

        send(0, 50);

        for (int i = 0; i < 50; i++) {
            assertThat(recorder.next()).isEqualTo("message " + i);
        }
    }

    /** Rule 3.9. */
    @Test
    void aDemandBelowOneIsAnError() {
        for (long demand : new long[] {0, -1}) {
            Recorder recorder = subscribe();

            recorder.request(demand);

            assertThat(recorder.next())
                    .isEqualTo("error java.lang.IllegalArgumentException: demand: " + demand + " (expected: >= 1)");
            recorder.request(1);
        }
        send(0, 1);
        assertThat(receive(pull)).containsExactly("0");
    }

    /** Rule 1.9. */
    @Test
    void aSubscriberOfNullIsAnError() {
        assertThatNullPointerException()
                .isThrownBy(() -> pull.messages().subscribe(null))
                .withMessage("subscriber");
    }

    @Test
    void aSecondSubscriberIsRefusedAndTheFirstGoesOn() {
        Recorder first = subscribe();
        Recorder second = subscribe();

        assertThat(second.next()).startsWith("error").contains("STATE: messages go elsewhere");
        second.subscription.cancel();
        first.request(1);
        send(0, 1);

        assertThat(first.next()).isEqualTo("message 0");
    }

    @Test
    void whileItLastsNobodyElseReceives() {
        subscribe();

        assertThat(TestSockets.reason(pull.receive())).isEqualTo(ZMTPSocketException.Reason.STATE);
        assertThatThrownBy(() -> pull.onMessage((peer, message) -> message.release()))
                .hasMessage("STATE: messages go elsewhere (expected: one receiver)");
    }

    /** Rule 2.13. */
    @Test
    void aSubscriberThatThrowsHasCancelled() {
        CompletableFuture<Flow.Subscription> subscribed = new CompletableFuture<>();
        pull.messages().subscribe(new Recorder() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
                subscribed.complete(subscription);
            }

            @Override
            public void onNext(ZMTPMessage message) {
                message.release();
                throw new IllegalStateException("of the test");
            }
        });
        get(subscribed);

        send(0, 2);

        await("it was cancelled", () -> {
            CompletableFuture<ZMTPMessage> received = pull.receive();
            boolean may = !received.isCompletedExceptionally();
            if (may) {
                assertThat(frames(get(received))).containsExactly("1");
            }
            return may;
        });
    }

    @Test
    void theEndOfTheSocketIsTheEndOfTheStream() {
        Recorder recorder = subscribe();
        recorder.request(1);

        get(pull.close(Duration.ZERO));

        assertThat(recorder.next()).isEqualTo("complete");
        Recorder late = subscribe();
        assertThat(late.next()).startsWith("error").contains("CLOSED");
    }

    @Test
    void aRouterNamesThePeer() {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("me")));
        dealer.connect(bind(router, "inproc://stream"));
        Recorder recorder = new Recorder();
        router.messages().subscribe(recorder);
        recorder.awaitSubscription();
        recorder.request(1);

        dealer.write(message("hello"));

        assertThat(recorder.next()).isEqualTo("message me, hello");
    }

    @Test
    void typesWhoseMessagesBelongToRequestsHaveNoStream() {
        assertThatThrownBy(sockets.open(REP)::messages)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("messages: not with REP (expected: a type that receives, not REQ or REP)");
    }

    /** A receive that was cancelled as it got a message puts it back, where a handler may have come meanwhile. */
    @Test
    void aMessageThatComesBackGoesToTheHandlerThatHasCome() throws Exception {
        send(0, 1);
        await("it has arrived", () -> TestSockets.peer(pull).received() == 1);
        settle();
        BlockingQueue<String> handled = new LinkedBlockingQueue<>();
        SocketCore core = coreOf(pull);

        core.inbox().take(new Inbox.Taker() {
            @Override
            public boolean take(ZMTPPeer from, ZMTPMessage message) {
                pull.onMessage((peer, taken) -> handled.addAll(frames(taken)));
                settle(); // the handler has come, and found nothing
                return false;
            }

            @Override
            public void fail(ZMTPSocketException cause) {}
        });

        assertThat(handled.poll(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo("0");
    }

    private static SocketCore coreOf(ZMTPSocket socket) throws ReflectiveOperationException {
        var field = ZMTPSocket.class.getDeclaredField("core");
        field.setAccessible(true);
        return (SocketCore) field.get(socket);
    }

    private Recorder subscribe() {
        Recorder recorder = new Recorder();
        pull.messages().subscribe(recorder);
        recorder.awaitSubscription();
        return recorder;
    }

    private static class Recorder implements Flow.Subscriber<ZMTPMessage> {
        private final BlockingQueue<String> signals = new LinkedBlockingQueue<>();
        private final CompletableFuture<Void> subscribed = new CompletableFuture<>();
        private Flow.Subscription subscription;

        void awaitSubscription() {
            get(subscribed);
        }

        void request(long n) {
            subscription.request(n);
        }

        String next() {
            try {
                String next = signals.poll(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(next).as("the next signal").isNotNull();
                return next;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        boolean isQuiet() {
            return signals.isEmpty();
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            subscribed.complete(null);
        }

        @Override
        public void onNext(ZMTPMessage message) {
            List<String> frames = frames(message);
            signals.add("message " + String.join(", ", frames));
        }

        @Override
        public void onError(Throwable failure) {
            signals.add("error " + failure);
        }

        @Override
        public void onComplete() {
            signals.add("complete");
        }
    }
}
