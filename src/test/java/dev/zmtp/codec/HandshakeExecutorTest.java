package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The threads on which handshakes compute by default. */
class HandshakeExecutorTest {

    private static final int PATIENCE_SECONDS = 30;

    private static Thread thread() throws Exception {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        HandshakeExecutor.shared().execute(() -> thread.complete(Thread.currentThread()));
        return thread.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void blockHoundDoesNotWatchTheseThreads() throws Exception {
        assertThat(thread()).isNotInstanceOf(FastThreadLocalThread.class);
    }

    @Test
    void threadsAreDaemons() throws Exception {
        assertThat(thread().isDaemon()).isTrue();
        assertThat(thread().getName()).startsWith("zmtp-handshake-");
    }
}
