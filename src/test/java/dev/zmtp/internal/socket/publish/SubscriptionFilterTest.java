package dev.zmtp.internal.socket.publish;

import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.message;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A publisher that decides which topics its subscribers get. */
@Tag("netty-4.2-only")
class SubscriptionFilterTest {

    private static final String ENDPOINT = "inproc://filtered";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<String> received = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket publisher(ZMTPSocketType type, BiPredicate<ZMTPPeer, ByteBuf> filter) {
        ZMTPSocket publisher = loop.open(ZMTPSocketConfig.builder(type).subscriptionFilter(filter));
        publisher.bind(ENDPOINT);
        loop.run();
        return publisher;
    }

    private ZMTPSocket subscriber(ZMTPSocketType type, String... topics) {
        ZMTPSocket subscriber = loop.open(ZMTPSocketConfig.builder(type));
        subscriber.onMessage((peer, message) -> {
            received.add(message.frameUTF8(0));
            message.release();
        });
        for (String topic : topics) {
            subscriber.subscribe(topic);
        }
        subscriber.connect(ENDPOINT);
        loop.run();
        return subscriber;
    }

    private void send(ZMTPSocket publisher, String... topics) {
        for (String topic : topics) {
            publisher.sendOrDrop(message(topic, "m"));
        }
        loop.run();
    }

    private static boolean isPublic(ZMTPPeer peer, ByteBuf topic) {
        return topic.toString(UTF_8).startsWith("public");
    }

    @Test
    void aRefusedTopicHasNoSubscriberAndIsNotReported() {
        ZMTPSocket pub = publisher(PUB, SubscriptionFilterTest::isPublic);
        List<ZMTPSubscription> reported = new ArrayList<>();
        pub.onEverySubscription((peer, subscription) -> reported.add(subscription));
        subscriber(SUB, "public.a", "secret").unsubscribe("secret");
        loop.run();

        send(pub, "public.a", "secret", "public.b");

        assertThat(received).containsExactly("public.a");
        assertThat(reported).containsExactly(ZMTPSubscription.subscribe("public.a"));
        assertThat(pub.peers()).as("it stays connected").hasSize(1);
    }

    @Test
    void aGroupOfARadioIsFilteredToo() {
        ZMTPSocket radio = publisher(RADIO, SubscriptionFilterTest::isPublic);
        subscriber(DISH, "public", "secret");

        send(radio, "public", "secret");

        assertThat(received).containsExactly("public");
    }

    @Test
    void aFilterThatReadsTheTopicChangesNothing() {
        ZMTPSocket pub = publisher(PUB, (peer, topic) -> topic.readByte() == 'a');
        subscriber(SUB, "abc");

        send(pub, "bc", "abc");

        assertThat(received).containsExactly("abc");
    }

    @Test
    void aFilterThatThrowsRefuses() {
        ZMTPSocket pub = publisher(PUB, (peer, topic) -> {
            throw new IllegalStateException("of the test");
        });
        subscriber(SUB, "a");

        send(pub, "a");

        assertThat(received).isEmpty();
        assertThat(pub.peers()).hasSize(1);
    }

    /** The next subscriber at the endpoint might be refused what this one was allowed. */
    @Test
    void nothingWaitsForASubscriberThatIsAway() {
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB).subscriptionFilter((peer, topic) -> true));
        List<ZMTPSocketEvent> events = new ArrayList<>();
        pub.onEvent(Runnable::run, events::add);
        ZMTPTestPeer first = ZMTPTestPeer.bind(loop, "test://subscriber", SUB);
        ZMTPPeer peer = pub.connect("test://subscriber").peer();
        loop.run();
        first.subscribe("secret");
        first.close();
        loop.run();

        peer.sendOrDrop(message("secret", "last value"));
        ZMTPTestPeer second = ZMTPTestPeer.bind(loop, "test://subscriber", SUB);
        loop.advance(Duration.ofSeconds(10));

        assertThat(second.isEmpty()).isTrue();
        assertThat(events).hasAtLeastOneElementOfType(ZMTPSocketEvent.Dropped.class);
    }
}
