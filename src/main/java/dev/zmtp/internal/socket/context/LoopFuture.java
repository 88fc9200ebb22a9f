package dev.zmtp.internal.socket.context;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.BlockingOperationException;
import io.netty.util.internal.ThreadExecutorMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A future that does not wait on an event loop, which would stand still. Those that are made of it do not, either. */
public class LoopFuture<T> extends CompletableFuture<T> {

    /**
     * Checks that this thread may wait.
     *
     * @throws BlockingOperationException if it is the thread of an event loop
     */
    public static void checkMayWait() {
        if (!mayWait()) {
            throw new BlockingOperationException("a call that waits, on an event loop (expected: on another thread)");
        }
    }

    /** Returns whether this thread is not that of an event loop. */
    public static boolean mayWait() {
        return !(ThreadExecutorMap.currentExecutor() instanceof EventLoop);
    }

    private void checkDone() {
        if (!isDone()) {
            checkMayWait();
        }
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new LoopFuture<>();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        checkDone();
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        checkDone();
        return super.get(timeout, unit);
    }

    @Override
    public T join() {
        checkDone();
        return super.join();
    }
}
