package dev.zmtp.shm;

import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time that the two sides of a connection have to meet, and on the client the promise of {@code connect} that waits
 * for it. Used on the channel's event loop.
 */
final class PendingConnect {

    private final SharedMemoryChannel channel;
    private @Nullable ChannelPromise promise;
    private @Nullable Future<?> timeout;

    PendingConnect(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    /** Whether a promise waits. */
    boolean isWaiting() {
        return promise != null;
    }

    /** Begins with the {@code connect} of a client. Whoever cancels it closes the channel. */
    void begin(ChannelPromise promise) {
        this.promise = promise;
        startTimeout();
        promise.addListener(done -> {
            if (done.isCancelled()) {
                channel.closeNow();
            }
        });
    }

    /** Fails the channel if the meeting takes too long, on either side. */
    void startTimeout() {
        int millis = channel.config().getConnectTimeoutMillis();
        if (millis > 0) {
            timeout = channel.eventLoop().schedule(() -> readFirst(millis), millis, TimeUnit.MILLISECONDS);
        }
    }

    /** A loop that stood still runs what is due before it reads what has arrived: it fails the channel after that. */
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

    /** Completes the promise, if there is one; returns whether nobody has cancelled it. */
    boolean succeed() {
        ChannelPromise waiting = promise;
        promise = null;
        return waiting == null || waiting.trySuccess();
    }

    /** Returns whether a promise has waited, which fails with {@code cause}. */
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
