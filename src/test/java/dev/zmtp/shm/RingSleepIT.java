package dev.zmtp.shm;

import dev.zmtp.testing.StressRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class RingSleepIT {

    @TempDir
    Path directory;

    @Test
    @Timeout(300)
    void neitherSideOfARingIsLeftAsleep() throws IOException, InterruptedException {
        StressRun.check(
                directory,
                List.of(RingSleepStress.class),
                "-m",
                "quick",
                "-time",
                "100",
                "-iters",
                "2",
                "-jvmArgs", // one way to compile in place of all: it is the processor that lets a load overtake a store
                "-XX:+UseSerialGC");
    }
}
