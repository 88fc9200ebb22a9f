package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A running peer program: one command a line in, one answer a line out. Every wait ends after the patience that it was
 * started with, and {@link #close} leaves no process behind.
 */
final class PeerProcess implements AutoCloseable {

    /** The line of a program that has ended, which no program can print. */
    private static final String END = "\n";

    private static final String UNSUPPORTED = "unsupported=";
    private static final int ERRORS_KEPT = 200;

    private final String role;
    private final Process process;
    private final Duration patience;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> errors = new LinkedBlockingQueue<>(ERRORS_KEPT);

    /** A process that is paused does not notice the end of its input: nothing else would end it. */
    private final Thread killer;

    private boolean paused;

    private PeerProcess(String role, Process process, Duration patience) {
        this.role = role;
        this.process = process;
        this.patience = patience;
        this.killer = new Thread(process::destroyForcibly);
    }

    /** Starts {@code command}; {@code role} is its name in messages. */
    static PeerProcess start(String role, List<String> command, Duration patience) throws NotMeasuredException {
        Process process;
        try {
            process = new ProcessBuilder(command).start();
        } catch (IOException e) {
            throw new NotMeasuredException(role + " did not start: " + e.getMessage(), true);
        }
        PeerProcess peer = new PeerProcess(role, process, patience);
        Runtime.getRuntime().addShutdownHook(peer.killer);
        Thread errorReader = peer.reader("errors", process.getErrorStream(), peer.errors::offer, () -> {});
        // The reason that is reported is what the program wrote before it died, so its end comes after that.
        peer.reader("lines", process.getInputStream(), peer.lines::add, () -> {
            joinFor(errorReader, Duration.ofSeconds(1));
            peer.lines.add(END);
        });
        return peer;
    }

    /** The rest of the next line, which starts with {@code prefix}. */
    String await(String prefix) throws NotMeasuredException, InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new NotMeasuredException(
                        role + " did not print \"" + prefix.strip() + "\" within " + patience.toMillis() + " ms", true);
            }
            if (line.equals(END)) {
                process.waitFor(1, TimeUnit.SECONDS);
                throw failed("ended before \"" + prefix.strip() + "\"" + ending());
            }
            if (line.startsWith(UNSUPPORTED)) {
                throw new NotMeasuredException(line.substring(UNSUPPORTED.length()), true);
            }
            if (line.startsWith(prefix)) {
                return line.substring(prefix.length());
            }
            // A JVM prints its own warnings on the standard output.
            if (!line.contains(" VM warning: ")) {
                throw failed("printed \"" + line + "\" (expected: " + prefix.strip() + ")");
            }
        }
    }

    /** Asks for the figures of this moment. */
    Mark mark() throws NotMeasuredException, InterruptedException {
        send("mark");
        try {
            return Mark.parse(Mark.PREFIX + await(Mark.PREFIX));
        } catch (IllegalArgumentException e) {
            throw failed("gave a wrong answer, " + e.getMessage());
        }
    }

    /** Asks for the latencies since it was asked last. */
    Latencies latencies() throws NotMeasuredException, InterruptedException {
        send("latencies");
        try {
            return Latencies.parse(Latencies.PREFIX + await(Latencies.PREFIX));
        } catch (IllegalArgumentException e) {
            throw failed("gave a wrong answer, " + e.getMessage());
        }
    }

    /** Fails if the program has ended. */
    void checkAlive() throws NotMeasuredException {
        if (!process.isAlive()) {
            throw failed("ended during the run" + ending());
        }
    }

    /** Makes an open loop drop the messages that are overdue. */
    void restart() throws NotMeasuredException {
        send("restart");
    }

    /** Stops the process where it is, so that it takes no CPU time until {@link #resume}. */
    void pause() throws NotMeasuredException, InterruptedException {
        signal("STOP");
        paused = true;
    }

    /** Lets a paused process go on; does nothing if it is not paused. */
    void resume() throws NotMeasuredException, InterruptedException {
        if (paused) {
            signal("CONT");
            paused = false;
        }
    }

    private void signal(String name) throws NotMeasuredException, InterruptedException {
        try {
            boolean sent = Tools.run("kill", "-" + name, Long.toString(process.pid()))
                    .filter(printed -> printed.exitCode() == 0)
                    .isPresent();
            if (!sent) {
                checkAlive();
                throw failed("could not be sent SIG" + name);
            }
        } catch (IOException e) {
            throw failed("could not be sent SIG" + name + ": " + e.getMessage());
        }
    }

    /** The CPU time, user and system, since the start; 0 if the process has ended. */
    Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** The process. */
    ProcessHandle handle() {
        return process.toHandle();
    }

    /**
     * Ends the process, which goes on if it is paused, because it might have files to delete. It gets its patience or a
     * second, whichever is less, and is then killed.
     */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // It has closed its end already.
        }
        try {
            if (!canEnd() || !process.waitFor(Math.min(patience.toMillis(), 1000), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(killer);
        } catch (IllegalStateException e) {
            // The shutdown has begun, and the hook runs.
        }
    }

    private boolean canEnd() throws InterruptedException {
        try {
            resume();
            return true;
        } catch (NotMeasuredException e) {
            return false;
        }
    }

    private void send(String command) throws NotMeasuredException {
        try {
            OutputStream in = process.getOutputStream();
            in.write((command + "\n").getBytes(UTF_8));
            in.flush();
        } catch (IOException e) {
            throw failed("does not read \"" + command + "\"" + ending());
        }
    }

    private NotMeasuredException failed(String what) {
        return new NotMeasuredException(role + " " + what, true);
    }

    /** The exit code, if there is one, and the last error that is not a line of a stack trace. */
    private String ending() {
        String code = process.isAlive() ? "" : ", exit code " + process.exitValue();
        return code
                + errors.stream()
                        .filter(line -> !line.isBlank() && !line.startsWith("\t"))
                        .reduce((first, second) -> second)
                        .map(line -> ": " + line)
                        .orElse("");
    }

    private interface Sink {
        /** Takes {@code line}; whether it was taken does not matter. */
        boolean take(String line);
    }

    private Thread reader(String name, InputStream in, Sink sink, Runnable atEnd) {
        Thread thread = new Thread(
                () -> {
                    try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, UTF_8))) {
                        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                            sink.take(line);
                        }
                    } catch (IOException e) {
                        // The process was killed; its end is reported below.
                    } finally {
                        atEnd.run();
                    }
                },
                role + " " + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void joinFor(Thread thread, Duration time) {
        try {
            thread.join(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
