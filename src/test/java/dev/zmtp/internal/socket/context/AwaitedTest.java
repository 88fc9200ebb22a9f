package dev.zmtp.internal.socket.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Futures that wait for peers. */
class AwaitedTest {

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final Awaited awaited =
            new Awaited(ClockedSockets.context(ZMTPSocketConfig.of(ZMTPSocketType.PUB), clock.eventLoop(), () -> 1)
                    .completions());
    private final CompletableFuture<Void> one = new CompletableFuture<>();
    private final CompletableFuture<Void> two = new CompletableFuture<>();

    @Test
    void whoWaitedForOneMayWaitForTwo() {
        CompletableFuture<Void> other = new CompletableFuture<>();
        awaited.await(1, one);
        awaited.await(1, other);
        one.whenComplete((nothing, failure) -> awaited.await(2, two));

        awaited.changed(1);

        assertThat(one).isCompleted();
        assertThat(other).isCompleted();
        assertThat(two).isNotDone();
        awaited.changed(2);
        assertThat(two).isCompleted();
    }

    @Test
    void whatWasCountedIsSeenBeforeItIsAnnounced() {
        awaited.await(1, one);

        awaited.count(1);
        assertThat(awaited.there()).isEqualTo(1);
        assertThat(one).isNotDone();

        awaited.announce();
        assertThat(one).isCompleted();
    }

    @Test
    void whoWaitedUntilTheEndMayWaitOnAndFails() {
        awaited.await(1, one);
        one.whenComplete((nothing, failure) -> awaited.await(2, two));

        awaited.close();

        clock.runPendingTasks();
        assertThat(one).isCompletedExceptionally();
        assertThat(two).isCompletedExceptionally();
    }
}
