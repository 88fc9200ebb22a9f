package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
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
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.DefaultEventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
