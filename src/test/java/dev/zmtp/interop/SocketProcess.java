package dev.zmtp.interop;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.testing.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A {@link SocketProgram} that runs, is stopped and killed, and is started again with the same endpoints. */
final class SocketProcess implements AutoCloseable {

    static final String ANY_PORT = "tcp://127.0.0.1:*";

    private final SocketPeerKind kind;
    private final boolean binds;
    private final Map<ZMTPSocketType, String> endpoints = new EnumMap<>(ZMTPSocketType.class);
    private final Map<String, BlockingQueue<String>> lines = new ConcurrentHashMap<>();
    private Process process;

    private SocketProcess(SocketPeerKind kind, boolean binds) {
        this.kind = kind;
        this.binds = binds;
    }

    /** Starts one whose sockets listen. */
    static SocketProcess binding(SocketPeerKind kind, ZMTPSocketType... types) throws Exception {
        SocketProcess process = new SocketProcess(kind, true);
        for (ZMTPSocketType type : types) {
            process.endpoints.put(type, ANY_PORT);
        }
        process.start();
        for (ZMTPSocketType type : types) {
            process.endpoints.put(type, process.next(type));
        }
        return process;
    }

    /** Starts one whose sockets connect. */
    static SocketProcess connecting(SocketPeerKind kind, Map<ZMTPSocketType, String> endpoints) throws Exception {
        SocketProcess process = new SocketProcess(kind, false);
        process.endpoints.putAll(endpoints);
        process.start();
        return process;
    }

    /** Where the socket of this type listens. */
    String endpoint(ZMTPSocketType type) {
        return endpoints.get(type);
    }

    private void start() throws IOException {
        List<String> arguments = new ArrayList<>(List.of(kind.name(), binds ? "bind" : "connect"));
        endpoints.forEach((type, endpoint) -> arguments.add(type + "=" + endpoint));
        List<String> command = JavaProcess.command(
                List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                SocketProgram.class,
                arguments.toArray(String[]::new));
        lines.clear();
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Process started = process;
        Thread reader = new Thread(() -> read(started), "lines of " + kind);
        reader.setDaemon(true);
        reader.start();
    }

    private void read(Process from) {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(from.getInputStream(), StandardCharsets.UTF_8))) {
            reader.lines().forEach(line -> {
                int space = line.indexOf(' ');
                queue(line.substring(0, Math.max(space, 0))).add(line.substring(space + 1));
            });
        } catch (IOException | UncheckedIOException e) {
            // It was killed.
        }
    }

    private BlockingQueue<String> queue(String name) {
        return lines.computeIfAbsent(name, n -> new LinkedBlockingQueue<>());
    }

    /** What the socket of this type has said next: first where it listens, and then what it has received. */
    String next(ZMTPSocketType type) throws InterruptedException {
        String line = queue(type.name()).poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        if (line == null) {
            throw new AssertionError("line of " + kind + "'s " + type + ": none (expected: one within " + Patience.LIMIT
                    + ", the process is " + (process.isAlive() ? "alive" : "dead") + ")");
        }
        return line;
    }

    /** Waits until the socket of this type has said this; what it says before is dropped. */
    void await(ZMTPSocketType type, String text) throws InterruptedException {
        while (!next(type).equals(text)) {
            // another one
        }
    }

    /** Stops it: its connections stay, and nothing happens on them. Returns when all of its threads have stopped. */
    void stop() throws Exception {
        signal("STOP");
        long deadline = Patience.deadline();
        while (!isStopped()) {
            if (Patience.isOver(deadline)) {
                throw new AssertionError("process " + process.pid() + ": it runs (expected: stopped)");
            }
            Thread.onSpinWait();
        }
    }

    private boolean isStopped() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            for (Path thread : threads.toList()) {
                String stat = Files.readString(thread.resolve("stat"));
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        }
    }

    /** It goes on. */
    void resume() throws Exception {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    /** Ends it at once. */
    void kill() {
        JavaProcess.kill(process);
    }

    /** Starts it again with the same endpoints. */
    void restart() throws Exception {
        start();
        if (binds) {
            for (ZMTPSocketType type : endpoints.keySet()) {
                next(type);
            }
        }
    }

    @Override
    public void close() {
        kill();
    }
}
