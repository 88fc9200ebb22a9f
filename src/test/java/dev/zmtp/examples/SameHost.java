package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** One server on all transports: within a process, over a Unix domain socket, shared memory, and TCP. */
public final class SameHost {

    private SameHost() {}

    /** Asks the server once over each. */
    public static void main(String... args) throws IOException {
        System.out.println(
                "REP socket on four transports, asked over each in this process." + " Nothing to run beside it.");
        Path directory = Files.createTempDirectory("zmtp"); // only this user may enter, and so connect
        try (ZMTPSocket server = server()) {
            for (String endpoint : endpoints(directory)) {
                String bound = server.bind(endpoint).readyFuture().join().text();
                System.out.println(bound + ": " + ask(bound).join());
            }
            server.closeAsync(Duration.ZERO).join();
            Files.delete(directory);
        }
    }

    static List<String> endpoints(Path directory) {
        return List.of(
                "inproc://echo",
                "ipc://" + directory.resolve("echo"), // the file goes when the server is closed
                "shm://" + directory.resolve("shared"),
                "tcp://127.0.0.1:*"); // any free port
    }

    static ZMTPSocket server() {
        ZMTPSocket server = ZMTPSocket.of(REP);
        server.serve(request -> request.reply(request.message()));
        return server;
    }

    static CompletableFuture<String> ask(String endpoint) {
        ZMTPSocket client = ZMTPSocket.of(DEALER);
        client.connect(endpoint);
        return client.requestAsync(ZMTPMessage.fromUTF8("hello"), Duration.ofSeconds(10))
                .thenApply(answer -> {
                    String text = answer.frame(0).toString(UTF_8);
                    answer.release();
                    return text;
                })
                .whenComplete((text, failure) -> client.close());
    }
}
