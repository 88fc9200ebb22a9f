package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/** The four ways to receive. A socket has one receiver at a time. */
public final class FourViews {

    private FourViews() {}

    /** Receives four messages, each in another way. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PUSH and PULL sockets in this process, four ways to receive. Nothing to run beside it.");
        try (ZMTPSocket pull = ZMTPSocket.open(PULL);
                ZMTPSocket push = ZMTPSocket.open(PUSH)) {
            push.connect(pull.bind("inproc://views").join().endpoint());
            for (String text : new String[] {"blocking", "future", "publisher", "handler"}) {
                push.write(ZMTPMessage.fromUTF8(text));
            }
            System.out.println(blocking(pull));
            System.out.println(future(pull).join());
            System.out.println(publisher(pull, 1).join());
            CompletableFuture<String> handled = new CompletableFuture<>();
            handler(pull, handled::complete);
            System.out.println(handled.join());
        }
    }

    /** On the event loop, one after the other: the fastest way. */
    static void handler(ZMTPSocket socket, Consumer<String> onText) {
        socket.onMessage((from, message) -> onText.accept(text(message)));
    }

    /** One message, now or when it comes. To cancel the future takes no message. */
    static CompletableFuture<String> future(ZMTPSocket socket) {
        return socket.receive().thenApply(FourViews::text);
    }

    /** Waits on a thread of yours, which may be a virtual one. It may be interrupted. */
    static String blocking(ZMTPSocket socket) throws InterruptedException {
        return text(socket.receive(Duration.ofSeconds(10)));
    }

    /** So many messages as a stream: what nobody has asked for stays with the peers. */
    static CompletableFuture<String> publisher(ZMTPSocket socket, int messages) {
        CompletableFuture<String> all = new CompletableFuture<>();
        socket.messages().subscribe(new Flow.Subscriber<>() {
            private final StringBuilder texts = new StringBuilder();
            private Flow.Subscription subscription;
            private int received;

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                this.subscription = subscription;
                subscription.request(messages);
            }

            @Override
            public void onNext(ZMTPMessage message) {
                texts.append(text(message));
                if (++received == messages) {
                    subscription.cancel(); // the socket goes on, and has room for another receiver
                    all.complete(texts.toString());
                }
            }

            @Override
            public void onError(Throwable failure) {
                all.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                all.completeExceptionally(new IllegalStateException("closed"));
            }
        });
        return all;
    }

    private static String text(ZMTPMessage message) {
        try {
            return message.frame(0).toString(UTF_8);
        } finally {
            message.release();
        }
    }
}
