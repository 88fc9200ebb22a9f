package dev.zmtp.internal.socket.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import io.netty.util.concurrent.BlockingOperationException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T55: an event loop that waits for a future stands still, and so does what would complete it. */
@Tag("T55")
class LoopFutureTest {

    private static List<Callable<String>> waits(CompletableFuture<String> future) {
        return List.of(
                future::get, () -> future.get(1, TimeUnit.HOURS), future::join, future.thenApply(text -> text)::get);
    }

    @Test
    void aWaitOnAnEventLoopThrowsAtOnce() throws InterruptedException {
        try (EventLoops loops = new EventLoops(1)) {
            for (Callable<String> wait : waits(new LoopFuture<>())) {
                assertThat(loops.group().submit(wait).await().cause()).isInstanceOf(BlockingOperationException.class);
            }
        }
    }

    @Test
    void whatIsThereMayBeTakenOnAnEventLoop() throws InterruptedException {
        try (EventLoops loops = new EventLoops(1)) {
            CompletableFuture<String> done = new LoopFuture<>();
            done.complete("it");
            for (Callable<String> wait : waits(done)) {
                assertThat(loops.group().submit(wait).await().getNow()).isEqualTo("it");
            }
        }
    }

    @Test
    void otherThreadsWait() throws InterruptedException, ExecutionException {
        CompletableFuture<String> future = new LoopFuture<>();
        CompletableFuture.runAsync(() -> future.complete("it"));
        assertThat(future.get()).isEqualTo("it");
    }
}
