package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.TestSockets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Long chains of futures, whose links may all be complete when they are made: begun on the event loop and on another
 * thread.
 */
class ChainsTest {

    private static final int LINKS = 20_000;

    /** The number of frames on a stack that no chain reaches: half of what overflows with the default of a thread. */
    private static final int DEEP = 3_000;

    /** A chain whose links are futures of {@code next}. */
    private static CompletableFuture<Void> chain(Supplier<? extends CompletableFuture<?>> next, int links) {
        if (links % 100 == 0) {
            long frames = StackWalker.getInstance().walk(Stream::count);
            assertThat(frames).isLessThan(DEEP);
        }
        return links == 0
                ? CompletableFuture.completedFuture(null)
                : next.get().thenCompose(done -> chain(next, links - 1));
    }

    private static void run(ZMTPSocket socket, boolean onLoop, Supplier<? extends CompletableFuture<?>> next) {
        if (onLoop) {
            get(CompletableFuture.supplyAsync(() -> chain(next, LINKS), socket.eventLoop())
                    .thenCompose(chain -> chain));
        } else {
            get(chain(next, LINKS));
        }
    }

    private static CompletableFuture<Void> released(CompletableFuture<ZMTPMessage> message) {
        return message.thenAccept(ZMTPMessage::release);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aChainOfReceives(boolean onLoop, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(2 * LINKS, 1 << 30));
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(2 * LINKS, 1 << 30));
        connect(push, bind(pull, "inproc://chain"));
        for (int i = 0; i < LINKS; i++) {
            push.sendOrDrop(message("m"));
        }
        await("all there", () -> pull.stats().received() == LINKS);

        run(pull, onLoop, () -> released(pull.receiveAsync()));

        assertThat(pull.stats().received()).isEqualTo(LINKS);
        CompletableFuture<ZMTPMessage> none = pull.receiveAsync();
        assertThat(none).isNotDone();
        push.sendOrDrop(message("last"));
        get(none).release();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aChainOfSends(boolean onLoop, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        pull.onMessage((from, message) -> message.release());
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));

        run(push, onLoop, () -> push.sendAsync(message("m")));

        assertAllWritten(push);
        await("all there", () -> pull.stats().received() == LINKS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aChainOfSendsThatCompleteAtOnce(boolean onLoop, TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        bind(pub, "inproc://chain");

        run(pub, onLoop, () -> pub.sendAsync(message("m")));

        assertThat(pub.stats().queued()).isZero();
    }

    private static void assertAllWritten(ZMTPSocket socket) {
        ZMTPStats stats = socket.stats();
        assertThat(stats.sent()).isEqualTo(LINKS);
        assertThat(stats.written()).isEqualTo(LINKS);
        assertThat(stats.outcomeUnknown() + stats.dropped() + stats.queued()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aChainOfRequests(boolean onLoop, TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(rep, "inproc://chain"));

        run(dealer, onLoop, () -> released(dealer.requestAsync(message("?"), PATIENCE)));

        assertAllWritten(dealer);
        assertThat(dealer.stats().queued()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aChainOfRequestsThatFailAtOnce(boolean onLoop, TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        AtomicInteger failed = new AtomicInteger();

        run(
                dealer,
                onLoop,
                () -> dealer.requestAsync(message("?"), PATIENCE)
                        .thenAccept(ZMTPMessage::release)
                        .exceptionally(failure -> {
                            assertThat(((CompletionException) failure).getCause())
                                    .isInstanceOf(ZMTPSocketException.class);
                            failed.incrementAndGet();
                            return null;
                        }));

        assertThat(failed).hasValue(LINKS);
        assertThat(dealer.stats().dropped()).isEqualTo(LINKS);
        assertThat(dealer.stats().queued()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aChainOfSendsThatFailAtOnce(boolean onLoop, TestSockets sockets) {
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).sendQueueLimit(1, 1).maxWaitingSends(1));
        push.connect("inproc://nobody");
        CompletableFuture<Void> queued = push.sendAsync(message("queued"));
        CompletableFuture<Void> waits = push.sendAsync(message("waits"));
        AtomicInteger failed = new AtomicInteger();

        run(
                push,
                onLoop,
                () -> push.sendAsync(message("m")).exceptionally(failure -> {
                    failed.incrementAndGet();
                    return null;
                }));

        assertThat(failed).hasValue(LINKS);
        assertThat(push.stats().dropped()).isEqualTo(LINKS);
        assertThat(queued).isNotDone();
        assertThat(waits).isNotDone();
    }
}
