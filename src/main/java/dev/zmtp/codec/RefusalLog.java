package dev.zmtp.codec;

import io.netty.channel.Channel;
import io.netty.util.internal.logging.InternalLogger;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Logs refused connections, at most one line a second: strangers must not write the log. Thread safe. */
final class RefusalLog {

    private static final long PERIOD = TimeUnit.SECONDS.toNanos(1);

    private final InternalLogger logger;
    private final LongSupplier nanoTime;

    /** When the last line was logged. Guarded by this. */
    private long lastLine;

    /** How many refusals were not logged since then, or -1 before the first line. Guarded by this. */
    private long suppressed = -1;

    RefusalLog(InternalLogger logger, LongSupplier nanoTime) {
        this.logger = logger;
        this.nanoTime = nanoTime;
    }

    void refused(Channel channel, String reason) {
        long others = othersToLog();
        if (others == 0) {
            logger.info("{} refused: {}", channel, reason);
        } else if (others > 0) {
            logger.info("{} refused: {}; {} more since the last line", channel, reason, others);
        }
    }

    /** Returns how many refusals the line counts besides its own, or -1 if there is to be no line now. */
    private synchronized long othersToLog() {
        long now = nanoTime.getAsLong();
        if (suppressed >= 0 && now - lastLine < PERIOD) {
            suppressed++;
            return -1;
        }
        long others = Math.max(suppressed, 0);
        lastLine = now;
        suppressed = 0;
        return others;
    }
}
