package dev.zmtp.shm;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The log of a server that cannot create a file, at most one line a second, as each client makes it try. Thread safe.
 * Not an event of its pipeline: Netty's bootstrap accepts nothing for a second after one.
 */
final class RefusalLog {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(SharedMemoryServerChannel.class);
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;

    // Guarded by this
    private boolean used;
    private long lastLine;
    private long suppressed;

    /** {@code nanoTime} is the clock, {@link System#nanoTime} outside of tests. */
    RefusalLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Logs why {@code server} has refused a client, or counts it as suppressed. */
    void log(Object server, Throwable cause) {
        long missed;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            if (used && now - lastLine < INTERVAL_NANOS) {
                suppressed++;
                return;
            }
            used = true;
            lastLine = now;
            missed = suppressed;
            suppressed = 0;
        }
        String more = missed == 0 ? "" : " (" + missed + " more before it)";
        logger.warn("{} refused a client{}: {}", server, more, String.valueOf(cause));
    }
}
