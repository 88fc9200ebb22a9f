package dev.zmtp.internal.socket.publish;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who counts as a subscriber for those who wait for some. */
@Tag("netty-4.2-only")
class SubscribersTest {

    private static final String ENDPOINT = "inproc://news";

    private final VirtualTime time = new VirtualTime();

    @AfterEach
    void close() {
        time.close();
    }

    private ZMTPSocket bound(ZMTPSocketType type) {
        ZMTPSocket socket = time.open(ZMTPSocketConfig.builder(type));
        socket.bind(ENDPOINT);
        time.run();
        return socket;
    }

    private ZMTPSocket connected(ZMTPSocketType type) {
        ZMTPSocket socket = time.open(ZMTPSocketConfig.builder(type));
        socket.connect(ENDPOINT);
        time.run();
        return socket;
    }

    private boolean has(ZMTPSocket publisher, int subscribers) {
        CompletableFuture<Void> there = publisher.whenPeers(subscribers);
        time.run();
        return there.isDone();
    }

    @Test
    void aPeerWithoutASubscriptionIsNone() {
        ZMTPSocket pub = bound(PUB);
        ZMTPSocket sub = connected(SUB);
        assertThat(has(pub, 1)).isFalse();

        sub.subscribe("a");
        time.run();

        assertThat(has(pub, 1)).isTrue();
        assertThat(has(pub, 2)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"PUB, SUB", "RADIO, DISH"})
    void aSubscriberIsOneUntilItsLastCancel(ZMTPSocketType publishers, ZMTPSocketType subscribers) {
        ZMTPSocket publisher = bound(publishers);
        ZMTPSocket subscriber = connected(subscribers);
        ZMTPRegistration first = subscriber.subscribe("a");
        ZMTPRegistration second = subscriber.subscribe("b");
        time.run();
        assertThat(has(publisher, 1)).isTrue();
        assertThat(has(publisher, 2)).isFalse();

        first.close();
        time.run();
        assertThat(has(publisher, 1)).isTrue();

        second.close();
        time.run();
        assertThat(has(publisher, 1)).isFalse();

        subscriber.subscribe("c");
        time.run();
        assertThat(has(publisher, 1)).as("again").isTrue();
    }

    @Test
    void aSubscriberThatHasLeftIsNoneAnyMore() {
        ZMTPSocket pub = bound(PUB);
        ZMTPSocket sub = connected(SUB);
        sub.subscribe("a");
        time.run();
        assertThat(has(pub, 1)).isTrue();

        sub.closeAsync(Duration.ZERO);
        time.run();

        assertThat(has(pub, 1)).isFalse();
    }
}
