package dev.zmtp.attack;

import dev.zmtp.testing.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A running {@link AttackedServer}. What it writes to its standard error is in {@code target/attacks}. */
final class ServerProcess implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /**
     * Little memory, so that an attack that fills it takes seconds. No flag of Netty: a server must hold without.
     */
    private static final List<String> MEMORY = List.of("-Xmx64m", "-XX:MaxDirectMemorySize=64m");

    private static final Path LOGS = Path.of("target", "attacks");

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /** Starts a server, and does not wait for it. */
    ServerProcess(Library library, Service service, List<String> options) throws IOException {
        Files.createDirectories(LOGS);
        process = new ProcessBuilder(command(library, service, options))
                .redirectError(LOGS.resolve(library + "-" + service + ".log").toFile())
                .start();
        Thread reader = new Thread(this::readLines, "lines of " + library);
        reader.setDaemon(true);
        reader.start();
    }

    /** Waits until it listens, and returns where. */
    ServerAddresses awaitAddresses() throws IOException, InterruptedException {
        String ports = nextLine(START).orElseThrow(() -> new IOException("server: did not start, see " + LOGS));
        return ServerAddresses.parse(ports);
    }

    private static List<String> command(Library library, Service service, List<String> options) {
        List<String> all = Stream.concat(MEMORY.stream(), options.stream()).toList();
        return JavaProcess.command(all, AttackedServer.class, library.name(), service.name());
    }

    private void readLines() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            reader.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            // It was killed.
        }
    }

    private Optional<String> nextLine(Duration patience) throws InterruptedException {
        return Optional.ofNullable(lines.poll(patience.toMillis(), TimeUnit.MILLISECONDS));
    }

    /** Whether the process runs, be it as a zombie. */
    boolean isAlive() {
        return process.isAlive();
    }

    /** What it says about itself, or nothing if it does not answer, or cannot. */
    Optional<ServerReport> report() throws InterruptedException {
        lines.clear(); // an answer that came too late
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            return Optional.empty(); // it is dead
        }
        return nextLine(PATIENCE).map(ServerReport::parse);
    }

    /** How many sockets it has open, as the operating system counts. */
    int sockets() {
        try (Stream<Path> descriptors = Files.list(proc("fd"))) {
            return (int) descriptors.filter(ServerProcess::isSocket).count();
        } catch (IOException | UncheckedIOException e) {
            return 0; // it is dead
        }
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    /** The bytes of its pages in memory. */
    long resident() {
        try (Stream<String> status = Files.lines(proc("status"))) {
            return status.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findAny()
                    .orElse(0);
        } catch (IOException | UncheckedIOException e) {
            return 0; // it is dead
        }
    }

    private Path proc(String file) {
        return Path.of("/proc", Long.toString(process.pid()), file);
    }

    /** Ends the process. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // It is dead.
        }
        try {
            if (!process.waitFor(1, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
