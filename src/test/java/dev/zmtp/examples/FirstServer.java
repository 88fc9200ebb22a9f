package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;

/** Greets the peers that ask it. */
public final class FirstServer {

    private FirstServer() {}

    public static void main(String... args) throws InterruptedException {
        String endpoint = args.length > 0 ? args[0] : "tcp://127.0.0.1:5555";
        try (ZMTPSocket server = open()) {
            server.onEvent(Runnable::run, System.out::println); // peers that come and go, and why one was refused
            System.out.println("listening on " + server.bind(endpoint).sync().text());
            System.out.println("ask with: python3 client.py");
            Thread.currentThread().join(); // until Ctrl-C
        }
    }

    static ZMTPSocket open() {
        ZMTPSocket server = ZMTPSocket.of(ROUTER);
        server.serve(FirstServer::greet);
        return server;
    }

    /** Runs on the event loop, so it must not block. The request may also be answered later, on any thread. */
    private static void greet(ZMTPRequest request) {
        String name = request.message().frame(0).toString(UTF_8);
        request.reply(ZMTPMessage.fromUTF8("Hello, " + name));
    }
}
