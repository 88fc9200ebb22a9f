package dev.zmtp.internal.socket.context;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A future that all callers get, and that they cannot complete. A copy for each caller would be kept until the end,
 * because the JDK does not forget what depends on a future.
 */
public final class SharedFuture<T> extends LoopFuture<T> {

    /** Completes the future with its result, which is null if there is none. */
    public void succeed(@Nullable T value) {
        super.complete(value);
    }

    /** Completes the future with its failure. */
    public void fail(Throwable cause) {
        super.completeExceptionally(cause);
    }

    /** Returns false, because only the socket completes the future. */
    @Override
    public boolean complete(T value) {
        return false;
    }

    /** Returns false, like {@link #complete}. */
    @Override
    public boolean completeExceptionally(Throwable cause) {
        return false;
    }

    /** Returns false, like {@link #complete}. */
    @Override
    public boolean cancel(boolean mayInterrupt) {
        return false;
    }

    @Override
    public void obtrudeValue(T value) {
        throw new UnsupportedOperationException("obtrudeValue: the future is shared");
    }

    @Override
    public void obtrudeException(Throwable cause) {
        throw new UnsupportedOperationException("obtrudeException: the future is shared");
    }

    /** Completes a copy. */
    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        return copy().completeAsync(supplier, executor);
    }

    /** Limits the time of a copy. */
    @Override
    public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        return copy().orTimeout(timeout, unit);
    }

    /** Completes a copy. */
    @Override
    public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return copy().completeOnTimeout(value, timeout, unit);
    }
}
