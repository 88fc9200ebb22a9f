package dev.zmtp.large;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.util.stream.Collectors.joining;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * The program of a client that looks up a name which is never answered, and then connects by other names and binds by a
 * file. Its names come from a file of hosts, which the JDK can read in place of a name server. First that is a pipe,
 * from which a lookup reads without end; then it is a file. The program prints what works in spite of that lookup, a
 * line each.
 */
@SuppressWarnings("SystemOut") // its parent reads it
final class LookupProgram {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private LookupProgram() {}

    /** The arguments are the directory with the pipe {@code hosts}, and the number of names that are answered. */
    public static void main(String... args) throws Exception {
        Path dir = Path.of(args[0]);
        int names = Integer.parseInt(args[1]);
        ZMTPSocket server = ZMTPSocket.of(ROUTER);
        server.serve(request -> request.reply(request.message()));
        String endpoint = server.bind("tcp://127.0.0.1:*").sync().text();
        ZMTPSocket.of(DEALER).connect("tcp://silent.example:5555");
        // The operating system waits until the lookup has opened its end.
        try (OutputStream pipe = Files.newOutputStream(dir.resolve("hosts"), StandardOpenOption.WRITE)) {
            replace(dir.resolve("hosts"), names);
            printWhatWorks(endpoint, dir, names);
            pipe.flush(); // open until now
        }
    }

    private static void replace(Path pipe, int names) throws IOException {
        String line = "127.0.0.1 "
                + IntStream.range(0, names).mapToObj(LookupProgram::name).collect(joining(" "));
        Path file = Files.writeString(pipe.resolveSibling("answered"), line + "\n");
        Files.move(file, pipe, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void printWhatWorks(String endpoint, Path dir, int names) {
        CompletableFuture<?> bound =
                ZMTPSocket.of(PULL).bind("ipc://" + dir.resolve("s")).readyFuture();
        List<CompletableFuture<List<String>>> answers = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            ZMTPSocket client = ZMTPSocket.of(DEALER);
            client.connect(endpoint.replace("127.0.0.1", name(i)));
            answers.add(
                    client.requestAsync(TestSockets.message(name(i)), PATIENCE).thenApply(TestSockets::frames));
        }
        for (CompletableFuture<List<String>> answer : answers) {
            System.out.println(answer.handle((frames, failure) -> failure == null ? frames.get(0) : failure.toString())
                    .join());
        }
        System.out.println(bound.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .handle((endpointBound, failure) -> failure == null ? "bound" : failure.toString())
                .join());
    }

    static String name(int number) {
        return "host" + number + ".example";
    }
}
