package dev.zmtp.internal.socket.publish;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.Turns;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who counts as a subscriber for those who wait for some. */
@Tag("netty-4.2-only")
class SubscribersTest {

    private static final String ENDPOINT = "inproc://news";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket bound(ZMTPSocketType type) {
        ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type));
        socket.bind(ENDPOINT);
        loop.run();
        return socket;
    }

    private ZMTPSocket connected(ZMTPSocketType type) {
        ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type));
        socket.connect(ENDPOINT);
        loop.run();
        return socket;
    }

    private boolean has(ZMTPSocket publisher, int subscribers) {
        CompletableFuture<Void> there = publisher.whenPeers(subscribers);
        loop.run();
        return there.isDone();
    }

    @Test
    void aPeerWithoutASubscriptionIsNone() {
        ZMTPSocket pub = bound(PUB);
        ZMTPSocket sub = connected(SUB);
        assertThat(has(pub, 1)).isFalse();

        sub.subscribe("a");
        loop.run();

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
        loop.run();
        assertThat(has(publisher, 1)).isTrue();
        assertThat(has(publisher, 2)).isFalse();

        first.close();
        loop.run();
        assertThat(has(publisher, 1)).isTrue();

        second.close();
        loop.run();
        assertThat(has(publisher, 1)).isFalse();

        subscriber.subscribe("c");
        loop.run();
        assertThat(has(publisher, 1)).as("again").isTrue();
    }

    @Test
    void aSubscriberThatHasLeftIsNoneAnyMore() {
        ZMTPSocket pub = bound(PUB);
        ZMTPSocket sub = connected(SUB);
        sub.subscribe("a");
        loop.run();
        assertThat(has(pub, 1)).isTrue();

        sub.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(has(pub, 1)).isFalse();
    }

    /** And what the peer asks for when it is back comes after that. */
    @Test
    void theTopicsOfAPeerThatLeavesAreCancelledInSeveralTasksAndInOrder() {
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.bind(ENDPOINT);
        List<String> topics =
                IntStream.range(0, 3_000).mapToObj(Integer::toString).sorted().toList();
        topics.forEach(sub::subscribe);
        ZMTPSocket pub =
                loop.open(ZMTPSocketConfig.builder(PUB).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
        List<String> heard = new ArrayList<>();
        pub.onEverySubscription((peer, topic) -> heard.add(text(topic)));
        pub.connect(ENDPOINT);
        loop.run();
        assertThat(heard).hasSize(topics.size());
        heard.clear();
        Turns turns = Turns.of(loop.eventLoop(), heard::size);

        sub.peers().iterator().next().close();
        loop.advance(Duration.ofSeconds(1));

        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
        List<String> expected = new ArrayList<>();
        topics.forEach(topic -> expected.add("-" + topic));
        topics.forEach(topic -> expected.add("+" + topic));
        assertThat(heard).isEqualTo(expected);
    }

    /** Their removal would otherwise be one long task, whether or not somebody listens. */
    @Test
    void theTopicsOfAPeerThatLeavesAreRemovedInSeveralTasks() {
        SocketContext context = ClockedSockets.context(
                ZMTPSocketConfig.of(PUB), loop.eventLoop(), () -> loop.time().toNanos());
        Subscribers subscribers = new Subscribers(context);
        int[] left = {3_000};
        subscribers.removal((peer, max, action) -> {
            int removed = Math.min(max, left[0]);
            left[0] -= removed;
            return removed;
        });
        Peer peer = mock(Peer.class);
        subscribers.requested(peer, ZMTPSubscription.subscribe(Unpooled.EMPTY_BUFFER), true, 1);
        Turns turns = Turns.of(loop.eventLoop(), () -> -left[0]);

        loop.eventLoop().execute(() -> subscribers.left(peer));
        loop.run();

        assertThat(left).containsExactly(0);
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
        assertThat(subscribers.forgetSome()).isFalse();
    }

    /** It knows the topics that there are when it comes, and what has ended is not among them. */
    @Test
    void whoListensWhileTheTopicsOfAPeerAreCancelledHearsOfNone() {
        List<String> heard = new ArrayList<>();
        List<String> heardLate = new ArrayList<>();
        ZMTPSocket pub = bound(PUB);
        ZMTPSocket sub = connected(SUB);
        IntStream.range(0, 3_000).mapToObj(Integer::toString).forEach(sub::subscribe);
        loop.run();
        pub.onEverySubscription((peer, topic) -> {
            if (heard.isEmpty()) {
                pub.onEverySubscription((other, late) -> heardLate.add(text(late)));
            }
            heard.add(text(topic));
        });

        sub.closeAsync(Duration.ZERO);
        loop.run();
        assertThat(heard).hasSize(3_000);
        assertThat(heardLate).isEmpty();

        connected(SUB).subscribe("new");
        loop.run();
        assertThat(heardLate).containsExactly("+new");
    }

    @Test
    void moreCancelsThanTheMaximumDoNotEndTheTurns() {
        int all = Subscribers.MAX_NOTICES + 10_000;
        ZMTPSocket pub = bound(PUB);
        ZMTPSocket sub = connected(SUB);
        IntStream.range(0, all).mapToObj(Integer::toString).forEach(sub::subscribe);
        loop.run();
        int[] heard = {0};
        pub.onEverySubscription((peer, topic) -> heard[0]++);
        Turns turns = Turns.of(loop.eventLoop(), () -> heard[0]);

        sub.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(heard[0]).isEqualTo(all);
        assertThat(turns.most()).isLessThanOrEqualTo(2 * LoopBudget.MESSAGES);
    }

    /** Otherwise a peer that comes and goes would have ever more of them wait. */
    @Test
    void requestsBesideMoreCancelsThanTheMaximumMakeThemFewerAndDoNotEndTheTurns() {
        int cancels = Subscribers.MAX_NOTICES + 10_000;
        int requests = 3_000;
        ZMTPSocket pub = bound(PUB);
        ZMTPSocket sub = connected(SUB);
        IntStream.range(0, cancels).mapToObj(Integer::toString).forEach(sub::subscribe);
        ZMTPSocket other = connected(SUB);
        List<String> heard = new ArrayList<>();
        pub.onEverySubscription((peer, topic) -> heard.add(text(topic)));
        Turns turns = Turns.of(loop.eventLoop(), heard::size);

        sub.closeAsync(Duration.ZERO);
        IntStream.range(0, requests).mapToObj(i -> "other" + i).forEach(other::subscribe);
        loop.run();

        assertThat(heard).hasSize(cancels + requests).endsWith("+other" + (requests - 1));
        assertThat(turns.most())
                .as("those of a task, and two for each request at most")
                .isPositive()
                .isLessThanOrEqualTo(4 * LoopBudget.MESSAGES);
    }

    private static String text(ZMTPSubscription request) {
        return (request.isSubscribe() ? "+" : "-") + request.topic().toString(US_ASCII);
    }

    @Test
    void manyThatWaitForASubscriberHearOfItInSeveralTasks() {
        ZMTPSocket pub = bound(PUB);
        int[] reached = {0};
        for (int i = 0; i < 3_000; i++) {
            pub.whenPeers(1).thenRun(() -> reached[0]++);
        }
        loop.run();
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.subscribe("");
        Turns turns = Turns.of(loop.eventLoop(), () -> reached[0]);

        sub.connect(ENDPOINT);
        loop.run();

        assertThat(reached[0]).isEqualTo(3_000);
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }

    @Test
    void aSecondCloseOfARegistrationDoesNotEndAnotherOfTheSameListener() {
        ZMTPSocket pub = bound(PUB);
        List<ZMTPSubscription> heard = new ArrayList<>();
        BiConsumer<ZMTPPeer, ZMTPSubscription> listener = (peer, subscription) -> heard.add(subscription);
        ZMTPRegistration first = pub.onSubscription(listener);
        pub.onSubscription(listener);

        first.close();
        first.close();
        connected(SUB).subscribe("a");
        loop.run();

        assertThat(heard).containsExactly(ZMTPSubscription.subscribe("a"));
    }
}
