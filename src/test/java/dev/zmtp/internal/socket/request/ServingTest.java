package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A handler of requests. */
class ServingTest {

    private static final String ENDPOINT = "inproc://serving";

    /** How a handler fails to answer. */
    enum Failure implements Consumer<ZMTPRequest> {
        THROWS(true) {
            @Override
            public void accept(ZMTPRequest request) {
                throw new IllegalStateException("by the handler");
            }
        },
        DROPS(false) {
            @Override
            public void accept(ZMTPRequest request) {
                request.drop();
                request.drop();
            }
        },
        DROPS_LATER(false) {
            @Override
            public void accept(ZMTPRequest request) {
                new Thread(request::drop).start();
            }
        },
        RELEASES_AND_THROWS(true) {
            @Override
            public void accept(ZMTPRequest request) {
                request.message().release();
                throw new IllegalStateException("by the handler");
            }
        },
        RELEASED_ANSWER(true) {
            @Override
            public void accept(ZMTPRequest request) {
                ZMTPMessage released = message("released");
                released.release();
                request.reply(released);
            }
        };

        private final boolean isLogged;

        Failure(boolean isLogged) {
            this.isLogged = isLogged;
        }
    }

    /** Whatever the handler does, the next request is served, and one at a time at that. */
    @ParameterizedTest
    @EnumSource
    void aRequestThatGetsNoAnswerIsLoggedAndTheNextOneIsServed(Failure failure) {
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.Serving");
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(sockets.builder(REP).maxOutstandingRequests(1));
            ZMTPSocket dealer = sockets.open(DEALER);
            AtomicInteger calls = new AtomicInteger();
            rep.serve(request -> {
                if (calls.incrementAndGet() <= 3) {
                    failure.accept(request);
                } else {
                    request.reply(request.message());
                }
            });
            connect(dealer, bind(rep, ENDPOINT));

            for (int i = 0; i < 4; i++) {
                get(dealer.sendAsync(message("", "m" + i)));
            }

            assertThat(receive(dealer)).containsExactly("", "m3");
            assertThat(log.lines)
                    .hasSize(failure.isLogged ? 1 : 0) // in this second
                    .allMatch(line -> line.contains("will not be answered"));
        }
    }

    /** One peer has as many as leave it half of what others may have. */
    @Test
    void asManyRequestsAreServedAtATimeAsMayBe(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(sockets.builder(REP).maxOutstandingRequests(5));
        ZMTPSocket dealer = sockets.open(DEALER);
        ConcurrentLinkedQueue<CompletableFuture<ZMTPMessage>> serving = new ConcurrentLinkedQueue<>();
        rep.serve(TestSockets.answering(request -> {
            CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
            serving.add(answer);
            return answer;
        }));
        ZMTPPeer peer = connect(dealer, bind(rep, ENDPOINT));
        for (int i = 0; i < 5; i++) {
            get(dealer.sendAsync(message("", "m" + i)));
        }
        await("all read", () -> TestSockets.peer(rep).stats().received() == 5);

        for (int i = 0; i < 5; i++) {
            int most = Math.min(2, 5 - i);
            await("those that may be", () -> serving.size() == most);
            serving.remove().complete(message("a" + i));
            assertThat(receive(dealer)).containsExactly("", "a" + i);
        }
        assertThat(peer.stats().received()).isEqualTo(5);
    }

    /** Those that came before the handler. No call is inside the other. */
    @Test
    void manyRequestsThatWaitAreServedInOrder(TestSockets sockets) {
        int requests = 20_000;
        ZMTPSocket rep = sockets.open(
                sockets.builder(REP).receiveQueueLimit(requests, 1 << 30).sendQueueLimit(requests, 1 << 30));
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendQueueLimit(requests, 1 << 30));
        connect(dealer, bind(rep, ENDPOINT));
        for (int i = 0; i < requests; i++) {
            assertThat(dealer.trySend(message("", "" + i))).isTrue();
        }
        await("all waiting", () -> TestSockets.peer(rep).stats().received() == requests);

        AtomicInteger deepest = new AtomicInteger();
        rep.serve(request -> {
            int depth = StackWalker.getInstance().walk(frames -> (int) frames.count());
            deepest.accumulateAndGet(depth, Math::max);
            request.reply(request.message());
        });

        for (int i = 0; i < requests; i++) {
            assertThat(receive(dealer)).containsExactly("", "" + i);
        }
        assertThat(deepest).hasValueLessThan(200);
    }

    /** A service may answer in any order, unlike a REP that receives and sends in turn. */
    @Test
    void answersMayComeInAnyOrderAndFromAnyThread(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        ConcurrentLinkedQueue<Runnable> pending = new ConcurrentLinkedQueue<>();
        router.serve(TestSockets.answering(request -> {
            CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
            ZMTPMessage asked = request.message().retain();
            pending.add(() -> answer.complete(asked));
            return answer;
        }));
        String endpoint = bind(router, ENDPOINT);
        for (int i = 0; i < 20; i++) {
            ZMTPSocket dealer = sockets.open(DEALER);
            connect(dealer, endpoint);
            answers.add(dealer.requestAsync(message("m" + i), PATIENCE));
        }
        await("all", () -> pending.size() == 20);
        pending.forEach(answer -> new Thread(answer).start());

        for (int i = 0; i < 20; i++) {
            assertThat(frames(get(answers.get(i)))).containsExactly("m" + i);
        }
    }

    /** An envelope can be long, and is kept byte for byte. */
    @Test
    void aLongEnvelopeIsKept(TestSockets sockets) {
        String[] frames = new String[66];
        Arrays.setAll(frames, i -> "hop" + i);
        frames[64] = "";
        frames[65] = "data";
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        rep.serve(request -> request.reply(request.message()));
        connect(dealer, bind(rep, "tcp://127.0.0.1:*"));

        get(dealer.sendAsync(message(frames)));

        assertThat(receive(dealer)).containsExactly(frames);
    }

    @Test
    void theAnswerToAPeerThatHasLeftIsDroppedAndCounted(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
        CompletableFuture<ZMTPRequest> asked = new CompletableFuture<>();
        rep.serve(TestSockets.answering(request -> {
            asked.complete(request);
            return answer;
        }));
        connect(dealer, bind(rep, ENDPOINT));
        get(dealer.sendAsync(message("", "question")));
        assertThat(get(asked).peer()).isSameAs(TestSockets.peer(rep));
        get(dealer.closeAsync(Duration.ZERO));
        await("nobody", () -> rep.peers().isEmpty());

        answer.complete(message("too late"));

        await("dropped", () -> rep.stats().dropped() == 1);
    }

    /** Each frame before the empty frame names a ROUTER on its way, and the reply has all of them. */
    @Test
    void aRequestWithMoreThan64NamesIsMalformedAndSoIsANameOfMoreThan255Bytes(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        rep.serve(request -> request.reply(request.message()));
        connect(dealer, bind(rep, ENDPOINT));

        get(dealer.sendAsync(enveloped(Collections.nCopies(65, "n"))));
        get(dealer.sendAsync(enveloped(List.of("n".repeat(256)))));
        get(dealer.sendAsync(enveloped(List.of("n".repeat(255)))));

        assertThat(receive(dealer)).containsExactly("n".repeat(255), "", "data");
        assertThat(TestSockets.peer(rep).stats().malformed()).isEqualTo(2);
    }

    private static ZMTPMessage enveloped(List<String> names) {
        List<String> frames = new ArrayList<>(names);
        frames.addAll(List.of("", "data"));
        return message(frames.toArray(String[]::new));
    }

    @Test
    void malformedRequestsToARouterAreCounted(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(DEALER);
        router.serve(request -> request.reply(request.message()));
        connect(dealer, bind(router, ENDPOINT));

        get(dealer.sendAsync(message("x")));
        get(dealer.sendAsync(message("", "good")));

        assertThat(receive(dealer)).containsExactly("", "good");
        assertThat(TestSockets.peer(router).stats().malformed()).isEqualTo(1);
    }

    @Test
    void thereIsOneWayOut(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(ZMTPRequest::drop);

        assertThatThrownBy(() -> rep.serve(ZMTPRequest::drop))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a receiver is already registered");
    }

    /** Joins the two, and returns what the first has been asked by the second. */
    private static ZMTPRequest asked(ZMTPSocket rep, ZMTPSocket dealer) {
        CompletableFuture<ZMTPRequest> asked = new CompletableFuture<>();
        rep.serve(asked::complete);
        connect(dealer, bind(rep, ENDPOINT));
        get(dealer.sendAsync(message("", "question")));
        return get(asked);
    }

    @Test
    void aRequestIsAnsweredOnce(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPRequest request = asked(rep, dealer);
        ZMTPMessage second = message("second");

        assertThat(request.reply(message("first"))).isTrue();
        assertThatThrownBy(() -> request.reply(second))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was already answered or dropped");
        request.drop();

        assertThat(receive(dealer)).containsExactly("", "first");
        assertThat(request.message().refCnt()).isZero();
        assertThat(second.refCnt()).isZero();
    }

    @Test
    void theAnswerToAPeerThatHasGoneIsDroppedAndTheHandlerIsTold(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPRequest request = asked(rep, dealer);
        get(dealer.closeAsync(Duration.ZERO));
        await("gone", () -> rep.peers().isEmpty());
        ZMTPMessage answer = message("late");

        assertThat(request.reply(answer)).isFalse();

        await("dropped", () -> answer.refCnt() == 0);
        assertThat(rep.stats().dropped()).isEqualTo(1);
    }

    @Test
    void aSecondReplyWithTheRequestItselfDoesNotReleaseTheFirst(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPRequest request = asked(rep, dealer);
        ZMTPMessage own = request.message();
        List<Throwable> second = new CopyOnWriteArrayList<>();
        rep.eventLoop().execute(() -> {
            request.reply(own); // which is sent after this task
            second.add(catchThrowable(() -> request.reply(own)));
        });

        assertThat(receive(dealer)).containsExactly("", "question");
        assertThat(second).hasSize(1).first().isInstanceOf(IllegalStateException.class);
    }
}
