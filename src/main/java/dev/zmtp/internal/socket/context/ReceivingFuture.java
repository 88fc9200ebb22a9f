package dev.zmtp.internal.socket.context;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * The future of a message. If it is completed in another way, such as by its caller or a timer, it first gives up its
 * claim to the message, which the next receiver gets.
 */
public abstract class ReceivingFuture<T> extends LoopFuture<T> {

    /** Gives up its claim. Returns false if it has got the message. From any thread. */
    protected abstract boolean giveUp();

    /** Called after each attempt to complete it in another way. */
    protected void attempted() {}

    /** Completes with the message. Returns false if the future was completed before. */
    protected final boolean received(T message) {
        return super.complete(message);
    }

    /** Completes with the failure of the message. Returns false if the future was completed before. */
    protected final boolean failed(Throwable cause) {
        return super.completeExceptionally(cause);
    }

    @Override
    public final boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = giveUp() ? super.cancel(mayInterruptIfRunning) : isCancelled();
        attempted();
        return cancelled;
    }

    @Override
    public final boolean complete(T other) { // completeOnTimeout also calls this
        boolean completed = giveUp() && super.complete(other);
        attempted();
        return completed;
    }

    @Override
    public final boolean completeExceptionally(Throwable cause) { // orTimeout also calls this
        boolean completed = giveUp() && super.completeExceptionally(cause);
        attempted();
        return completed;
    }

    @Override
    public final CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        completeBy(supplier, executor);
        return this;
    }

    @Override
    public final void obtrudeValue(T value) {
        giveUp();
        super.obtrudeValue(value);
        attempted();
    }

    @Override
    public final void obtrudeException(Throwable cause) {
        giveUp();
        super.obtrudeException(cause);
        attempted();
    }
}
