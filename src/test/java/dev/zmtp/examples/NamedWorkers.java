package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** A ROUTER that sends tasks to DEALERs by their names. */
public final class NamedWorkers {

    private NamedWorkers() {}

    /** Sends a task to each of two workers, and one to a worker that does not exist. */
    public static void main(String... args) {
        System.out.println("ROUTER socket and two DEALERs with routing ids in this process. Nothing to run beside it.");
        try (ZMTPSocket router = ZMTPSocket.of(ROUTER)) {
            String endpoint =
                    router.bind("tcp://127.0.0.1:*").readyFuture().join().text();
            ZMTPSocket red = worker(endpoint, "red", task -> "red has done: " + task);
            ZMTPSocket blue = worker(endpoint, "blue", task -> "blue has done: " + task);
            try {
                System.out.println(next(router)); // each says hello
                System.out.println(next(router));
                send(router, "red", "paint").join();
                send(router, "blue", "dry").join();
                System.out.println(next(router));
                System.out.println(next(router));
                Throwable unroutable = send(router, "green", "paint")
                        .handle((sent, failure) -> failure)
                        .join();
                System.out.println(unroutable);
            } finally {
                red.close();
                blue.close();
            }
        }
    }

    /** Sends the task to the worker with this routing id. Fails with UNROUTABLE if there is none. */
    static CompletableFuture<Void> send(ZMTPSocket router, String routingId, String task) {
        return router.sendAsync(ZMTPMessage.fromUTF8(routingId, task)); // the first frame is not sent
    }

    /** What the next worker says, with its routing id. */
    static String next(ZMTPSocket router) {
        ZMTPMessage message = router.receiveAsync().join(); // the first frame is the routing id of its sender
        String text = message.frame(0).toString(UTF_8) + ": " + message.frame(1).toString(UTF_8);
        message.release();
        return text;
    }

    static ZMTPSocket worker(String endpoint, String routingId, UnaryOperator<String> work) {
        ZMTPSocket worker = ZMTPSocket.of(ZMTPSocketConfig.builder(DEALER)
                .codec(c -> c.localIdentity(routingId))
                .build());
        worker.onMessage((router, task) -> {
            try {
                worker.sendOrDrop(ZMTPMessage.fromUTF8(work.apply(task.frame(0).toString(UTF_8))));
            } finally {
                task.release();
            }
        });
        worker.connect(endpoint);
        worker.sendOrDrop(ZMTPMessage.fromUTF8("hello")); // leaves when the router is there
        return worker;
    }
}
