package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FileThreadTest {

    private static Thread thread() throws Exception {
        return CompletableFuture.supplyAsync(Thread::currentThread, FileThread.SHARED)
                .get(10, TimeUnit.SECONDS);
    }

    @Test
    void filesAreMadeByAThreadThatKeepsNoProgramAlive() throws Exception {
        assertThat(thread().getName()).isEqualTo("zmtp-shm-files");
        assertThat(thread().isDaemon()).isTrue();
    }

    @Test
    void theThreadOfFilesEndsWhenItIsIdle() throws Exception {
        Thread thread = thread();
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(thread.isAlive()).isFalse();
    }
}
