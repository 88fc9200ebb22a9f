package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import java.util.concurrent.CompletableFuture;

/** Greets the peers that ask it. */
public final class FirstServer {

    private FirstServer() {}

    public static void main(String... args) throws InterruptedException {
        String endpoint = args.length > 0 ? args[0] : "tcp://127.0.0.1:5555";
        try (ZMTPSocket server = open()) {
            server.onEvent(Runnable::run, System.out::println); // peers that come and go, and why one was refused
            System.out.println("listening on " + server.bind(endpoint).join().endpoint());
            System.out.println("ask with: python3 client.py");
            Thread.currentThread().join(); // until Ctrl-C
        }
    }

    static ZMTPSocket open() {
        ZMTPSocket server = ZMTPSocket.open(ROUTER);
        server.serve(FirstServer::greet);
        return server;
    }

    /** Runs on the event loop, so it must not block. The answer may be complete now or later. */
    private static CompletableFuture<ZMTPMessage> greet(ZMTPRequest request) {
        String name = request.message().frame(0).toString(UTF_8);
        return CompletableFuture.completedFuture(ZMTPMessage.fromUTF8("Hello, " + name));
    }
}
