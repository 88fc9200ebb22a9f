package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.TestSockets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LookupTest {

    @Test
    void namesAreLookedUpByOneThreadThatKeepsNoProgramAlive() {
        CompletableFuture<Thread> first = CompletableFuture.supplyAsync(Thread::currentThread, Lookup.SHARED);
        CompletableFuture<Thread> second = CompletableFuture.supplyAsync(Thread::currentThread, Lookup.SHARED);

        Thread thread = TestSockets.get(first);
        assertThat(thread.isDaemon()).isTrue();
        assertThat(TestSockets.get(second)).isSameAs(thread);
    }

    @Test
    void theThreadEndsWhenItIsIdle() throws InterruptedException {
        Thread thread = TestSockets.get(CompletableFuture.supplyAsync(Thread::currentThread, Lookup.SHARED));

        thread.join(TestSockets.PATIENCE.toMillis());

        assertThat(thread.isAlive()).isFalse();
    }
}
