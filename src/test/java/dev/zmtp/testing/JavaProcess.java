package dev.zmtp.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Java program that runs in a process of its own, with the class path of the tests. Its lines are waited for with
 * patience, so that a program which says nothing fails a test and does not hang it. {@link #close} kills it.
 */
public final class JavaProcess implements AutoCloseable {

    /** Far more than anything takes: only a failing test waits so long. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Process process;
    private final Path errors;

    /** What it has printed; an empty one is the end. */
    private final BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();

    /** Starts the command, which is most often one of {@link #command}. */
    public JavaProcess(List<String> command) throws IOException {
        errors = Files.createTempFile("errors", ".txt");
        process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        Thread reader = new Thread(this::read, "lines of " + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /** Returns what starts the program with this JVM's own binary, with options for the JVM. */
    public static List<String> command(List<String> options, Class<?> program, String... arguments) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Stream<String> main = Stream.of("-cp", System.getProperty("java.class.path"), program.getName());
        return Stream.of(Stream.of(java), options.stream(), main, Arrays.stream(arguments))
                .flatMap(words -> words)
                .toList();
    }

    /** Returns what starts {@code command} under a limit of the operating system, such as {@code -n 120}. */
    public static List<String> limited(String limit, List<String> command) {
        Stream<String> shell = Stream.of("sh", "-c", "ulimit " + limit + "; exec \"$@\"", "sh");
        return Stream.concat(shell, command.stream()).toList();
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            output.lines().map(Optional::of).forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            // It was killed.
        }
        lines.add(Optional.empty());
    }

    /** Waits for the next line that it prints. */
    public String line() throws InterruptedException {
        Optional<String> line = lines.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        if (line == null) {
            throw new AssertionError("line: none (expected: one within " + PATIENCE + ")\n" + errors());
        }
        return line.orElseThrow(() -> new AssertionError("line: none, the process has ended\n" + errors()));
    }

    /** Waits for its end, and returns the lines that it has printed until then. */
    public List<String> rest() throws InterruptedException {
        List<String> rest = new ArrayList<>();
        Optional<String> next = lines.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        while (next != null && next.isPresent()) {
            rest.add(next.get());
            next = lines.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        }
        if (next == null) {
            throw new AssertionError("process: it runs (expected: ended)\n" + errors());
        }
        return rest;
    }

    private String errors() {
        try {
            return Files.readString(errors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public long pid() {
        return process.pid();
    }

    /** Whether it ends within this time. */
    public boolean endsWithin(Duration time) throws InterruptedException {
        return process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Kills it, which gives it no chance to clean up, and waits for its end. */
    public void kill() {
        kill(process);
    }

    /**
     * Kills a process, and waits for its end with patience. {@link Process#onExit} would wait for the common pool,
     * which has one thread on a small machine, and that one may be a test's.
     */
    public static void kill(Process process) {
        try {
            if (!process.destroyForcibly().waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("process " + process.pid() + ": alive " + PATIENCE + " after it was killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        kill();
        Files.deleteIfExists(errors);
    }
}
