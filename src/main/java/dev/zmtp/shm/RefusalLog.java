package dev.zmtp.shm;

import dev.zmtp.internal.runtime.RateLimitedLog;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;

/**
 * Log of a server that has no file for a client, which each client can cause. It is not an event of the server's
 * pipeline, because Netty's bootstrap stops accepting for a second after such an event. Thread safe.
 */
final class RefusalLog {

    private final RateLimitedLog log = new RateLimitedLog(
            InternalLoggerFactory.getInstance(SharedMemoryServerChannel.class),
            InternalLogLevel.WARN,
            System::nanoTime);

    /** Logs the reason for a refusal by {@code server}, or counts it as suppressed. */
    void log(Object server, Throwable cause) {
        log.log(server, "refused a client: " + cause, null);
    }
}
