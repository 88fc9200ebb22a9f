package dev.zmtp.internal.socket.context;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.EventLoops;
import io.netty.util.concurrent.BlockingOperationException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A wait that ends in the moment in which what it waited for comes, or fails. */
class WaitingTest {

    private static final Duration LONG = Duration.ofHours(1);

    @AfterEach
    void forgetTheInterrupt() {
        Thread.interrupted();
    }

    /** A future that ends like this in the moment in which the wait for it is interrupted, or takes too long. */
    private static final class Ending extends CompletableFuture<ZMTPMessage> {
        private final Consumer<Ending> end;

        Ending(Consumer<Ending> end) {
            this.end = end;
        }

        @Override
        public ZMTPMessage get() throws InterruptedException {
            end.accept(this);
            throw new InterruptedException("of the test");
        }

        @Override
        public ZMTPMessage get(long timeout, TimeUnit unit) throws TimeoutException {
            end.accept(this);
            throw new TimeoutException("of the test");
        }
    }

    @Test
    void anAnswerThatComesWithTheInterruptIsReleased() {
        ZMTPMessage message = message("late");

        assertThatThrownBy(() -> Waiting.answer(new Ending(answer -> answer.complete(message))))
                .isInstanceOf(InterruptedException.class);

        assertThat(message.refCnt()).isZero();
    }

    @Test
    void anAnswerThatFailsWithTheInterruptIsNotWantedEither() {
        assertThatThrownBy(() -> Waiting.answer(new Ending(WaitingTest::close)))
                .isInstanceOf(InterruptedException.class);
    }

    @Test
    void anInterruptGivesUpTheAnswer() {
        Ending answer = new Ending(unended -> {});

        assertThatThrownBy(() -> Waiting.answer(answer)).isInstanceOf(InterruptedException.class);

        assertThat(answer).isCancelled();
    }

    @Test
    void aMessageThatComesWithTheInterruptIsReceivedAndTheThreadStaysInterrupted() throws InterruptedException {
        ZMTPMessage received = Waiting.receive(new Ending(ending -> ending.complete(message("late"))));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(frames(received)).containsExactly("late");
    }

    @Test
    void aReceiveThatFailsWithTheInterruptIsInterrupted() {
        assertThatThrownBy(() -> Waiting.receive(new Ending(WaitingTest::close)))
                .isInstanceOf(InterruptedException.class);
    }

    @Test
    void anInterruptGivesUpTheReceive() {
        Ending received = new Ending(unended -> {});

        assertThatThrownBy(() -> Waiting.receive(received)).isInstanceOf(InterruptedException.class);

        assertThat(received).isCancelled();
    }

    @Test
    void aMessageThatComesWhenTheTimeIsOverIsReceived() throws InterruptedException {
        ZMTPMessage received = Waiting.receive(new Ending(ending -> ending.complete(message("late"))), LONG);

        assertThat(received).isNotNull();
        assertThat(frames(received)).containsExactly("late");
    }

    /** A receive that has given up its claim and not yet its wait, as by a close on another thread. */
    private static final class Failing extends CompletableFuture<ZMTPMessage> {
        private final ZMTPSocketException failure = new ZMTPSocketException(CLOSED, "of the test");

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            return false;
        }

        @Override
        public ZMTPMessage join() {
            completeExceptionally(failure);
            return super.join();
        }
    }

    @Test
    void aReceiveThatFailsWhenItIsGivenUpHasTheFailureOfASocket() {
        assertThatThrownBy(() -> Waiting.receive(new Failing(), Duration.ZERO)).hasMessage("CLOSED: of the test");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Waiting.receive(new Failing())).hasMessage("CLOSED: of the test");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aReceiveWhoseTimeIsOverIsGivenUp() throws InterruptedException {
        Ending received = new Ending(unended -> {});

        assertThat(Waiting.receive(received, LONG)).isNull();

        assertThat(received).isCancelled();
    }

    /** As by {@code orTimeout} of a future, whose own timeout is not that of the call. */
    @Test
    void aFailureThatIsATimeoutIsNotTheTimeoutOfTheCall() {
        CompletableFuture<ZMTPMessage> received = new CompletableFuture<>();
        received.completeExceptionally(new ZMTPSocketException(TIMEOUT, "its own"));

        assertThatThrownBy(() -> Waiting.receive(received, LONG)).hasMessage("TIMEOUT: its own");
    }

    @Test
    void aFailureThatIsNotOfASocketIsTheCause() {
        IllegalStateException cause = new IllegalStateException("of the test");
        CompletableFuture<ZMTPMessage> failed = CompletableFuture.failedFuture(cause);

        for (ThrowingCallable wait :
                new ThrowingCallable[] {() -> Waiting.receive(failed), () -> Waiting.receive(failed, LONG)}) {
            assertThatThrownBy(wait)
                    .isInstanceOfSatisfying(
                            ZMTPSocketException.class,
                            failure -> assertThat(failure.reason()).isEqualTo(ILLEGAL_STATE))
                    .cause()
                    .isSameAs(cause);
        }
    }

    /** It depends on the moment, and would be found late. */
    @Test
    void onAnEventLoopACallThatMayWaitThrowsEvenIfItNeedNot() throws InterruptedException {
        CompletableFuture<String> there = CompletableFuture.completedFuture("there");
        try (EventLoops loops = new EventLoops(1)) {
            assertThat(loops.group().submit(() -> Waiting.await(there)).await().cause())
                    .isInstanceOf(BlockingOperationException.class);
            assertThat(loops.group()
                            .submit(() -> Waiting.await(there, LONG, () -> new ZMTPSocketException(TIMEOUT, "late")))
                            .await()
                            .cause())
                    .isInstanceOf(BlockingOperationException.class);
        }
    }

    @Test
    void onAnEventLoopAnEndIsNotWaitedFor() throws InterruptedException {
        CompletableFuture<String> never = new CompletableFuture<>();
        try (EventLoops loops = new EventLoops(1)) {
            assertThat(loops.group().submit(() -> Waiting.end(never)).await().isSuccess())
                    .isTrue();
        }
    }

    @Test
    void aThreadThatIsInterruptedWaitsForNoEndAndStaysInterrupted() {
        Thread.currentThread().interrupt();

        Waiting.end(new CompletableFuture<>());

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anEndThatFailsIsAFault() {
        CompletableFuture<String> failed = CompletableFuture.failedFuture(new IllegalStateException("of the test"));

        assertThatThrownBy(() -> Waiting.end(failed)).isInstanceOf(AssertionError.class);
    }

    private static void close(Ending future) {
        future.completeExceptionally(new ZMTPSocketException(CLOSED, "of the test"));
    }

    /** The failure comes between the end of the time and the look for it. */
    @Test
    void aFailureInTheMomentInWhichTheTimeIsOverIsThatOfTheReceive() {
        assertThatThrownBy(() -> Waiting.receive(new Ending(WaitingTest::close), LONG))
                .hasMessageContaining("CLOSED");
    }
}
