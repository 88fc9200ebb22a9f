package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Runs programs of the system and returns what they print. */
final class Tools {

    private static final int SECONDS = 60;

    /** What a program printed, errors included, and its exit code. */
    record Printed(int exitCode, String text) {}

    private Tools() {}

    /** Runs {@code command}; absent if there is no such program, or if it takes more than a minute. */
    static Optional<Printed> run(String... command) throws IOException, InterruptedException {
        return run(SECONDS, command);
    }

    /** The same for one that may take longer. */
    static Optional<Printed> run(int seconds, String... command) throws IOException, InterruptedException {
        Path printed = Files.createTempFile("compare", ".txt");
        try {
            Process process = new ProcessBuilder(List.of(command))
                    .redirectErrorStream(true)
                    .redirectOutput(printed.toFile())
                    .start();
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return Optional.empty();
            }
            return Optional.of(
                    new Printed(process.exitValue(), new String(Files.readAllBytes(printed), UTF_8).strip()));
        } catch (IOException e) {
            return Optional.empty();
        } finally {
            Files.deleteIfExists(printed);
        }
    }
}
