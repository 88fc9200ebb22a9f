package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.CLIENT;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.SERVER;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The draft patterns, whose messages have one frame: CLIENT and SERVER, RADIO and DISH. */
public final class SingleFrames {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private SingleFrames() {}

    /** Asks a SERVER, and listens to a RADIO. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("CLIENT and SERVER, RADIO and DISH sockets in this process. Nothing to run beside it.");
        try (ZMTPSocket server = echoServer();
                ZMTPSocket client = ZMTPSocket.of(CLIENT)) {
            client.connect(server.bind("tcp://127.0.0.1:*").readyFuture().join().text());
            client.sendOrDrop(ZMTPMessage.fromUTF8("hello"));
            ZMTPMessage answer = client.receive(PATIENCE);
            System.out.println(answer);
            answer.release();
        }
        try (ZMTPSocket radio = ZMTPSocket.of(RADIO)) {
            String endpoint =
                    radio.bind("tcp://127.0.0.1:*").readyFuture().join().text();
            CompletableFuture<String> heard = new CompletableFuture<>();
            ZMTPSocket dish = dish(endpoint, "news", heard::complete);
            radio.whenPeers(1).join();
            radio.sendOrDrop(ZMTPMessage.fromUTF8("news", "it works")); // the group, and the body
            System.out.println(heard.join());
            dish.close();
        }
    }

    /** Sends back what it gets. With SERVER and PEER, the first frame is four bytes, the routing id of the peer. */
    static ZMTPSocket echoServer() {
        ZMTPSocket server = ZMTPSocket.of(SERVER);
        server.onMessage((client, message) -> client.sendOrDrop(message));
        return server;
    }

    /** A group is not a prefix: it is joined and compared whole. */
    static ZMTPSocket dish(String endpoint, String group, Consumer<String> onNews) {
        ZMTPSocket dish = ZMTPSocket.of(DISH);
        dish.subscribe(group);
        dish.onMessage((radio, news) -> {
            onNews.accept(news.frame(1).toString(UTF_8)); // after the group
            news.release();
        });
        dish.connect(endpoint);
        return dish;
    }
}
