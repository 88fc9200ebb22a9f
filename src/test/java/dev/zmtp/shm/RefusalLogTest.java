package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.CapturedLog;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RefusalLogTest {

    @Test
    void oneRefusalASecondIsLoggedAndTheOthersAreCounted() {
        AtomicLong clock = new AtomicLong(-5); // any number is a time
        RefusalLog refusals = new RefusalLog(clock::get);
        try (CapturedLog log = new CapturedLog(SharedMemoryServerChannel.class.getName())) {
            refusals.log("server", new IOException("full"));
            refusals.log("server", new IOException("full"));
            clock.addAndGet(TimeUnit.SECONDS.toNanos(1) - 1);
            refusals.log("server", new IOException("full"));
            clock.addAndGet(1);
            refusals.log("server", new IOException("fuller"));
            assertThat(log.lines)
                    .containsExactly(
                            "server refused a client: java.io.IOException: full",
                            "server refused a client (2 more before it): java.io.IOException: fuller");
        }
    }
}
