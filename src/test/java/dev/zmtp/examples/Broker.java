package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CompletableFuture;

/**
 * A broker between clients (REQ, or DEALER with {@code request}) and services (REP, or ROUTER): both connect to it, so
 * services may come and go. A SUB that connects to the third endpoint sees all that passes.
 */
public final class Broker implements AutoCloseable {

    private static final Duration LINGER = Duration.ofSeconds(1);

    private final ZMTPSocket clients;
    private final ZMTPSocket services = ZMTPSocket.of(DEALER);
    private final ZMTPSocket watchers = ZMTPSocket.of(PUB);
    private final ZMTPProxy proxy;

    Broker() {
        // A client that reads no answers must not stop those of others.
        clients = ZMTPSocket.of(ZMTPSocketConfig.builder(ROUTER)
                .overflowPolicy(OverflowPolicy.DISCONNECT)
                .build());
        proxy = ZMTPProxy.start(clients, services, watchers);
    }

    /** Serves at three endpoints. Each line that is entered is a command. */
    public static void main(String... args) {
        System.out.println("ROUTER, DEALER and PUB sockets on 127.0.0.1:5555 to 5557. Try a service, with pyzmq:\n"
                + "python3 -c \"import zmq; s = zmq.Context().socket(zmq.REP); "
                + "s.connect('tcp://127.0.0.1:5556')\n"
                + "while True: s.send(b'you said: ' + s.recv())\"\n"
                + "and a client: mvn -q test-compile exec:java@example -Dexample=AskingClient");
        try (Broker broker = new Broker();
                Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8)) {
            System.out.println("clients:  " + bind(broker.clients(), "tcp://127.0.0.1:5555"));
            System.out.println("services: " + bind(broker.services(), "tcp://127.0.0.1:5556"));
            System.out.println("watchers: " + bind(broker.watchers(), "tcp://127.0.0.1:5557"));
            System.out.println("Enter pause, resume, statistics or quit.");
            while (lines.hasNextLine() && broker.execute(lines.nextLine())) {
                // the next one
            }
        }
    }

    static String bind(ZMTPSocket socket, String endpoint) {
        return socket.bind(endpoint).readyFuture().join().text();
    }

    ZMTPSocket clients() {
        return clients;
    }

    ZMTPSocket services() {
        return services;
    }

    ZMTPSocket watchers() {
        return watchers;
    }

    ZMTPProxy proxy() {
        return proxy;
    }

    /** Does what is asked; returns whether it goes on. */
    boolean execute(String command) {
        switch (command.strip()) {
            case "pause" -> proxy.pause().join();
            case "resume" -> proxy.resume().join();
            case "statistics" -> System.out.println(proxy.stats());
            case "quit" -> {
                return false;
            }
            default -> System.out.println(command + " (expected: pause, resume, statistics or quit)");
        }
        return true;
    }

    /** Returns when what is queued has left, or has had the time to. */
    @Override
    public void close() {
        proxy.close();
        List.of(clients, services, watchers).stream()
                .map(socket -> socket.closeAsync(LINGER))
                .toList()
                .forEach(CompletableFuture::join);
    }
}
