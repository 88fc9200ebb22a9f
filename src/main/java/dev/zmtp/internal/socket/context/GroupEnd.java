package dev.zmtp.internal.socket.context;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A future that completes when all threads of an event loop group, which it creates, and all previous groups have
 * ended.
 */
final class GroupEnd extends LoopFuture<Void> {

    private final class Threads extends DefaultThreadFactory {
        Threads() {
            super("zmtp-socket", true);
        }

        @Override
        protected Thread newThread(Runnable task, String name) {
            Thread thread = super.newThread(task, name);
            made.add(thread);
            return thread;
        }
    }

    /** End of the previous groups; null if they have ended. */
    private @Nullable CompletableFuture<Void> before;

    /** Threads that might still be running. */
    private final Queue<Thread> made = new ConcurrentLinkedQueue<>();

    /** @param before the end of the previous groups, which this future also waits for */
    GroupEnd(CompletableFuture<Void> before) {
        this.before = before;
    }

    ThreadFactory threads() {
        return new Threads();
    }

    /** Starts to wait for the end of the group that runs on these threads. */
    void of(EventLoopGroup group) {
        group.terminationFuture().addListener(f -> look());
    }

    /** Checks again later, because an event loop ends a moment before its thread. */
    private void look() {
        made.removeIf(thread -> !thread.isAlive());
        if (before != null && before.isDone()) {
            before = null;
        }
        if (made.isEmpty() && before == null) {
            complete(null);
        } else {
            GlobalEventExecutor.INSTANCE.schedule(this::look, 1, TimeUnit.MILLISECONDS);
        }
    }
}
