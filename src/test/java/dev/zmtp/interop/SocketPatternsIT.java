package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.TestSockets.Events;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The patterns of our sockets, against ourselves and other implementations, with each side listening. */
class SocketPatternsIT {

    private static final int SOME = 2_000;
    private static final int MANY = 30_000;

    /** Data of a subscriber, of which some frames look like subscriptions and cancels. */
    private static final ZMTPMessage UPSTREAM = Messages.of("data", "\1B", "\0C", "\0", "\1");

    private static final ZMTPMessage NEXT = Messages.of("next");

    /** T1, with as many messages as go within a second. */
    @Tag("T1")
    @ParameterizedTest(name = "{0}, {1} bind, we send: {2}")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinderInBothRoles")
    void messagesArriveOnceInOrderByteForByte(SocketPeerKind kind, Binder binder, boolean weSend) {
        stream(kind, binder, weSend, SOME);
    }

    /** T1. */
    @Tag("T1")
    @Test
    @Tag("slow")
    void aHundredThousandMessagesArriveOnceInOrderByteForByte() {
        stream(SocketPeerKind.LIBZMQ, Binder.WE, true, MANY);
    }

    private static void stream(SocketPeerKind kind, Binder binder, boolean weSend, int count) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket push = sides.socket(weSend, ZMTPSocketType.PUSH);
            PeerSocket pull = sides.socket(!weSend, ZMTPSocketType.PULL);
            BothSides.join(binder, weSend, push, pull);

            Stream.over(push, pull, count);
        }
    }

    // Subscriptions

    /** T5. */
    @Tag("T5")
    @ParameterizedTest(name = "{0}, {1} bind, we publish: {2}")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinderInBothRoles")
    void subscribersGetWhatBeginsWithTheirTopics(SocketPeerKind kind, Binder binder, boolean wePublish) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket pub = sides.socket(wePublish, ZMTPSocketType.PUB);
            PeerSocket ofA = sides.socket(!wePublish, ZMTPSocketType.SUB);
            PeerSocket ofAb = sides.socket(!wePublish, ZMTPSocketType.SUB);
            PeerSocket ofAll = sides.socket(!wePublish, ZMTPSocketType.SUB);
            ofA.subscribe("A");
            ofAb.subscribe("AB");
            ofAll.subscribe("");
            BothSides.join(binder, wePublish, pub, ofA, ofAb, ofAll);
            publishUntilAllReceive(pub, ofA, ofAb, ofAll);

            for (String topic : List.of("A1", "AB1", "B1", "AB, the last")) {
                pub.send(Messages.of(topic, "body"));
            }

            assertThat(receivedUntilLast(ofA)).containsExactly("A1", "AB1");
            assertThat(receivedUntilLast(ofAb)).containsExactly("AB1");
            assertThat(receivedUntilLast(ofAll)).containsExactly("A1", "AB1", "B1");
        }
    }

    /** Only a message shows that a subscription has reached a PUB. */
    private static void publishUntilAllReceive(PeerSocket pub, PeerSocket... subscribers) {
        long deadline = Patience.deadline();
        for (PeerSocket subscriber : subscribers) {
            ZMTPMessage received = null;
            while (received == null) {
                assertThat(Patience.isOver(deadline)).as("too late").isFalse();
                pub.send(Messages.of("AB, to begin", "body"));
                received = subscriber.receive(Patience.RETRY);
            }
        }
    }

    private static List<String> receivedUntilLast(PeerSocket subscriber) {
        List<String> topics = new ArrayList<>();
        String topic = "";
        while (!topic.equals("AB, the last")) {
            topic = new String(Messages.frames(subscriber.receive()).get(0), StandardCharsets.UTF_8);
            topics.add(topic);
        }
        topics.remove("AB, the last");
        topics.removeIf("AB, to begin"::equals);
        return topics;
    }

    /** T6. */
    @Tag("T6")
    @ParameterizedTest(name = "{0}, {1} bind, we publish: {2}")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinderInBothRoles")
    void anXpubReportsTheFirstSubscriptionAndTheLastCancel(SocketPeerKind kind, Binder binder, boolean wePublish) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket xpub = sides.socket(wePublish, ZMTPSocketType.XPUB);
            PeerSocket sub = sides.socket(!wePublish, ZMTPSocketType.SUB);
            BothSides.join(binder, wePublish, xpub, sub);

            sub.subscribe("A");
            sub.subscribe("A");
            sub.unsubscribe("A");
            sub.subscribe("B");

            assertThat(reported(xpub, sub)).isEqualTo(Messages.rawSubscription(true, "A"));
            assertThat(reported(xpub, sub)).isEqualTo(Messages.rawSubscription(true, "B"));

            sub.unsubscribe("A");
            sub.subscribe("C");

            assertThat(reported(xpub, sub)).isEqualTo(Messages.rawSubscription(false, "A"));
            assertThat(reported(xpub, sub)).isEqualTo(Messages.rawSubscription(true, "C"));
        }
    }

    /** What the publisher reports next, which the subscriber may have to send first. */
    private static ZMTPMessage reported(PeerSocket xpub, PeerSocket subscriber) {
        long deadline = Patience.deadline();
        ZMTPMessage reported = null;
        while (reported == null) {
            assertThat(Patience.isOver(deadline)).as("too late").isFalse();
            subscriber.pump();
            reported = xpub.receive(Patience.RETRY);
        }
        return reported;
    }

    // Upstream

    /** T8, with libzmq's option for it, which JeroMQ does not have. */
    @Tag("T8")
    @ParameterizedTest(name = "{0}, {1} bind, we subscribe: {2}")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinderInBothRoles")
    void dataFromSubscribersThatLooksLikeSubscriptionsArrivesUnchanged(
            SocketPeerKind kind, Binder binder, boolean weSubscribe) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket xsub = sides.socket(weSubscribe, ZMTPSocketType.XSUB);
            PeerSocket xpub = sides.socket(!weSubscribe, ZMTPSocketType.XPUB);
            boolean whole = kind != SocketPeerKind.JEROMQ;
            if (whole) {
                xsub.wholeMessagesUpstream();
                xpub.wholeMessagesUpstream();
            }
            BothSides.join(binder, weSubscribe, xsub, xpub);
            xsub.subscribe("A");
            assertThat(reported(xpub, xsub)).isEqualTo(Messages.rawSubscription(true, "A"));

            xsub.send(UPSTREAM);
            xsub.send(NEXT);

            if (whole) {
                assertThat(xpub.receive()).isEqualTo(UPSTREAM);
            }
            assertThat(receivedUntil(NEXT, xpub)).doesNotContain(Messages.rawSubscription(true, "B"));
        }
    }

    /** T8: whatever their XSUB makes of it, our XPUB does not tear it further, and reports no subscription. */
    @Tag("T8")
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OURS")
    void aMessageThatTheirXsubHasTornChangesNoSubscription(SocketPeerKind kind) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket xsub = sides.theirs(ZMTPSocketType.XSUB);
            PeerSocket xpub = sides.ours(ZMTPSocketType.XPUB);
            BothSides.join(Binder.WE, xpub, xsub);
            xsub.subscribe("A");
            assertThat(reported(xpub, xsub)).isEqualTo(Messages.rawSubscription(true, "A"));

            xsub.send(UPSTREAM);
            xsub.send(NEXT);

            // Theirs drops the cancels of topics that it does not have from the middle of the message.
            assertThat(xpub.receive()).isEqualTo(Messages.of("data", "\1B", "\1"));
            assertThat(xpub.receive()).isEqualTo(NEXT);
        }
    }

    private static List<ZMTPMessage> receivedUntil(ZMTPMessage last, PeerSocket socket) {
        List<ZMTPMessage> received = new ArrayList<>();
        while (!received.contains(last)) {
            received.add(socket.receive());
        }
        return received;
    }

    // One peer

    /** T9. */
    @Tag("T9")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void aPairSendsAndReceivesInAnyOrder(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket ours = sides.ours(ZMTPSocketType.PAIR);
            PeerSocket theirs = sides.theirs(ZMTPSocketType.PAIR);
            BothSides.join(binder, ours, theirs);

            ours.send(Messages.of("one", "", "of ours"));
            ours.send(Messages.of("two"));
            theirs.send(Messages.of("one", "of theirs"));
            theirs.send(Messages.of("two"));

            assertThat(theirs.receive()).isEqualTo(Messages.of("one", "", "of ours"));
            assertThat(ours.receive()).isEqualTo(Messages.of("one", "of theirs"));
            assertThat(ours.receive()).isEqualTo(Messages.of("two"));
            assertThat(theirs.receive()).isEqualTo(Messages.of("two"));
        }
    }

    /** T9. */
    @Tag("T9")
    @ParameterizedTest
    @EnumSource
    void aThirdPairIsRefusedWithAnEventOnBothSidesAndTakesThePlaceWhenItIsFree(SocketPeerKind kind) {
        try (BothSides sides = new BothSides(kind);
                PeerContext more = kind.open()) {
            OurPeer.Socket first = sides.ours(ZMTPSocketType.PAIR);
            PeerSocket third = more.socket(ZMTPSocketType.PAIR);
            String endpoint = first.bind("tcp://127.0.0.1:*");
            Events events = TestSockets.events(first.socket());
            try (PeerContext some = kind.open()) {
                PeerSocket second = some.socket(ZMTPSocketType.PAIR);
                second.connect(endpoint);
                events.next(ZMTPSocketEvent.PeerUp.class);

                third.connect(endpoint);

                assertThat(events.nextRefusal()).hasMessageContaining("has its one peer");
                third.awaitEnd();
                second.send(Messages.of("still here"));
                assertThat(first.receive()).isEqualTo(Messages.of("still here"));
            }

            third.send(Messages.of("now I"));

            assertThat(first.receive()).isEqualTo(Messages.of("now I"));
        }
    }

    // Requests

    /** T15. */
    @Tag("T15")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void anAnswerWithoutADelimiterFailsTheRequestAndTheNextOneWorks(SocketPeerKind kind, Binder binder)
            throws InterruptedException {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket req = sides.ours(ZMTPSocketType.REQ);
            PeerSocket router = sides.theirs(ZMTPSocketType.ROUTER);
            BothSides.join(binder, req, router);

            req.send(Messages.of("question"));
            List<byte[]> question = Messages.frames(router.receive());
            router.send(Messages.of(List.of(question.get(0), "no".getBytes(StandardCharsets.UTF_8))));

            assertThatThrownBy(() -> req.socket().receive(Patience.LIMIT))
                    .isInstanceOfSatisfying(
                            ZMTPSocketException.class,
                            e -> assertThat(e.reason()).isEqualTo(ZMTPSocketException.Reason.MALFORMED));

            req.send(Messages.of("another"));
            router.send(router.receive());
            assertThat(req.receive()).isEqualTo(Messages.of("another"));
            assertThat(req.socket().stats().malformed()).isEqualTo(1);
        }
    }

    /** T15. */
    @Tag("T15")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void aRequestIsAsTheirServicesExpectItAndWithoutADelimiterInTheAnswerItFailsAndTheNextOneWorks(
            SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket req = sides.ours(ZMTPSocketType.REQ);
            PeerSocket router = sides.theirs(ZMTPSocketType.ROUTER);
            BothSides.join(binder, req, router);
            TestSockets.get(req.socket().whenPeers(1));

            CompletableFuture<ZMTPMessage> first = req.socket().requestAsync(Messages.of("question"), Patience.LIMIT);
            List<byte[]> question = Messages.frames(router.receive());
            assertThat(question).hasSize(3); // the name, an empty frame, and the data
            assertThat(question.get(1)).isEmpty();
            router.send(Messages.of(List.of(question.get(0), "no".getBytes(StandardCharsets.UTF_8))));

            assertThat(TestSockets.reason(first)).isEqualTo(ZMTPSocketException.Reason.MALFORMED);
            TestSockets.await("a new connection", () -> req.socket().stats().connects() == 2);

            CompletableFuture<ZMTPMessage> second = req.socket().requestAsync(Messages.of("another"), Patience.LIMIT);
            router.send(router.receive());
            assertThat(Messages.heap(TestSockets.get(second))).isEqualTo(Messages.of("another"));
        }
    }
}
