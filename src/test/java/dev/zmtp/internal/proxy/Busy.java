package dev.zmtp.internal.proxy;

import dev.zmtp.testing.Blocking;
import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** An event loop that does nothing until it is told. */
final class Busy {

    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private final CountDownLatch over = new CountDownLatch(1);

    Busy(EventLoop loop) {
        loop.execute(() -> {
            begun.complete(null);
            try {
                Blocking.allow(over::await);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Completes when the event loop does nothing. */
    CompletableFuture<Void> begun() {
        return begun;
    }

    void end() {
        over.countDown();
    }
}
