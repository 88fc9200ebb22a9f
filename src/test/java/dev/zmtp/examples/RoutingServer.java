package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

/** A ROUTER that answers on other threads, in any order, whatever asks: REQs, DEALERs, and proxies in between. */
public final class RoutingServer {

    private RoutingServer() {}

    /** Serves on port 5555, or at the endpoint that is given, until it is killed. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("ROUTER socket on 127.0.0.1:5555, answers on other threads."
                + " Try: mvn -q test-compile exec:java@example -Dexample=AskingClient");
        ExecutorService workers = Executors.newFixedThreadPool(4);
        try (ZMTPSocket server = open(workers, question -> "you said: " + question)) {
            System.out.println(server.bind(args.length > 0 ? args[0] : "tcp://127.0.0.1:5555")
                    .sync()
                    .text());
            Thread.currentThread().join();
        } finally {
            workers.shutdown();
        }
    }

    static ZMTPSocket open(Executor workers, UnaryOperator<String> answer) {
        ZMTPSocket server = ZMTPSocket.of(ZMTPSocketConfig.builder(ROUTER)
                .maxOutstandingRequests(1_000) // those that come when so many have no answer stay with their peers
                .build());
        server.serve(request -> workers.execute(() -> {
            try {
                String question = request.message().frame(0).toString(UTF_8);
                request.reply(ZMTPMessage.fromUTF8(answer.apply(question)));
            } catch (RuntimeException e) {
                request.drop(); // it would keep its place among the 1,000
                throw e;
            }
        }));
        return server;
    }
}
