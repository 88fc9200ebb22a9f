package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.TestSockets.PATIENCE;
import static dev.zmtp.socket.TestSockets.await;
import static dev.zmtp.socket.TestSockets.bind;
import static dev.zmtp.socket.TestSockets.connect;
import static dev.zmtp.socket.TestSockets.frames;
import static dev.zmtp.socket.TestSockets.get;
import static dev.zmtp.socket.TestSockets.message;
import static dev.zmtp.socket.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A handler of requests. */
class ServingTest {

    private static final String ENDPOINT = "inproc://serving";

    /** How a handler fails to answer. */
    enum Failure implements Supplier<CompletableFuture<ZMTPMessage>> {
        THROWS {
            @Override
            public CompletableFuture<ZMTPMessage> get() {
                throw new IllegalStateException("by the handler");
            }
        },
        NO_STAGE {
            @Override
            public CompletableFuture<ZMTPMessage> get() {
                return null;
            }
        },
        FAILED_STAGE {
            @Override
            public CompletableFuture<ZMTPMessage> get() {
                return CompletableFuture.failedFuture(new IllegalStateException("by the stage"));
            }
        },
        NO_ANSWER {
            @Override
            public CompletableFuture<ZMTPMessage> get() {
                return CompletableFuture.completedFuture(null);
            }
        },
        RELEASED_ANSWER {
            @Override
            public CompletableFuture<ZMTPMessage> get() {
                ZMTPMessage released = message("released");
                released.release();
                return CompletableFuture.completedFuture(released);
            }
        }
    }

    /** Whatever the handler does, the next request is served, and one at a time at that. */
    @ParameterizedTest
    @EnumSource
    void aRequestThatGetsNoAnswerIsLoggedAndTheNextOneIsServed(Failure failure) {
        try (CapturedLog log = new CapturedLog(Serving.class.getName());
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(sockets.builder(REP).maxOutstandingRequests(1));
            ZMTPSocket dealer = sockets.open(DEALER);
            AtomicInteger calls = new AtomicInteger();
            rep.serve(request -> calls.incrementAndGet() <= 3
                    ? failure.get()
                    : CompletableFuture.completedFuture(request.message().retain()));
            connect(dealer, bind(rep, ENDPOINT));

            for (int i = 0; i < 4; i++) {
                get(dealer.send(message("", "m" + i)));
            }

            assertThat(receive(dealer)).containsExactly("", "m3");
            assertThat(log.lines).hasSize(3).allMatch(line -> line.contains("gets no answer"));
        }
    }

    @Test
    void asManyRequestsAreServedAtATimeAsMayBe() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(sockets.builder(REP).maxOutstandingRequests(2));
            ZMTPSocket dealer = sockets.open(DEALER);
            ConcurrentLinkedQueue<CompletableFuture<ZMTPMessage>> serving = new ConcurrentLinkedQueue<>();
            rep.serve(request -> {
                CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
                serving.add(answer);
                return answer;
            });
            ZMTPPeer peer = connect(dealer, bind(rep, ENDPOINT));
            for (int i = 0; i < 5; i++) {
                get(dealer.send(message("", "m" + i)));
            }
            await("all read", () -> TestSockets.peer(rep).received() == 5);

            for (int i = 0; i < 5; i++) {
                int most = Math.min(2, 5 - i);
                await("those that may be", () -> serving.size() == most);
                serving.remove().complete(message("a" + i));
                assertThat(receive(dealer)).containsExactly("", "a" + i);
            }
            assertThat(peer.received()).isEqualTo(5);
        }
    }

    /** Those that came before the handler. No call is inside the other. */
    @Test
    void manyRequestsThatWaitAreServedInOrder() {
        int requests = 20_000;
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(sockets.builder(REP)
                    .receiveLimit(new ZMTPQueueLimit(requests, 1 << 30))
                    .sendLimit(new ZMTPQueueLimit(requests, 1 << 30)));
            ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendLimit(new ZMTPQueueLimit(requests, 1 << 30)));
            connect(dealer, bind(rep, ENDPOINT));
            for (int i = 0; i < requests; i++) {
                assertThat(dealer.trySend(message("", "" + i))).isTrue();
            }
            await("all waiting", () -> TestSockets.peer(rep).received() == requests);

            AtomicInteger deepest = new AtomicInteger();
            rep.serve(request -> {
                int depth = StackWalker.getInstance().walk(frames -> (int) frames.count());
                deepest.accumulateAndGet(depth, Math::max);
                return CompletableFuture.completedFuture(request.message().retain());
            });

            for (int i = 0; i < requests; i++) {
                assertThat(receive(dealer)).containsExactly("", "" + i);
            }
            assertThat(deepest).hasValueLessThan(200);
        }
    }

    /** P24 is per asker: a service may answer in any order. */
    @Test
    void answersMayComeInAnyOrderAndFromAnyThread() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket router = sockets.open(ROUTER);
            List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
            ConcurrentLinkedQueue<Runnable> pending = new ConcurrentLinkedQueue<>();
            router.serve(request -> {
                CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
                ZMTPMessage asked = request.message().retain();
                pending.add(() -> answer.complete(asked));
                return answer;
            });
            String endpoint = bind(router, ENDPOINT);
            for (int i = 0; i < 20; i++) {
                ZMTPSocket dealer = sockets.open(DEALER);
                connect(dealer, endpoint);
                answers.add(dealer.request(message("m" + i), PATIENCE));
            }
            await("all", () -> pending.size() == 20);
            pending.forEach(answer -> new Thread(answer).start());

            for (int i = 0; i < 20; i++) {
                assertThat(frames(get(answers.get(i)))).containsExactly("m" + i);
            }
        }
    }

    /** P25: an envelope may be long, and is kept byte for byte. */
    @Test
    void aLongEnvelopeIsKept() {
        String[] frames = new String[1_000];
        Arrays.setAll(frames, i -> "hop" + i);
        frames[998] = "";
        frames[999] = "data";
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket dealer = sockets.open(DEALER);
            rep.serve(request ->
                    CompletableFuture.completedFuture(request.message().retain()));
            connect(dealer, bind(rep, "tcp://127.0.0.1:*"));

            get(dealer.send(message(frames)));

            assertThat(receive(dealer)).containsExactly(frames);
        }
    }

    /** P28. */
    @Test
    void theAnswerToAPeerThatHasLeftIsDroppedAndCounted() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            ZMTPSocket dealer = sockets.open(DEALER);
            CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
            CompletableFuture<ZMTPRequest> asked = new CompletableFuture<>();
            rep.serve(request -> {
                asked.complete(request);
                return answer;
            });
            connect(dealer, bind(rep, ENDPOINT));
            get(dealer.send(message("", "question")));
            assertThat(get(asked).peer()).isSameAs(TestSockets.peer(rep));
            get(dealer.close(Duration.ZERO));
            await("nobody", () -> rep.peers().isEmpty());

            answer.complete(message("too late"));

            await("dropped", () -> rep.dropped() == 1);
        }
    }

    @Test
    void malformedRequestsToARouterAreCounted() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket router = sockets.open(ROUTER);
            ZMTPSocket dealer = sockets.open(DEALER);
            router.serve(request ->
                    CompletableFuture.completedFuture(request.message().retain()));
            connect(dealer, bind(router, ENDPOINT));

            get(dealer.send(message("x")));
            get(dealer.send(message("", "good")));

            assertThat(receive(dealer)).containsExactly("", "good");
            assertThat(TestSockets.peer(router).malformed()).isEqualTo(1);
        }
    }

    @Test
    void thereIsOneWayOut() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            rep.serve(request -> new CompletableFuture<>());

            assertThatThrownBy(() -> rep.serve(request -> new CompletableFuture<>()))
                    .isInstanceOf(ZMTPSocketException.class)
                    .hasMessageContaining("STATE");
        }
    }
}
