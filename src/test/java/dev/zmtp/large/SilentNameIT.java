package dev.zmtp.large;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.JavaProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A name whose lookup is never answered, as with a name server that drops what it gets. */
@Tag("slow")
@Tag("large")
@Tag("linux") // pipes
class SilentNameIT {

    private static final int NAMES = Size.of(20, 500);

    @TempDir
    private Path dir;

    @Test
    void aLookupWithoutAnAnswerHoldsUpNoOther() throws Exception {
        Path pipe = dir.resolve("hosts");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        List<String> options = List.of("-Djdk.net.hosts.file=" + pipe);
        List<String> command =
                JavaProcess.command(options, LookupProgram.class, dir.toString(), Integer.toString(NAMES));
        long start = System.nanoTime();
        try (JavaProcess program = new JavaProcess(command)) {
            for (String name :
                    IntStream.range(0, NAMES).mapToObj(LookupProgram::name).toList()) {
                assertThat(program.line()).isEqualTo(name);
            }
            assertThat(program.line()).isEqualTo("bound");
            Size.report(start, "%,d connections by name beside a lookup that is never answered".formatted(NAMES));
        }
    }
}
