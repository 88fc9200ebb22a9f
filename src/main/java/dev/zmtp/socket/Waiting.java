package dev.zmtp.socket;

import static dev.zmtp.socket.ZMTPSocketException.Reason.STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The calls that block. */
final class Waiting {

    private final EventLoopGroup group;

    Waiting(EventLoopGroup group) {
        this.group = group;
    }

    /** Checks that this thread is none of the event loops, which must not wait for themselves. */
    void check() {
        for (EventExecutor executor : group) {
            if (executor.inEventLoop()) {
                throw new IllegalStateException("waiting on an event loop would stop it");
            }
        }
    }

    static <T> T await(CompletableFuture<T> future, Duration timeout, String missing) throws InterruptedException {
        try {
            return future.get(Settings.nanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new ZMTPSocketException(TIMEOUT, missing + " within " + timeout);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ZMTPSocketException cause) {
                throw cause;
            }
            throw new ZMTPSocketException(STATE, "it failed", e.getCause());
        }
    }

    /** A message that arrives at the moment of an interrupt or timeout is returned all the same: it would be lost. */
    static ZMTPMessage receive(CompletableFuture<ZMTPMessage> received, Duration timeout) throws InterruptedException {
        try {
            return await(received, timeout, "no message");
        } catch (InterruptedException e) {
            if (received.cancel(false) || received.isCompletedExceptionally()) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return received.join();
        } catch (ZMTPSocketException e) {
            if (e.reason() == TIMEOUT && !received.cancel(false) && !received.isCompletedExceptionally()) {
                return received.join();
            }
            throw e;
        }
    }
}
