package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.CapturedLog;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Strangers that are refused cannot write the log. */
class RefusalLogTest {

    private final AtomicLong time = new AtomicLong(Long.MAX_VALUE - 5); // nanoTime may overflow
    private final CapturedLog captured = new CapturedLog("refusals");
    private final RefusalLog log = new RefusalLog(InternalLoggerFactory.getInstance("refusals"), time::get);
    private final Channel channel = new EmbeddedChannel();

    @AfterEach
    void close() {
        captured.close();
    }

    @Test
    void theFirstRefusalIsLoggedAtOnce() {
        log.refused(channel, "too many");
        assertThat(captured.lines).containsExactly(channel + " refused: too many");
    }

    @Test
    void thereIsOneLineASecondWhichCountsTheOthers() {
        log.refused(channel, "first");
        log.refused(channel, "second");
        time.addAndGet(TimeUnit.SECONDS.toNanos(1) - 1);
        log.refused(channel, "third");
        assertThat(captured.lines).hasSize(1);

        time.addAndGet(1);
        log.refused(channel, "fourth");
        assertThat(captured.lines)
                .containsExactly(channel + " refused: first", channel + " refused: fourth; 2 more since the last line");
    }

    @Test
    void eachLineCountsFromZero() {
        log.refused(channel, "first");
        log.refused(channel, "second");
        for (String reason : new String[] {"third", "fourth"}) {
            time.addAndGet(TimeUnit.SECONDS.toNanos(1));
            log.refused(channel, reason);
        }
        assertThat(captured.lines).last().isEqualTo(channel + " refused: fourth");
    }
}
