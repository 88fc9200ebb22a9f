package dev.zmtp.internal.socket.publish;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandler;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Publishers and subscribers. */
class SubscriptionsTest {

    private static final String ENDPOINT = "inproc://topics";

    /** What the publisher's application hears, as {@code +topic} and {@code -topic}. */
    private static List<String> heard(ZMTPSocket publisher, boolean all) {
        List<String> heard = new CopyOnWriteArrayList<>();
        BiConsumer<ZMTPPeer, ZMTPSubscription> hear = (peer, request) -> heard.add(text(request));
        if (all) {
            publisher.onEverySubscription(hear);
        } else {
            publisher.onSubscription(hear);
        }
        return heard;
    }

    private static String text(ZMTPSubscription request) {
        return (request.isSubscribe() ? "+" : "-") + request.topic().toString(StandardCharsets.UTF_8);
    }

    /** Whole first frames, their beginnings, and everything. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", ENDPOINT})
    void aMessageGoesToThoseThatHaveAPrefixOfItsFirstFrame(String endpoint, TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        String bound = bind(pub, endpoint);
        ZMTPSocket a = subscriber(sockets, bound, "A");
        ZMTPSocket ab = subscriber(sockets, bound, "AB");
        ZMTPSocket all = subscriber(sockets, bound, "");
        get(pub.whenPeers(3));

        for (String topic : List.of("A1", "AB1", "B1")) {
            pub.sendOrDrop(message(topic, "AB"));
        }
        pub.sendOrDrop(message("AB", "the end"));
        pub.sendOrDrop(message("", "AB"));

        assertThat(receive(a)).containsExactly("A1", "AB");
        assertThat(receive(a)).containsExactly("AB1", "AB");
        assertThat(receive(a)).containsExactly("AB", "the end");
        assertThat(receive(ab)).containsExactly("AB1", "AB");
        assertThat(receive(ab)).containsExactly("AB", "the end");
        for (String topic : List.of("A1", "AB1", "B1")) {
            assertThat(receive(all)).containsExactly(topic, "AB");
        }
        assertThat(receive(all)).containsExactly("AB", "the end");
        assertThat(receive(all)).containsExactly("", "AB");
    }

    private static ZMTPSocket subscriber(TestSockets sockets, String endpoint, String topic) {
        ZMTPSocket sub = sockets.open(SUB);
        sub.subscribe(topic);
        connect(sub, endpoint);
        return sub;
    }

    /** T7. */
    @Tag("T7")
    @Test
    void theLastOfTwoSubscribersThatLeaveCancelsTheTopic(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, false);
        String endpoint = bind(xpub, ENDPOINT);
        ZMTPSocket first = subscriber(sockets, endpoint, "A");
        ZMTPSocket second = subscriber(sockets, endpoint, "A");
        get(xpub.whenPeers(2));

        get(first.closeAsync(Duration.ZERO));
        await("one left", () -> xpub.peers().size() == 1);
        assertThat(heard).containsExactly("+A");
        get(second.closeAsync(Duration.ZERO));
        await("nobody left", () -> xpub.peers().isEmpty());

        await("the cancel", () -> heard.size() == 2);
        assertThat(heard).containsExactly("+A", "-A");
    }

    /** T6: with our own sockets; handles are counted. */
    @Tag("T6")
    @Test
    void theLastHandleOfATopicCancelsIt(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, true);
        ZMTPSocket sub = sockets.open(SUB);
        ZMTPRegistration one = sub.subscribe("A");
        ZMTPRegistration two = sub.subscribe("A");
        connect(sub, bind(xpub, ENDPOINT));
        get(xpub.whenPeers(1));

        one.close();
        one.close(); // a second time changes nothing
        ZMTPRegistration marker = sub.subscribe("B");
        await("the marker", () -> heard.contains("+B"));
        assertThat(heard).containsExactly("+A", "+B");
        two.close();
        marker.close();

        await("both cancels", () -> heard.size() == 4);
        assertThat(heard).containsExactly("+A", "+B", "-A", "-B");
    }

    /** A listener that wants all hears of each subscriber. */
    @Test
    void aListenerMayHearOfAllRequests(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, true);
        String endpoint = bind(xpub, ENDPOINT);
        ZMTPSocket first = subscriber(sockets, endpoint, "A");
        subscriber(sockets, endpoint, "A");
        get(xpub.whenPeers(2));

        get(first.closeAsync(Duration.ZERO));

        await("the cancel", () -> heard.size() == 3);
        assertThat(heard).containsExactly("+A", "+A", "-A");
    }

    @Test
    void aListenerThatWasUnregisteredHearsNothing(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> unheard = new CopyOnWriteArrayList<>();
        ZMTPRegistration registration = xpub.onEverySubscription((peer, request) -> unheard.add(text(request)));
        List<String> heard = heard(xpub, true);

        registration.close();
        subscriber(sockets, bind(xpub, ENDPOINT), "A");

        await("the subscription", () -> heard.contains("+A"));
        assertThat(unheard).isEmpty();
    }

    @Test
    void aListenerThatThrowsIsLoggedAndTheOthersHearAll() {
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.Subscribers");
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket xpub = sockets.open(XPUB);
            xpub.onEverySubscription((peer, request) -> {
                throw new IllegalStateException("of the test");
            });
            List<String> heard = heard(xpub, true);

            subscriber(sockets, bind(xpub, ENDPOINT), "A");

            await("the subscription", () -> heard.contains("+A"));
            assertThat(log.lines).singleElement().asString().startsWith("The listener of subscriptions failed at ");
        }
    }

    @Test
    void aPubDiscardsWhatSubscribersSend(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        ZMTPSocket xsub = sockets.open(XSUB);
        connect(xsub, bind(pub, ENDPOINT));

        get(xsub.sendAsync(message("upstream")));

        await(
                "discarded",
                () -> pub.peers().stream().anyMatch(peer -> peer.stats().malformed() == 1));
        assertThatThrownBy(pub::receive).isInstanceOf(UnsupportedOperationException.class);
    }

    /** Data is never taken for a subscription. */
    @Test
    void anXpubReceivesWhatSubscribersSend(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, true);
        ZMTPSocket xsub = sockets.open(XSUB);
        connect(xsub, bind(xpub, ENDPOINT));

        get(xsub.sendAsync(message("data", "\1A", "\0A")));

        assertThat(receive(xpub)).containsExactly("data", "\1A", "\0A");
        assertThat(heard).isEmpty();
    }

    @Test
    void anXpubTakesFromItsSubscribersInTurn(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        String endpoint = bind(xpub, ENDPOINT);
        ZMTPSocket one = sockets.open(XSUB);
        ZMTPSocket two = sockets.open(XSUB);
        connect(one, endpoint);
        connect(two, endpoint);
        for (int i = 0; i < 3; i++) {
            get(one.sendAsync(message("one")));
        }
        get(two.sendAsync(message("two")));
        await(
                "all",
                () -> xpub.peers().stream()
                                .mapToLong(peer -> peer.stats().received())
                                .sum()
                        == 4);

        assertThat(List.of(receive(xpub).get(0), receive(xpub).get(0))).containsExactlyInAnyOrder("one", "two");
        assertThat(receive(xpub)).containsExactly("one");
        assertThat(receive(xpub)).containsExactly("one");
    }

    /** Without a subscriber there is nothing to wait for. */
    @Test
    void whatNobodyHasSubscribedToIsSentToNobodyAndSucceeds(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(sockets.builder(PUB).sendQueueLimit(3, 100));
        for (int i = 0; i < 100; i++) {
            get(pub.sendAsync(message("nobody")));
        }
        await("the room of what was sent", pub::isWritable);
        assertThat(pub.stats().dropped()).isZero();
    }

    /** The close may come between the call and the task that waits. */
    @Test
    void nobodyWaitsForSubscribersOfASocketThatIsClosed(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        CompletableFuture<Void> late = new CompletableFuture<>();
        get(pub.closeAsync(Duration.ZERO));

        ClockedSockets.core(pub)
                .context()
                .executeHere(
                        () -> ClockedSockets.core(pub).subscribers().awaited().await(1, late));

        assertThat(reason(late)).isEqualTo(ZMTPSocketException.Reason.CLOSED);
    }

    /** A SUB gets what it has asked for, whatever the publisher sends; an XSUB gets all. */
    @ParameterizedTest
    @EnumSource(names = {"SUB", "XSUB"})
    void aSubFiltersOnceMore(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        ZMTPSocket sub = sockets.open(type);
        ZMTPRegistration wide = sub.subscribe("");
        ZMTPRegistration narrow = sub.subscribe("AB");
        connect(sub, bind(pub, ENDPOINT));
        get(pub.whenPeers(1));
        ZMTPPeer subscriber = TestSockets.peer(pub);
        wide.close();

        get(subscriber.sendAsync(message("A")));
        get(subscriber.sendAsync(message("ABC")));

        if (type == XSUB) {
            assertThat(receive(sub)).containsExactly("A");
        }
        assertThat(receive(sub)).containsExactly("ABC");
        narrow.close();
    }

    /** Subscriptions are state, and reach publishers that come later as well. */
    @Test
    void eachPublisherGetsAllSubscriptions(TestSockets sockets) {
        ZMTPSocket sub = sockets.open(SUB);
        sub.subscribe("A");
        sub.subscribe("B");
        sub.subscribe("gone").close();
        for (int i = 0; i < 3; i++) {
            ZMTPSocket xpub = sockets.open(XPUB);
            List<String> heard = heard(xpub, true);
            connect(sub, bind(xpub, ENDPOINT + i));
            await("both", () -> heard.size() == 2);
            assertThat(heard).containsExactly("+A", "+B");
        }
    }

    /** It waits for none, and keeps nothing that a full one has no room for. */
    @Test
    void anXsubSendsToAllPublishersAndDropsForThoseThatAreFull(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket xsub =
                sockets.open(sockets.builder(XSUB).sendQueueLimit(2, 16 << 20).pipelineInitializer(gate));
        List<ZMTPSocket> publishers = List.of(sockets.open(XPUB), sockets.open(XPUB));
        for (ZMTPSocket publisher : publishers) {
            connect(xsub, bind(publisher, "tcp://127.0.0.1:*"));
        }
        gate.close();

        get(xsub.sendAsync(WriteGate.big("transport")));
        for (int i = 0; i < 3; i++) {
            get(xsub.sendAsync(message("m" + i)));
        }

        assertThat(xsub.peers()).allMatch(peer -> peer.stats().dropped() == 1);
        assertThat(xsub.peers()).allMatch(peer -> peer.stats().sent() == 4);
        assertThat(xsub.peers()).allMatch(peer -> peer.stats().dropped() == 1);
        gate.open();
        for (ZMTPSocket publisher : publishers) {
            assertThat(WriteGate.text(get(publisher.receiveAsync()))).isEqualTo("transport");
            assertThat(receive(publisher)).containsExactly("m0");
            assertThat(receive(publisher)).containsExactly("m1");
        }
    }

    /** A subscriber that changes its mind must not take memory for each change. */
    @Test
    void aPublisherThatDoesNotReadIsToldTheDifferenceWhenItReadsAgain(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, true);
        ZMTPSocket xsub = sockets.open(sockets.builder(XSUB).pipelineInitializer(gate));
        xsub.subscribe("kept");
        xsub.subscribe("left");
        connect(xsub, bind(xpub, "tcp://127.0.0.1:*"));
        await("both topics", () -> heard.size() == 2);
        gate.close();
        get(xsub.sendAsync(WriteGate.big("fills the transport")));

        for (int i = 0; i < 100; i++) {
            xsub.subscribe("again").close();
        }
        xsub.unsubscribe("left");
        xsub.subscribe("new");
        settle(xsub);
        gate.open();

        await("the difference", () -> heard.size() == 4);
        assertThat(heard).containsExactly("+kept", "+left", "-left", "+new");
    }

    /** As the listener of a write may, which is called in the middle of it. */
    @Test
    void userCodeMaySubscribeWhileAPublisherIsToldTheTopics(TestSockets sockets) {
        int topics = 200; // more than one write
        String last = "z";
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, true);
        AtomicReference<ZMTPSocket> subscriber = new AtomicReference<>();
        ChannelOutboundHandler atTheFirstWrite = new ChannelOutboundHandlerAdapter() {
            private boolean done;

            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                if (!done && ((ByteBuf) msg).toString(StandardCharsets.UTF_8).contains("topic/")) {
                    done = true;
                    subscriber.get().unsubscribe(last); // which is not told
                    subscriber.get().subscribe("more");
                }
                ctx.write(msg, promise);
            }
        };
        subscriber.set(sockets.open(
                sockets.builder(XSUB).pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(atTheFirstWrite))));
        for (int i = 0; i < topics; i++) {
            subscriber.get().subscribe("topic/" + i);
        }
        subscriber.get().subscribe(last);

        connect(subscriber.get(), bind(xpub, "tcp://127.0.0.1:*"));
        get(subscriber.get().whenPeers(1));

        await("all topics", () -> heard.size() > topics);
        assertThat(heard).contains("+more").doesNotContain("+" + last).doesNotHaveDuplicates();
    }

    /** It is queued behind the topics that are not written yet, and nothing else has it sent. */
    @Test
    void aMessageThatUserCodeSendsBetweenTwoSubscriptionsReachesAll(TestSockets sockets) {
        AtomicReference<ZMTPSocket> subscriber = new AtomicReference<>();
        AtomicBoolean sends = new AtomicBoolean();
        subscriber.set(sockets.open(sockets.builder(XSUB)
                .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                        ctx.write(msg, promise);
                        if (sends.compareAndSet(true, false)) {
                            subscriber.get().sendOrDrop(message("upstream"));
                        }
                    }
                }))));
        List<ZMTPSocket> publishers = List.of(sockets.open(XPUB), sockets.open(XPUB));
        for (ZMTPSocket publisher : publishers) {
            connect(subscriber.get(), bind(publisher, ENDPOINT + publishers.indexOf(publisher)));
        }

        sends.set(true);
        subscriber.get().subscribe("topic");

        for (ZMTPSocket publisher : publishers) {
            assertThat(receive(publisher)).containsExactly("upstream");
        }
    }

    @Test
    void aSubscriberThatClosesItsConnectorCancelsItsTopics(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, false);
        ZMTPSocket xsub = sockets.open(XSUB);
        xsub.subscribe("A");
        xsub.subscribe("B");
        ZMTPEndpoint connector = xsub.connect(bind(xpub, ENDPOINT));
        get(xpub.whenPeers(1));
        await("both topics", () -> heard.size() == 2);

        get(TestSockets.disconnect(connector));

        await("both cancels", () -> heard.size() == 4);
        assertThat(heard).containsExactly("+A", "+B", "-A", "-B");
    }

    @Test
    void aMessageThatWaitsForAFullSubscriberPassesWhenThatCancels(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket pub = sockets.open(sockets.builder(PUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(1, 1 << 20)
                .pipelineInitializer(gate));
        ZMTPSocket sub = subscriber(sockets, bind(pub, "tcp://127.0.0.1:*"), "");
        get(pub.whenPeers(1));
        gate.close();
        get(pub.sendAsync(WriteGate.big("transport")));
        get(pub.sendAsync(message("queue")));
        CompletableFuture<Void> waits = pub.sendAsync(message("waits"));
        settle(pub);
        assertThat(waits).isNotDone();

        sub.unsubscribe("");

        get(waits);
        gate.open();
    }

    @Test
    void waitingForSubscribersEndsWithTheSocket(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        CompletableFuture<Void> reached = pub.whenPeers(1);

        get(pub.closeAsync(Duration.ZERO));

        assertThat(TestSockets.reason(reached)).isEqualTo(ZMTPSocketException.Reason.CLOSED);
    }

    /** One message for many, encoded once: each gets it whole, over both transports, and it is released. */
    @Test
    void aMessageForManyIsReleasedByTheLast(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        String tcp = bind(pub, "tcp://127.0.0.1:*");
        String inproc = bind(pub, ENDPOINT);
        List<ZMTPSocket> subs = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 10; i++) {
            subs.add(subscriber(sockets, i % 2 == 0 ? tcp : inproc, "m"));
        }
        get(pub.whenPeers(10));

        ZMTPMessage message = message("m", "body", "x".repeat(70_000));
        get(pub.sendAsync(message.retain()));

        for (ZMTPSocket sub : subs) {
            assertThat(receive(sub)).hasSize(3).startsWith("m", "body");
        }
        await("released by all", () -> message.refCnt() == 1);
        message.release();
    }

    @Test
    void aTopicIsCancelledWhenAsManyAreTakenOffAsWereAdded(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        List<String> heard = heard(xpub, true);
        ZMTPSocket sub = sockets.open(SUB);
        sub.connect(bind(xpub, ENDPOINT));
        sub.unsubscribe("A");
        ZMTPRegistration first = sub.subscribe("A");
        sub.subscribe("A");
        await("subscribed", () -> heard.size() == 1);

        sub.unsubscribe("A");
        first.close();
        sub.unsubscribe("A");
        sub.subscribe("B");

        await("all", () -> heard.size() == 3);
        assertThat(heard).containsExactly("+A", "-A", "+B");
    }
}
