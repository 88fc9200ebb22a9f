package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import io.netty.util.concurrent.Future;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;

/** The check sees what blocks: otherwise it would pass for nothing. */
class BlockingCheckTest {

    @Test
    void aSleepOnAnEventLoopIsCaught() throws Exception {
        try (EventLoops loops = new EventLoops(1)) {
            Future<?> sleep = loops.group().submit(() -> {
                Thread.sleep(1);
                return null;
            });

            assertThat(sleep.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(sleep.cause()).isInstanceOf(BlockingOperationError.class).hasMessageContaining("sleep");
            assertThat(BlockingCheck.takeCalls()).hasSize(1);
        }
    }

    @Test
    void aWaitOnAnEventLoopIsCaught() throws Exception {
        try (EventLoops loops = new EventLoops(1)) {
            Future<?> wait = loops.group().submit(() -> new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS));

            assertThat(wait.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(wait.cause()).isInstanceOf(BlockingOperationError.class).hasMessageContaining("park");
            assertThat(BlockingCheck.takeCalls()).hasSize(1);
        }
    }

    @Test
    void theLibraryMayNotBlockATestsThreadEither() {
        CompletableFuture<Iterator<CharSequence>> never = new CompletableFuture<>();

        assertThatThrownBy(() -> ZMTPMessage.fromUTF8(never::join))
                .isInstanceOf(BlockingOperationError.class)
                .hasMessageContaining("park");
        assertThat(BlockingCheck.takeCalls()).hasSize(1);
    }

    @Test
    void aTestMayWaitOnItsOwnThread() throws Exception {
        assertThat(new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS)).isFalse();

        assertThat(BlockingCheck.takeCalls()).isEmpty();
    }

    @Test
    void aTestMayBlockAnEventLoopOnPurpose() throws Exception {
        try (EventLoops loops = new EventLoops(1)) {
            Future<?> wait = loops.group().submit(() -> {
                Blocking.allow(() -> new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS));
                return null;
            });

            assertThat(wait.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(wait.isSuccess()).isTrue();
            assertThat(BlockingCheck.takeCalls()).isEmpty();
        }
    }

    @Test
    @Tag("netty-4.2-only")
    void aLocalEventLoopMayBeIdle() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
        try {
            assertThat(group.schedule(() -> {}, 1, TimeUnit.MILLISECONDS).await(10, TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).await();
        }

        assertThat(BlockingCheck.takeCalls()).isEmpty();
    }

    @Test
    void aTestThatBlocksFailsAtItsEnd() throws Exception {
        try (EventLoops loops = new EventLoops(1)) {
            assertThat(loops.group().submit(() -> LockSupport.parkNanos(1)).await(10, TimeUnit.SECONDS))
                    .isTrue();
        }
        BlockingCheck check = new BlockingCheck();

        assertThatThrownBy(check::check)
                .isInstanceOf(AssertionError.class)
                .hasMessage("event loops were blocked 1 times (expected: never)")
                .satisfies(failure ->
                        assertThat(failure.getSuppressed()).hasOnlyElementsOfType(BlockingOperationError.class));
        check.check();
    }
}
