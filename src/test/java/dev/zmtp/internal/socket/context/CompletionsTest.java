package dev.zmtp.internal.socket.context;

import static dev.zmtp.internal.socket.context.Completions.AT_ONCE;
import static dev.zmtp.internal.socket.context.Completions.AT_ONCE_IN_A_FLUSH;
import static dev.zmtp.internal.socket.context.Completions.IN_A_RUN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.EventLoops;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When the futures of an application complete. */
class CompletionsTest {

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final Completions completions = context(clock.eventLoop()).completions();
    private final List<Integer> ended = new ArrayList<>();

    @AfterEach
    void close() {
        clock.finishAndReleaseAll();
    }

    private static SocketContext context(EventLoop loop) {
        return ClockedSockets.context(ZMTPSocketConfig.of(ZMTPSocketType.PUB), loop, () -> 1);
    }

    private void end(int number) {
        CompletableFuture<Void> future = new CompletableFuture<>();
        future.thenRun(() -> ended.add(number));
        completions.succeed(future);
    }

    private static List<Integer> numbers(int end) {
        return IntStream.range(0, end).boxed().toList();
    }

    @Test
    void aFewCompleteAtOnceAndTheOthersInATaskInTheirOrder() {
        numbers(AT_ONCE + 10).forEach(this::end);
        assertThat(ended).isEqualTo(numbers(AT_ONCE));

        clock.runPendingTasks();
        assertThat(ended).isEqualTo(numbers(AT_ONCE + 10));

        end(AT_ONCE + 10);
        assertThat(ended).as("at once again").isEqualTo(numbers(AT_ONCE + 11));
    }

    @Test
    void oneThatEndsInsideOfAnotherWaits() {
        CompletableFuture<Void> outer = new CompletableFuture<>();
        outer.thenRun(() -> {
            end(1);
            ended.add(0);
        });

        completions.succeed(outer);
        assertThat(ended).containsExactly(0);

        clock.runPendingTasks();
        assertThat(ended).containsExactly(0, 1);
    }

    @Test
    void oneRunCompletesSoManyThatThereMayBeOthersBeforeAndAfterIt() {
        assertThat(IN_A_RUN + 2 * AT_ONCE).isEqualTo(LoopBudget.MESSAGES);
        int all = AT_ONCE + 2 * IN_A_RUN + 1;
        numbers(all).forEach(this::end);

        completions.run();
        assertThat(ended).isEqualTo(numbers(AT_ONCE + IN_A_RUN));
        completions.run();
        assertThat(ended).isEqualTo(numbers(AT_ONCE + 2 * IN_A_RUN));
        completions.run();
        assertThat(ended).isEqualTo(numbers(all));
    }

    /** What many peers take in one turn may be more than one run completes, and they do so again in the next. */
    @Test
    void ofFarTooManyAPartCompletesInOneRun() {
        numbers(AT_ONCE + 80_000).forEach(this::end);

        completions.run();

        assertThat(ended).isEqualTo(numbers(AT_ONCE + 10_000));
    }

    /** As in a flush: most programs do not send again before it is over. */
    @Test
    void inATaskOfManyResultsMoreCompleteAtOnceAndTheOthersAtItsEnd() {
        completions.begin();
        numbers(IN_A_RUN + 10).forEach(this::end);
        assertThat(ended).isEqualTo(numbers(AT_ONCE_IN_A_FLUSH));

        completions.end();
        assertThat(ended).isEqualTo(numbers(IN_A_RUN));
        completions.run();
        assertThat(ended).isEqualTo(numbers(IN_A_RUN + 10));
    }

    @Test
    void whatEndsInsideOfAnotherThereWaitsForTheEndOfTheTask() {
        completions.begin();
        CompletableFuture<Void> outer = new CompletableFuture<>();
        outer.thenRun(() -> end(1));
        completions.succeed(outer);
        end(2);
        assertThat(ended).isEmpty();

        completions.end();
        assertThat(ended).containsExactly(1, 2);
    }

    /** Otherwise, one turn of the event loop would have two runs. */
    @Test
    void theyAreLeftToTheRunThatWillComeAnyway() {
        numbers(AT_ONCE + 1).forEach(this::end);
        completions.begin();
        end(AT_ONCE + 1);

        completions.end();
        assertThat(ended).isEqualTo(numbers(AT_ONCE));
        clock.runPendingTasks();
        assertThat(ended).isEqualTo(numbers(AT_ONCE + 2));
    }

    @Test
    void whatComesAfterTheResultsWaitsForThem() {
        numbers(AT_ONCE + 1).forEach(this::end);
        completions.after(() -> ended.add(-1));
        assertThat(ended).isEqualTo(numbers(AT_ONCE));

        clock.runPendingTasks();
        assertThat(ended).hasSize(AT_ONCE + 2).endsWith(AT_ONCE, -1);
    }

    @Test
    void oneThatThrowsDoesNotKeepTheOthers() {
        completions.after(() -> {
            throw new IllegalStateException("on purpose");
        });
        end(0);
        completions.later(
                () -> {
                    throw new IllegalStateException("on purpose");
                },
                false);
        end(1);
        clock.runPendingTasks();

        assertThat(ended).containsExactly(0, 1);
    }

    @Test
    void aCallMayReturnACompleteFutureAFewTimesUntilATaskHasRun() {
        for (int i = 0; i < AT_ONCE; i++) {
            assertThat(completions.mayBeComplete()).isTrue();
        }
        assertThat(completions.mayBeComplete()).isFalse();
        completions.later(() -> {}, true);
        clock.runPendingTasks();

        assertThat(completions.mayBeComplete()).isTrue();
    }

    /** What is nested there would fill the stack; what is one after the other completes at once. */
    @Test
    void onAnotherThreadOneInManyNestedCallsIsLeftToTheEventLoop() {
        try (EventLoops loops = new EventLoops(1)) {
            Completions others = context(loops.group().next()).completions();
            for (int i = 0; i < 10_000; i++) {
                CompletableFuture<Void> future = new CompletableFuture<>();
                others.succeed(future);
                assertThat(future).isCompleted();
            }
            assertThat(IntStream.range(0, 1_000).allMatch(i -> others.mayBeComplete()))
                    .isTrue();

            get(chain(others, 20_000));
        }
    }

    private static CompletableFuture<Void> chain(Completions completions, int links) {
        CompletableFuture<Void> next = new CompletableFuture<>();
        completions.succeed(next);
        return links == 0 ? next : next.thenCompose(done -> chain(completions, links - 1));
    }

    @Test
    void allCompleteThoughTheEventLoopHasEnded() {
        EventLoops loops = new EventLoops(1);
        EventLoop loop = loops.group().next();
        Completions others = context(loop).completions();
        List<CompletableFuture<Void>> results = new ArrayList<>();
        get(CompletableFuture.runAsync(
                () -> {
                    for (int i = 0; i < 3 * LoopBudget.MESSAGES; i++) {
                        CompletableFuture<Void> result = new CompletableFuture<>();
                        results.add(result);
                        others.fail(result, CLOSED, "the socket is closed");
                    }
                    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
                },
                loop));
        loops.close();

        others.completeAll();
        CompletableFuture<Void> late = new CompletableFuture<>();
        others.fail(late, CLOSED, "the socket is closed");

        assertThat(results).allSatisfy(result -> assertThat(reason(result)).isEqualTo(CLOSED));
        assertThat(reason(late)).isEqualTo(CLOSED);
    }

    /** The timer of an event loop that ends does not run. */
    @Test
    void whatWaitsUntilItsCallerHasReturnedRunsAtTheEndAtTheLatest() throws InterruptedException {
        Thread caller = new Thread(() -> completions.later(() -> ended.add(1), true));
        caller.start();
        caller.join();
        assertThat(ended).isEmpty();

        completions.completeAll();

        assertThat(ended).containsExactly(1);
    }
}
