package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A page in a browser that receives quotes of a PUB and asks a ROUTER, over WebSocket. */
public final class BrowserQuotes implements AutoCloseable {

    private static final Path PAGE = Path.of("src/test/resources/examples/quotes.html");

    private final HttpServer http;
    private final ZMTPSocket publisher;
    private final ZMTPSocket router;

    /** Serves the page on a free port, or on a given port. */
    public static void main(String... args) throws Exception {
        int port = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        try (BrowserQuotes quotes = new BrowserQuotes(port, null)) {
            System.out.println(
                    "A page with quotes. Open " + quotes.address() + " in a browser. Nothing to run beside it.");
            new CountDownLatch(1).await();
        }
    }

    /**
     * Serves the page.
     *
     * @param tls context of a server, with which the page connects to {@code wss} endpoints, or null for {@code ws}
     */
    BrowserQuotes(int port, @Nullable SslContext tls) throws IOException, InterruptedException {
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        // Without its origin, the page could not connect.
        ZMTPWebSocket webSocket = ZMTPWebSocket.DEFAULT.origins(address());
        publisher = open(PUB, webSocket, tls);
        router = open(ROUTER, webSocket, tls);
        router.onMessage((peer, message) -> peer.sendOrDrop(message));
        String scheme = tls == null ? "ws" : "wss";
        String quotes = publisher.bind(scheme + "://127.0.0.1:*/quotes").sync().text();
        String echo = router.bind(scheme + "://127.0.0.1:*/echo").sync().text();
        byte[] page = Files.readString(PAGE)
                .replace("QUOTES", quotes)
                .replace("ECHO", echo)
                .getBytes(UTF_8);
        http.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        http.start();
        publisher.eventLoop().scheduleAtFixedRate(this::publish, 100, 100, TimeUnit.MILLISECONDS);
    }

    private static ZMTPSocket open(ZMTPSocketType type, ZMTPWebSocket webSocket, @Nullable SslContext tls) {
        ZMTPSocketConfig.Builder config = ZMTPSocketConfig.builder(type).webSocket(webSocket);
        if (tls != null) {
            config.tls(tls);
        }
        return ZMTPSocket.of(config.build());
    }

    private void publish() {
        int price = ThreadLocalRandom.current().nextInt(100, 110);
        publisher.sendOrDrop(ZMTPMessage.fromUTF8("acme.last", String.valueOf(price)));
        publisher.sendOrDrop(ZMTPMessage.fromUTF8("other.last", "0"));
    }

    /** Returns the origin of the page. */
    String address() {
        return "http://" + http.getAddress().getHostString() + ":"
                + http.getAddress().getPort();
    }

    @Override
    public void close() {
        http.stop(0);
        publisher.close();
        router.close();
    }
}
