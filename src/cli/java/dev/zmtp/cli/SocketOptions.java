package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.websocket.ZMTPWebSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options of all commands that open a socket. */
final class SocketOptions {

    private static final Duration BIND_TIMEOUT = Duration.ofSeconds(10);

    @Parameters(
            arity = "0..*",
            paramLabel = "ENDPOINT",
            description = "Connects to it; tcp://:5555 is tcp://localhost:5555.")
    private List<String> endpoints = new ArrayList<>();

    @Option(
            names = {"-c", "--connect"},
            paramLabel = "ENDPOINT",
            description = "Connects to it, like ENDPOINT.")
    private List<String> connects = new ArrayList<>();

    @Option(
            names = {"-b", "--bind"},
            paramLabel = "ENDPOINT",
            description = "Binds to it; tcp://:5555 is tcp://*:5555.")
    private List<String> binds = new ArrayList<>();

    @Option(
            names = {"-I", "--identity"},
            paramLabel = "ID",
            converter = RoutingId.Converter.class,
            description = "Routing id that ROUTER peers see, as text, or as 0x and hexadecimal digits.")
    private @Nullable RoutingId identity;

    @Option(
            names = {"-l", "--linger"},
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5s",
            description = "Maximum time to deliver queued messages at the end. Default: 5s.")
    private Duration linger = Duration.ofSeconds(5);

    @Option(
            names = "--origin",
            paramLabel = "ORIGIN",
            description =
                    "ws, wss: pages of this origin can connect, such as https://app.example.com; * is any origin.")
    private List<String> origins = new ArrayList<>();

    @Option(
            names = "--capture",
            paramLabel = "FILE",
            description = "Writes all messages to a new pcapng file for Wireshark.")
    private @Nullable Path capture;

    @Option(
            names = {"-v", "--verbose"},
            description = "Shows events of connections on standard error; -vv also frames and stack traces.")
    private boolean[] verbose = {};

    @Option(
            names = {"-q", "--quiet"},
            description = "Shows no warnings.")
    private boolean quiet;

    @ArgGroup(validate = false, heading = "%nSecurity:%n")
    private SecurityOptions security = new SecurityOptions();

    private @Nullable CommandCapture opened;

    /** Returns the endpoints to connect to. */
    List<String> toConnect() {
        List<String> all = new ArrayList<>(endpoints);
        all.addAll(connects);
        return all.stream().map(EndpointArguments::toConnect).toList();
    }

    boolean usesSharedMemory() {
        return Stream.of(binds, endpoints, connects)
                .flatMap(List::stream)
                .allMatch(endpoint -> endpoint.startsWith("shm://"));
    }

    int verbosity() {
        return verbose.length;
    }

    /** Returns the config of a socket with these options. */
    ZMTPSocketConfig.Builder config(ZMTPSocketType type) {
        if (binds.isEmpty() && toConnect().isEmpty()) {
            throw new CliException(ExitCode.USAGE, "no endpoint (expected: an ENDPOINT to connect to, or --bind)");
        }
        ZMTPSocketConfig.Builder config = ZMTPSocketConfig.builder(type).linger(linger);
        RoutingId id = identity;
        if (id != null) {
            config.codec(codec -> codec.localIdentity(id.bytes()));
        }
        if (!origins.isEmpty()) {
            config.webSocket(webSocket());
        }
        security.apply(config, !binds.isEmpty(), !toConnect().isEmpty());
        return config;
    }

    private ZMTPWebSocket webSocket() {
        try {
            return origins.contains("*")
                    ? ZMTPWebSocket.DEFAULT.anyOrigin()
                    : ZMTPWebSocket.DEFAULT.origins(origins.toArray(String[]::new));
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, "--origin: " + e.getMessage());
        }
    }

    /** Opens a socket with these options, bound and connecting. */
    ZMTPSocket open(Console console, ZMTPSocketType type) throws InterruptedException {
        return open(console, config(type));
    }

    /** Opens a socket with this config, bound and connecting. */
    ZMTPSocket open(Console console, ZMTPSocketConfig.Builder config) throws InterruptedException {
        return open(console, config, socket -> {});
    }

    /** Opens a socket with this config, bound and connecting, after {@code first} has been called with it. */
    ZMTPSocket open(Console console, ZMTPSocketConfig.Builder config, Consumer<ZMTPSocket> first)
            throws InterruptedException {
        Diagnostics.install(console, quiet, verbose.length);
        Path file = capture;
        if (file != null) {
            opened = CommandCapture.open(console, file);
            config.capture(opened.capture());
        }
        ZMTPSocket socket = ZMTPSocket.of(config.build());
        boolean isOpen = false;
        try {
            first.accept(socket);
            begin(console, socket);
            isOpen = true;
        } finally {
            if (!isOpen) {
                socket.closeAsync(Duration.ZERO).join();
            }
        }
        return socket;
    }

    private void begin(Console console, ZMTPSocket socket) throws InterruptedException {
        if (verbose.length > 0) {
            socket.onEvent(Runnable::run, event -> report(console, event));
        }
        for (String endpoint : binds) {
            bind(console, socket, EndpointArguments.toBind(endpoint), quiet);
        }
        for (String endpoint : toConnect()) {
            socket.connect(endpoint);
        }
    }

    /** Binds the socket, and prints the endpoint if the system has chosen a part of it. */
    static void bind(Console console, ZMTPSocket socket, String endpoint, boolean quiet) throws InterruptedException {
        try {
            String text = socket.bind(endpoint).sync(BIND_TIMEOUT).text();
            if (endpoint.contains("*") && !quiet) {
                console.complain("bound to " + text);
            }
        } catch (ZMTPSocketException e) {
            throw CliException.failed(Main.text(e));
        }
    }

    private static void report(Console console, ZMTPSocketEvent event) {
        console.complain(event.toString());
    }

    /**
     * Waits for peers. If they do not come within the limit, the command fails.
     *
     * @param late the failure, without the limit
     */
    static void awaitPeers(ZMTPSocket socket, int peers, Duration limit, String late)
            throws InterruptedException, ExecutionException {
        await(socket.whenPeers(peers), limit, late);
    }

    /** Like {@link #awaitPeers}, for any result. */
    static <T> T await(CompletableFuture<T> result, Duration limit, String late)
            throws InterruptedException, ExecutionException {
        try {
            return result.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new CliException(ExitCode.TIMEOUT, late + " within " + limit.toMillis() + " ms");
        }
    }

    /**
     * Closes the socket at once. Messages that it has not delivered are lost. Returns what the capture lacks; null if it
     * is whole.
     */
    @Nullable
    String abort(ZMTPSocket socket) {
        socket.closeAsync(Duration.ZERO).join();
        return closeCapture();
    }

    /** Reports what is missing after the end of a command, if anything is. It is a failure unless there was another. */
    static void report(Console console, @Nullable String missing, boolean hasFailed) {
        if (missing != null && hasFailed) {
            console.complain(missing);
        } else if (missing != null) {
            throw CliException.failed(missing);
        }
    }

    /**
     * Closes the socket, which has the linger time to deliver its messages. Returns what it could not deliver, and what
     * the capture lacks; null if nothing is missing.
     */
    @Nullable
    String close(ZMTPSocket socket) throws InterruptedException {
        ZMTPStats stats;
        try {
            stats = socket.closeAsync(linger).get();
        } catch (ExecutionException e) {
            throw CliException.failed(Main.text(e));
        }
        String ofCapture = closeCapture();
        String lost = lost(stats);
        if (lost == null) {
            return ofCapture;
        }
        return ofCapture == null ? lost : lost + "; " + ofCapture;
    }

    private static @Nullable String lost(ZMTPStats stats) {
        if (stats.dropped() > 0) {
            return stats.dropped() + " messages were not delivered";
        }
        return stats.outcomeUnknown() > 0 ? stats.outcomeUnknown() + " messages might not have been delivered" : null;
    }

    private @Nullable String closeCapture() {
        return opened == null ? null : opened.close();
    }

    boolean binds() {
        return !binds.isEmpty();
    }

    boolean captures() {
        return capture != null;
    }
}
