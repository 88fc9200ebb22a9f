package dev.zmtp.shm;

import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Timeout for the meeting of the two sides of a connection, and on the client the pending promise of {@code connect}.
 * Used on the channel's event loop.
 */
final class PendingConnect {

    private final SharedMemoryChannel channel;
    private @Nullable ChannelPromise promise;
    private @Nullable Future<?> timeout;

    PendingConnect(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    /** Returns whether a promise is pending. */
    boolean isWaiting() {
        return promise != null;
    }

    /** Begins with the {@code connect} of a client. Cancelling the promise closes the channel. */
    void begin(ChannelPromise promise) {
        this.promise = promise;
        startTimeout();
        promise.addListener(done -> {
            if (done.isCancelled()) {
                channel.closeNow();
            }
        });
    }

    /** Starts a timeout that fails the channel if the meeting takes too long, on either side. */
    void startTimeout() {
        int millis = channel.config().getConnectTimeoutMillis();
        if (millis > 0) {
            timeout = channel.eventLoop().schedule(() -> readFirst(millis), millis, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Fails the channel after a further read, because a delayed loop runs due tasks before it reads data that has
     * arrived.
     */
    private void readFirst(int millis) {
        timeout = channel.eventLoop().schedule(() -> channel.fail(timedOut(millis)), 0, TimeUnit.MILLISECONDS);
    }

    private static ConnectTimeoutException timedOut(int millis) {
        return new ConnectTimeoutException("shared memory: no meeting within " + millis + " ms");
    }

    void stopTimeout() {
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
    }

    /** Completes the promise, if any. Returns whether it was not cancelled. */
    boolean succeed() {
        ChannelPromise waiting = promise;
        promise = null;
        return waiting == null || waiting.trySuccess();
    }

    /** Fails the pending promise, if any, with {@code cause}. Returns whether a promise was pending. */
    boolean fail(Throwable cause) {
        ChannelPromise waiting = promise;
        if (waiting == null) {
            return false;
        }
        promise = null;
        waiting.tryFailure(cause);
        return true;
    }
}
