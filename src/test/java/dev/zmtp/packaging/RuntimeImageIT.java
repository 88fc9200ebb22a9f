package dev.zmtp.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.zmtp.security.CurveLibraries;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** jlink makes a run-time image of the module, Netty and a program: Netty 4.1 has no modules that it takes. */
@Tag("slow")
@Tag("netty-4.2-only")
class RuntimeImageIT {

    private static final int PATIENCE_SECONDS = 300;
    private static final Path JDK = Path.of(System.getProperty("java.home"));

    @TempDir
    private Path directory;

    @Test
    @Tag("T82")
    @Tag("T85")
    void aProgramRunsInAnImageOfItsRequiredModules() throws Exception {
        Path program = directory.resolve("program");
        Path image = directory.resolve("image");
        String libraries = Stream.concat(Stream.of(Jars.ours()), Jars.netty().stream())
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));

        run(
                tool("javac"),
                "--release",
                "17",
                "-proc:none",
                "--module-path",
                libraries,
                "-d",
                program.toString(),
                source("module-info.java", "module conversation { requires dev.zmtp; }"),
                "src/test/java/dev/zmtp/packaging/SmallProgram.java");
        run(
                tool("jlink"),
                "--module-path",
                libraries + File.pathSeparator + program,
                "--add-modules",
                "conversation",
                "--output",
                image.toString());

        String java = image.resolve("bin/java").toString();
        assertThat(run(java, "--list-modules").lines().map(module -> module.replaceFirst("@.*", "")))
                .contains("conversation", "dev.zmtp", "io.netty.common", "java.base")
                .doesNotContain("org.jspecify", "java.desktop", "jdk.jfr", "micrometer.core");
        assertThat(run(java, "--module", "conversation/dev.zmtp.packaging.SmallProgram")
                        .strip())
                .isEqualTo(SmallProgram.OUTCOME);
        if (CurveLibraries.hasLibsodium()) {
            assertThat(run(
                                    java,
                                    "--enable-native-access=dev.zmtp",
                                    "--module",
                                    "conversation/dev.zmtp.packaging.SmallProgram")
                            .strip())
                    .isEqualTo(SmallProgram.OUTCOME_WITH_CURVE);
        }
    }

    private String source(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    /** A tool of the JDK that runs the tests, which a JRE, or a JDK in several packages, may lack. */
    private static String tool(String name) {
        Path tool = JDK.resolve("bin").resolve(name);
        if (!Files.isExecutable(tool)) {
            missing(tool + ": missing (expected: the tools of a whole JDK)");
        }
        return tool.toString();
    }

    private static void missing(String what) {
        if (Boolean.parseBoolean(System.getenv("CI"))) {
            throw new AssertionError(what);
        }
        abort(what);
    }

    /** Returns what the command writes to its standard output; a failure has all of its output. */
    private String run(String... command) throws IOException, InterruptedException {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .as("the end of %s", List.of(command))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(out, StandardCharsets.UTF_8);
        assertThat(process.exitValue())
                .as(() -> String.join(" ", command) + "\n" + said + read(err))
                .isZero();
        return said;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
