package dev.zmtp.internal.runtime;

import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A log with at most one line per second, for events that a peer can trigger without bound. Each line has the number of
 * lines suppressed before it. The stack trace is logged with the first line, and again after a minute without events.
 * Thread safe. A line that cannot be written is lost, without an exception.
 */
public final class RateLimitedLog {

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final InternalLogger logger;
    private final InternalLogLevel level;
    private final LongSupplier nanoTime;

    // Guarded by this
    private boolean used;
    private long lastLine;
    private long lastCall;
    private long suppressed;

    /** Logs at {@code level}; {@code nanoTime} is the clock, {@link System#nanoTime} except in tests. */
    public RateLimitedLog(InternalLogger logger, InternalLogLevel level, LongSupplier nanoTime) {
        this.logger = logger;
        this.level = level;
        this.nanoTime = nanoTime;
    }

    /** Logs the event {@code what} of {@code subject}, or counts it as suppressed. */
    public void log(Object subject, String what, @Nullable Throwable cause) {
        if (!logger.isEnabled(level)) {
            return;
        }
        long missed;
        boolean withTrace;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            withTrace = !used || now - lastCall >= QUIET_NANOS;
            lastCall = now;
            if (used && now - lastLine < INTERVAL_NANOS) {
                suppressed++;
                return;
            }
            used = true;
            lastLine = now;
            missed = suppressed;
            suppressed = 0;
        }
        try {
            write(subject, what, cause, missed, withTrace);
        } catch (Throwable e) {
            // Memory is used up, or the cause cannot be printed. The caller must continue anyway.
        }
    }

    private void write(Object subject, String what, @Nullable Throwable cause, long missed, boolean withTrace) {
        String line = subject + " " + what + (missed == 0 ? "" : " (" + missed + " more before it)");
        if (cause == null) {
            logger.log(level, line);
        } else if (withTrace) {
            logger.log(level, line, cause);
        } else {
            logger.log(level, line + ": " + cause);
        }
    }
}
