package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The threads on which handshakes compute by default. */
class HandshakeExecutorTest {

    private static final int PATIENCE_SECONDS = 30;
    private static final int MAX_WAITING = 10_000;

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

    @Test
    void threadsLeaveRoomForEventLoops() throws Exception {
        assertThat(thread().getPriority()).isLessThan(Thread.NORM_PRIORITY);
        ThreadPoolExecutor pool = (ThreadPoolExecutor) HandshakeExecutor.shared();
        int half = Runtime.getRuntime().availableProcessors() / 2;
        assertThat(pool.getMaximumPoolSize()).isEqualTo(Math.max(1, half));
    }

    @Test
    void aFullExecutorCollectsNoStackTrace() {
        CountDownLatch end = new CountDownLatch(1);
        ThreadPoolExecutor pool = HandshakeExecutor.newExecutor();
        Runnable waiting = () -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        for (int i = 0; i < pool.getMaximumPoolSize() + MAX_WAITING; i++) {
            pool.execute(waiting);
        }
        assertThatThrownBy(() -> pool.execute(waiting))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("handshakes waiting: 10000 (expected: fewer)")
                .satisfies(e -> assertThat(e.getStackTrace()).isEmpty());
        end.countDown();
        pool.shutdown();
    }
}
