package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The three ways to receive. A socket has one receiver at a time. */
public final class ThreeViews {

    private ThreeViews() {}

    /** Receives three messages, each in another way. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PUSH and PULL sockets in this process, three ways to receive. Nothing to run beside it.");
        try (ZMTPSocket pull = ZMTPSocket.of(PULL);
                ZMTPSocket push = ZMTPSocket.of(PUSH)) {
            push.connect(pull.bind("inproc://views").readyFuture().join().text());
            for (String text : new String[] {"blocking", "future", "handler"}) {
                push.sendOrDrop(ZMTPMessage.fromUTF8(text));
            }
            System.out.println(blocking(pull));
            System.out.println(future(pull).join());
            CompletableFuture<String> handled = new CompletableFuture<>();
            handler(pull, handled::complete);
            System.out.println(handled.join());
        }
    }

    /** On the event loop, one after the other: the fastest way. */
    static void handler(ZMTPSocket socket, Consumer<String> onText) {
        socket.onMessage((from, message) -> onText.accept(text(message)));
    }

    /** One message, now or when it comes. Cancel what receiveAsync returns: what is made of it would lose a message. */
    static CompletableFuture<String> future(ZMTPSocket socket) {
        return socket.receiveAsync().thenApply(ThreeViews::text);
    }

    /** Waits on a thread of yours, which may be a virtual one. It may be interrupted. */
    static String blocking(ZMTPSocket socket) throws InterruptedException {
        return text(socket.receive());
    }

    private static String text(ZMTPMessage message) {
        try {
            return message.frame(0).toString(UTF_8);
        } finally {
            message.release();
        }
    }
}
