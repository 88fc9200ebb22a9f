package dev.zmtp.codec;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The time that a handshake may take, from the connection on; progress does not extend it. */
final class HandshakeTimer {

    private @Nullable Future<?> timeout;

    /** Runs {@code onTimeout} after {@code limit}, unless that is zero. */
    void start(EventExecutor executor, Duration limit, Runnable onTimeout) {
        if (!limit.isZero()) {
            timeout = executor.schedule(onTimeout, limit.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    void cancel() {
        if (timeout != null) {
            timeout.cancel(false);
        }
    }
}
