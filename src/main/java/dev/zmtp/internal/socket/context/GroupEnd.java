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
 * The future of the end of all threads of one group of event loops, which it makes, and of the groups
 * before.
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

    /** Null if they have ended. */
    private @Nullable CompletableFuture<Void> before;

    /** Those that may run. */
    private final Queue<Thread> made = new ConcurrentLinkedQueue<>();

    /** @param before the end of those that there were before, which this one waits for, too */
    GroupEnd(CompletableFuture<Void> before) {
        this.before = before;
    }

    ThreadFactory threads() {
        return new Threads();
    }

    /** Begins to wait for the end of the group that has these threads. */
    void of(EventLoopGroup group) {
        group.terminationFuture().addListener(f -> look());
    }

    /** An event loop has ended a moment before its thread. */
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
