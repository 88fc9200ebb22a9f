package dev.zmtp.large;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many subscribers with many topics each, for whom one proxy subscribes. All settings are the defaults. */
@Tag("slow")
@Tag("large")
class ManyTopicsIT {

    private static final int SUBSCRIBERS = Size.of(10, 100);
    private static final int TOPICS = 3_000;

    /** Those of which a message is published. */
    private static final List<Integer> SAMPLE = List.of(0, TOPICS / 2, TOPICS - 1);

    private static String topic(int subscriber, int topic) {
        return "s" + subscriber + "t" + topic + "|";
    }

    @Test
    void eachSubscriberOfAProxyGetsAllItsTopicsAndNothingElse(TestSockets sockets) {
        ZMTPSocket frontend = sockets.open(XSUB);
        ZMTPSocket backend = sockets.open(XPUB);
        ZMTPSocket publisher = sockets.open(PUB);
        AtomicInteger known = new AtomicInteger();
        publisher.onSubscription((peer, subscription) -> known.incrementAndGet());
        ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
        connect(publisher, bind(frontend, "tcp://127.0.0.1:*"));
        String endpoint = bind(backend, "tcp://127.0.0.1:*");
        long start = System.nanoTime();
        List<ZMTPSocket> subscribers = new ArrayList<>();
        for (int i = 0; i < SUBSCRIBERS; i++) {
            ZMTPSocket subscriber = sockets.open(SUB);
            for (int j = 0; j < TOPICS; j++) {
                subscriber.subscribe(topic(i, j));
            }
            subscriber.connect(endpoint);
            subscribers.add(subscriber);
        }
        await("all topics are known", () -> known.get() >= SUBSCRIBERS * TOPICS);

        for (int topic : SAMPLE) {
            for (int i = 0; i < SUBSCRIBERS; i++) {
                publisher.sendOrDrop(message(topic(i, topic)));
            }
        }

        for (int i = 0; i < SUBSCRIBERS; i++) {
            for (int topic : SAMPLE) {
                assertThat(receive(subscribers.get(i))).containsExactly(topic(i, topic));
            }
        }
        assertThat(List.of(frontend, backend, publisher))
                .extracting(socket -> socket.stats().connects())
                .as("nobody had to connect again")
                .containsExactly(1L, (long) SUBSCRIBERS, 1L);
        assertThat(known).hasValue(SUBSCRIBERS * TOPICS);
        proxy.close();
        Size.report(
                start,
                "%,d subscribers of a proxy with %,d topics, of which each got what was published"
                        .formatted(SUBSCRIBERS, SUBSCRIBERS * TOPICS));
    }
}
