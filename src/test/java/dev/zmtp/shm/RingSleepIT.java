package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.JavaProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.Main;

@Tag("slow")
class RingSleepIT {

    @TempDir
    Path directory;

    @Test
    @Timeout(300)
    void neitherSideOfARingIsLeftAsleep() throws Exception {
        Path output = directory.resolve("output");
        Process stress = new ProcessBuilder(JavaProcess.command(
                        List.of(),
                        Main.class,
                        "-t",
                        RingSleepStress.class.getName(),
                        "-m",
                        "quick",
                        "-v",
                        "-sc",
                        "false",
                        "-time",
                        "40",
                        "-iters",
                        "2"))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(stress.waitFor(240, TimeUnit.SECONDS)).isTrue();
            assertThat(stress.exitValue()).as(() -> read(output)).isZero();
            assertThat(read(output))
                    .contains("[OK] " + RingSleepStress.Reader.class.getCanonicalName())
                    .contains("[OK] " + RingSleepStress.Writer.class.getCanonicalName());
        } finally {
            stress.destroyForcibly();
        }
    }

    private static String read(Path output) {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
