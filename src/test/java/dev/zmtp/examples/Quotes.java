package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;

/** An XPUB that publishes quotes and knows its subscribers, and SUBs. */
public final class Quotes {

    private Quotes() {}

    /** Publishes the quotes of three days, to a subscriber that wants one of two. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("XPUB and SUB sockets in this process. Nothing to run beside it.");
        CountDownLatch quotes = new CountDownLatch(3);
        ZMTPSocket publisher = publisher(System.out::println, ForkJoinPool.commonPool(), System.err::println);
        String endpoint =
                publisher.bind("tcp://127.0.0.1:*").readyFuture().join().text();
        ZMTPSocket subscriber = subscriber(endpoint, "acme.", quote -> {
            System.out.println(quote);
            quotes.countDown();
        });
        try {
            publisher.whenPeers(1).join(); // otherwise, the first quotes would be for nobody
            for (int day = 1; day <= 3; day++) {
                publisher.sendOrDrop(ZMTPMessage.fromUTF8("acme.close", "100" + day));
                publisher.sendOrDrop(ZMTPMessage.fromUTF8("other.close", "200" + day));
            }
            quotes.await();
        } finally {
            subscriber.close();
            publisher.close();
        }
    }

    /**
     * A publisher whose slow subscribers miss old quotes rather than new ones.
     *
     * @param onTopic gets each topic that is new, or not wanted any more, on the event loop
     * @param onSlow gets each subscriber that does not keep up, on the executor
     */
    static ZMTPSocket publisher(
            Consumer<ZMTPSubscription> onTopic, Executor executor, Consumer<ZMTPSocketEvent.SlowPeer> onSlow) {
        ZMTPSocket publisher = ZMTPSocket.of(ZMTPSocketConfig.builder(XPUB)
                .sendQueueLimit(10_000, 8 << 20) // for each subscriber
                .overflowPolicy(OverflowPolicy.DROP_OLD)
                .build());
        publisher.onSubscription((subscriber, topic) -> onTopic.accept(topic));
        publisher.onEvent(executor, event -> {
            if (event instanceof ZMTPSocketEvent.SlowPeer slow) {
                onSlow.accept(slow);
            }
        });
        return publisher;
    }

    static ZMTPSocket subscriber(String endpoint, String topic, Consumer<String> onQuote) {
        ZMTPSocket subscriber = ZMTPSocket.of(SUB);
        subscriber.subscribe(topic); // holds for every connection; close what it returns to cancel
        subscriber.onMessage((publisher, quote) -> {
            try {
                onQuote.accept(
                        quote.frame(0).toString(UTF_8) + "=" + quote.frame(1).toString(UTF_8));
            } finally {
                quote.release();
            }
        });
        subscriber.connect(endpoint);
        return subscriber;
    }
}
