package dev.zmtp.internal.socket.publish;

import static dev.zmtp.testing.TestSockets.message;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.RecordedOrigin;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.internal.socket.peer.WrittenChannel;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Many peers whose topics have one bound. */
class SharedTopicsTest {

    /** A peer and its channel. */
    private record Subscriber(Peer peer, WrittenChannel channel) {

        boolean isThere() {
            return channel.isOpen();
        }
    }

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final List<Subscriber> all = new ArrayList<>();
    private SocketContext context;
    private Subscribers subscribers;
    private FanOut fanOut;

    @AfterEach
    void close() {
        all.forEach(each -> each.channel.finishAndReleaseAll());
        clock.finishAndReleaseAll();
    }

    private void publisher(long maxSubscriptionsMemory) {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(ZMTPSocketType.PUB)
                .maxSubscriptionsMemory(maxSubscriptionsMemory)
                .build();
        context = ClockedSockets.context(config, clock.eventLoop(), () -> 1);
        subscribers = new Subscribers(context);
        fanOut = new FanOut(context, subscribers);
    }

    private Subscriber connect() {
        RecordedOwner owner = new RecordedOwner(context);
        PeerHandler link = new PeerHandler(context, owner, new RecordedOrigin(owner.calls));
        Subscriber connected = new Subscriber(owner.newPeer(null), new WrittenChannel(link));
        connected.peer.up(link);
        all.add(connected);
        return connected;
    }

    private Subscriber withTopics(String name, int topics) {
        Subscriber subscriber = connect();
        for (int i = 0; i < topics && subscriber.isThere(); i++) {
            fanOut.subscription(
                    subscriber.peer, ZMTPSubscription.subscribe(Unpooled.copiedBuffer(name + "." + i, UTF_8)));
            if (i % 100 == 0) {
                clock.runPendingTasks();
            }
        }
        clock.runPendingTasks();
        return subscriber;
    }

    private void assertGets(Subscriber subscriber, String topic) {
        fanOut.route(message(topic), null);
        clock.runPendingTasks();
        Object received = subscriber.channel.readOutbound();
        assertThat(received).as(topic).isNotNull();
        ((ZMTPMessage) received).release();
    }

    @Test
    void whatTenPeersWithManyTopicsTakeIsNotRefusedToNewcomers() {
        publisher(4 << 20);
        List<Subscriber> hogs = Stream.iterate(0, i -> i + 1)
                .limit(10)
                .map(i -> withTopics("hog" + i, 3_577))
                .toList();
        assertThat(hogs).as("too many topics").anyMatch(hog -> !hog.isThere());

        List<Subscriber> others = Stream.iterate(0, i -> i + 1)
                .limit(60)
                .map(i -> withTopics("other" + i, 20))
                .toList();

        assertThat(others).allMatch(Subscriber::isThere);
        assertGets(others.get(0), "other0.5");
        assertGets(others.get(59), "other59.19");
    }

    @Test
    void aHundredPeersWithAThousandTopicsStayBesideOneWithFarMore() {
        publisher(16 << 20);
        Subscriber hog = withTopics("hog", 60_000);
        assertThat(hog.isThere()).isTrue();

        List<Subscriber> others = Stream.iterate(0, i -> i + 1)
                .limit(100)
                .map(i -> withTopics("other" + i, 1_000))
                .toList();

        assertThat(others).allMatch(Subscriber::isThere);
        assertThat(hog.isThere()).isFalse();
        assertGets(others.get(99), "other99.999");
    }

    @Test
    void aPeerThatAloneHasTooManyPaysForItself() {
        publisher(10_000);

        assertThat(withTopics("hog", 1_000).isThere()).isFalse();
        assertGets(withTopics("next", 1), "next.0");
    }

    @Test
    void aTopicThatIsRefusedIsNotReportedAsItHasNoEnd() {
        publisher(10_000);
        Set<ByteBuf> open = new HashSet<>();
        List<ByteBuf> ended = new ArrayList<>();
        subscribers.listen(
                (peer, request) -> {
                    if (request.isSubscribe()) {
                        open.add(request.topic());
                    } else {
                        open.remove(request.topic());
                        ended.add(request.topic());
                    }
                },
                true);

        Subscriber hog = withTopics("hog", 1_000);
        fanOut.down(hog.peer);
        clock.runPendingTasks();

        assertThat(hog.isThere()).isFalse();
        assertThat(ended).isNotEmpty();
        assertThat(open).isEmpty();
    }

    private void request(Subscriber subscriber, String topic, boolean subscribe) {
        ByteBuf bytes = Unpooled.copiedBuffer(topic, UTF_8);
        fanOut.subscription(
                subscriber.peer, subscribe ? ZMTPSubscription.subscribe(bytes) : ZMTPSubscription.cancel(bytes));
    }

    private int peersWithTopics() {
        return subscribers.awaited().there();
    }

    @Test
    void whatARefusedPeerSubscribesToNextEndsWithItsConnection() {
        publisher(1 << 20);
        Subscriber hog = connect();
        int topics = 0;
        do { // its connection is closed by a task, which does not run yet
            request(hog, "hog." + topics++, true);
        } while (peersWithTopics() > 0);
        assertThat(topics).isGreaterThan(2_000);

        for (int i = 0; i < topics; i++) {
            request(hog, "hog." + i, false);
        }
        assertThat(peersWithTopics())
                .as("after cancellations of forgotten topics")
                .isZero();

        request(hog, "next", true);
        assertThat(subscribers.topics()).containsExactly(Unpooled.copiedBuffer("next", UTF_8));

        hog.peer.down();
        fanOut.down(hog.peer);
        clock.runPendingTasks();
        assertThat(peersWithTopics()).isZero();
    }

    @Test
    void aListenerThatIsAddedWhenAPeerHasLeftHearsWhoSubscribesToItsTopicsNext() {
        publisher(4 << 20);
        int topics = 4_000;
        Subscriber gone = withTopics("a", topics);
        Subscriber next = connect();
        Set<ByteBuf> heard = new HashSet<>();

        clock.eventLoop().execute(() -> {
            gone.peer.down();
            fanOut.down(gone.peer);
            subscribers.listen((peer, request) -> heard.add(request.topic()), false);
            clock.eventLoop().execute(() -> {
                for (int i = 0; i < topics; i++) {
                    request(next, "a." + i, true);
                }
            });
        });
        clock.runPendingTasks();

        assertThat(heard.size()).isEqualTo(topics);
    }
}
