package dev.zmtp.internal.socket.context;

import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls that block until a future completes. On an event loop, they throw instead. */
public final class Waiting {

    private Waiting() {}

    public static <T> T await(CompletableFuture<T> future) throws InterruptedException {
        LoopFuture.checkMayWait();
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    public static <T> T await(CompletableFuture<T> future, Duration timeout, Supplier<ZMTPSocketException> late)
            throws InterruptedException {
        LoopFuture.checkMayWait();
        try {
            return future.get(Settings.nanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw late.get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    /** Throws if the thread has been interrupted. */
    public static void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** Returns the result of a completed future. From any thread. */
    public static <T> T done(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw failure(e);
        }
    }

    private static ZMTPSocketException failure(Exception e) {
        return e.getCause() instanceof ZMTPSocketException known
                ? known.withStackTrace()
                : new ZMTPSocketException(ILLEGAL_STATE, "it failed: " + e.getMessage(), e.getCause());
    }

    /** Waits for an answer. If the thread is interrupted, the answer is discarded. */
    public static ZMTPMessage answer(CompletableFuture<ZMTPMessage> answer) throws InterruptedException {
        try {
            return await(answer);
        } catch (InterruptedException e) {
            if (!answer.cancel(false) && !answer.isCompletedExceptionally()) {
                answer.join().release();
            }
            throw e;
        }
    }

    /** Waits for an end that always comes, unless this is an event loop or the thread is interrupted. */
    public static void end(CompletableFuture<?> closed) {
        if (!LoopFuture.mayWait()) {
            return;
        }
        try {
            closed.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new AssertionError("it always completes", e);
        }
    }

    public static <T> T receive(CompletableFuture<T> received) throws InterruptedException {
        return Objects.requireNonNull(receive(received, null), "it waits until there is one");
    }

    /**
     * Waits for a message. A message that arrives at the moment of an interrupt or timeout is returned anyway, because
     * it would otherwise be lost.
     *
     * @return null if no message has arrived in time
     */
    public static <T> @Nullable T receive(CompletableFuture<T> received, @Nullable Duration timeout)
            throws InterruptedException {
        LoopFuture.checkMayWait();
        try {
            return timeout == null ? received.get() : received.get(Settings.nanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return received.cancel(false) ? null : done(received);
        } catch (InterruptedException e) {
            if (received.cancel(false) || received.isCompletedExceptionally()) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return done(received);
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }
}
