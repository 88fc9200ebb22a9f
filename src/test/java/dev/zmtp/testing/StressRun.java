package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jcstress.Main;

/** Runs cases of jcstress in a process of its own. */
public final class StressRun {

    private StressRun() {}

    /**
     * Fails unless the cases of the classes have shown nothing but what they accept.
     *
     * @param directory for the report
     * @param options for jcstress: the mode, and the time for each case
     */
    public static void check(Path directory, List<Class<?>> classes, String... options)
            throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        String names = String.join("|", classes.stream().map(Class::getName).toList());
        List<String> command =
                new ArrayList<>(JavaProcess.command(List.of(), Main.class, "-t", names, "-v", "-sc", "false"));
        command.addAll(List.of(options));
        Process stress = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(stress.waitFor(240, TimeUnit.SECONDS)).isTrue();
            assertThat(stress.exitValue()).as(() -> read(output)).isZero();
            assertThat(read(output)).contains(passed(classes));
        } finally {
            stress.destroyForcibly();
        }
    }

    /** What is printed of each case that has passed. */
    private static List<String> passed(List<Class<?>> classes) {
        return classes.stream()
                .flatMap(each -> Stream.of(each.getClasses()))
                .map(each -> "[OK] " + each.getCanonicalName())
                .toList();
    }

    private static String read(Path output) {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
