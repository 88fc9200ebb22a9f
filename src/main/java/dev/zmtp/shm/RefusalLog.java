package dev.zmtp.shm;

import dev.zmtp.internal.runtime.RateLimitedLog;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;

/**
 * The log of a server that has no file for a client, as each client makes it try. Not an event of its pipeline: Netty's
 * bootstrap accepts nothing for a second after one. Thread safe.
 */
final class RefusalLog {

    private final RateLimitedLog log = new RateLimitedLog(
            InternalLoggerFactory.getInstance(SharedMemoryServerChannel.class),
            InternalLogLevel.WARN,
            System::nanoTime);

    /** Logs why {@code server} has refused a client, or counts it as suppressed. */
    void log(Object server, Throwable cause) {
        log.log(server, "refused a client: " + cause, null);
    }
}
