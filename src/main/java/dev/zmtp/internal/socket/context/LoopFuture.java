package dev.zmtp.internal.socket.context;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.BlockingOperationException;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.ThreadExecutorMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** A future that refuses to block an event loop. The futures derived from it refuse as well. */
public class LoopFuture<T> extends CompletableFuture<T> {

    /**
     * Checks that this thread may block.
     *
     * @throws BlockingOperationException if this is an event loop thread
     */
    public static void checkMayWait() {
        if (!mayWait()) {
            boolean isTest = ThreadExecutorMap.currentExecutor() instanceof Surroundings;
            throw new BlockingOperationException("blocking call on an event loop thread"
                    + (isTest ? ", which this is until its ZMTPTestLoop is closed" : ""));
        }
    }

    /**
     * Returns whether this thread may block, which is true for all threads except those of event loops and of Netty's
     * {@link GlobalEventExecutor}. The latter notifies all sockets of the end of their event loops.
     */
    public static boolean mayWait() {
        EventExecutor here = ThreadExecutorMap.currentExecutor();
        return !(here instanceof EventLoop || here instanceof GlobalEventExecutor);
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

    /**
     * Completes the future by a task of the executor, like {@link #completeAsync}, but by the methods that a subclass
     * has overridden. Those of the JDK would not be called.
     */
    protected final void completeBy(Supplier<? extends T> supplier, Executor executor) {
        executor.execute(() -> {
            try {
                if (!isDone()) {
                    complete(supplier.get());
                }
            } catch (Throwable e) {
                completeExceptionally(e);
            }
        });
    }
}
