package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Our sockets on {@code ws://}, with those of libzmq at the other side. */
class WebSocketIT {

    private static final String ANY_PORT = "ws://127.0.0.1:*/zeromq";

    /** At each length that changes the form of a header, with one byte for the flags. */
    private static final List<ZMTPMessage> MESSAGES = List.of(
            Messages.ofLengths(5),
            Messages.ofLengths(1, 0, 124),
            Messages.ofLengths(125, 1),
            Messages.ofLengths(65_534),
            Messages.ofLengths(65_535, 3),
            Messages.ofLengths(2, 1_000_000));

    /** Types that ask, with a type that answers, each with either side listening. */
    static List<Arguments> conversations() {
        List<Arguments> all = new ArrayList<>();
        Map<ZMTPSocketType, ZMTPSocketType> pairs =
                Map.of(REQ, REP, DEALER, ROUTER, PAIR, PAIR, REP, REQ, ROUTER, DEALER);
        pairs.forEach((ours, theirs) -> {
            for (Binder binder : Binder.values()) {
                all.add(Arguments.of(ours, theirs, binder));
            }
        });
        return all;
    }

    static List<Arguments> streams() {
        return Every.combinationOf(Binder.values(), new Boolean[] {true, false});
    }

    private static BothSides sides() {
        return sides(config -> {});
    }

    private static BothSides sides(Consumer<ZMTPSocketConfig.Builder> settings) {
        return new BothSides(SocketPeerKind.LIBZMQ, new OurPeer(new TestSockets(), settings));
    }

    private static void join(Binder binder, PeerSocket ours, PeerSocket theirs) {
        if (binder == Binder.WE) {
            theirs.connect(ours.bind(ANY_PORT));
        } else {
            ours.connect(theirs.bind(ANY_PORT));
        }
    }

    private static boolean asks(ZMTPSocketType type) {
        return type == REQ || type == DEALER || type == PAIR;
    }

    @ParameterizedTest(name = "our {0}, their {1}, {2} bind")
    @MethodSource("conversations")
    @Tag("T128")
    void messagesOfEachLengthGoThereAndBack(ZMTPSocketType type, ZMTPSocketType theirType, Binder binder) {
        try (BothSides sides = sides()) {
            PeerSocket ours = sides.ours(type);
            PeerSocket theirs = sides.theirs(theirType);
            join(binder, ours, theirs);
            PeerSocket asking = asks(type) ? ours : theirs;
            PeerSocket answering = asks(type) ? theirs : ours;

            for (ZMTPMessage message : MESSAGES) {
                asking.send(message);
                answering.send(answering.receive());

                assertThat(asking.receive()).isEqualTo(message);
            }
        }
    }

    @ParameterizedTest(name = "{0} bind, we send: {1}")
    @MethodSource("streams")
    @Tag("T128")
    void messagesAreDistributed(Binder binder, boolean weSend) {
        try (BothSides sides = sides()) {
            PeerSocket push = sides.socket(weSend, PUSH);
            PeerSocket pull = sides.socket(!weSend, PULL);
            join(binder, weSend ? push : pull, weSend ? pull : push);

            Stream.over(push, pull, 500);
        }
    }

    @ParameterizedTest(name = "{0} bind, we send: {1}")
    @MethodSource("streams")
    @Tag("T128")
    void subscribersReceiveTheirTopics(Binder binder, boolean weSend) {
        try (BothSides sides = sides()) {
            PeerSocket xpub = sides.socket(weSend, XPUB);
            PeerSocket sub = sides.socket(!weSend, SUB);
            sub.subscribe("b");
            join(binder, weSend ? xpub : sub, weSend ? sub : xpub);

            assertThat(next(xpub, sub)).isEqualTo(Messages.rawSubscription(true, "b"));
            xpub.send(Messages.of("a1"));
            xpub.send(Messages.of("b1", "x"));
            assertThat(sub.receive()).isEqualTo(Messages.of("b1", "x"));

            sub.unsubscribe("b");
            assertThat(next(xpub, sub)).isEqualTo(Messages.rawSubscription(false, "b"));
        }
    }

    /** Returns the next message, for which the thread of a sender of libzmq that listens has to call it. */
    private static ZMTPMessage next(PeerSocket receiver, PeerSocket sender) {
        ZMTPMessage received = null;
        for (int i = 0; received == null && i < 500; i++) {
            sender.pump();
            received = receiver.receive(Duration.ofMillis(20));
        }
        return received == null ? receiver.receive() : received;
    }

    @ParameterizedTest
    @EnumSource
    @Tag("T128")
    void anXsubReceivesFromAPub(Binder binder) {
        try (BothSides sides = sides()) {
            PeerSocket ours = sides.ours(XSUB);
            PeerSocket theirs = sides.theirs(PUB);
            ours.subscribe("");
            join(binder, ours, theirs);

            ZMTPMessage received = null;
            for (int i = 0; received == null && i < 500; i++) { // until the subscription has arrived
                theirs.send(Messages.of("news"));
                received = ours.receive(Duration.ofMillis(20));
            }
            assertThat(received).isEqualTo(Messages.of("news"));
        }
    }

    // Security

    @ParameterizedTest
    @EnumSource
    @Tag("T132")
    void plainAuthenticatesBothWays(Binder binder) {
        try (BothSides sides = sides(config -> config.codec(codec -> {
            if (binder == Binder.WE) {
                codec.mechanism(ZMTPPlain.server())
                        .authenticator(ZMTPPasswordAuthenticator.of(Map.of("admin", "secret")));
            } else {
                codec.mechanism(ZMTPPlain.client("admin", "secret"));
            }
        }))) {
            PeerSocket ours = sides.ours(DEALER);
            PeerSocket theirs = sides.theirs(DEALER);
            if (binder == Binder.WE) {
                theirs.plainClient("admin", "secret");
            } else {
                theirs.zapHandler(request -> ZapReply.accept("admin"));
                theirs.plainServer("global");
            }
            join(binder, ours, theirs);

            echo(ours, theirs);
        }
    }

    private static void echo(PeerSocket ours, PeerSocket theirs) {
        for (ZMTPMessage message : MESSAGES) {
            ours.send(message);
            theirs.send(theirs.receive());
            assertThat(ours.receive()).isEqualTo(message);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("T132")
    void curveEncryptsBothWays(Binder binder) {
        ZMTPCurveKeyPair server = ZMTPCurveKeyPair.generate();
        ZMTPCurveKeyPair client = ZMTPCurveKeyPair.generate();
        try (BothSides sides = sides(curve(binder, server, client))) {
            PeerSocket ours = sides.ours(DEALER);
            PeerSocket theirs = sides.theirs(DEALER);
            if (binder == Binder.WE) {
                theirs.curveClient(server.publicKey(), client);
            } else {
                theirs.zapHandler(request -> ZapReply.accept(""));
                theirs.curveServer(server, "global");
            }
            join(binder, ours, theirs);

            echo(ours, theirs);
        }
    }

    private static Consumer<ZMTPSocketConfig.Builder> curve(
            Binder binder, ZMTPCurveKeyPair server, ZMTPCurveKeyPair client) {
        return config -> config.codec(codec -> {
            if (binder == Binder.WE) {
                codec.mechanism(ZMTPCurve.server(server)).authenticator(ZMTPAuthenticator.acceptAll());
            } else {
                codec.mechanism(ZMTPCurve.client(server.publicKey(), client));
            }
        });
    }

    /** Its command within the box is one that libzmq's own PUB does not understand over ws. */
    @Test
    @Tag("T132")
    void theSealedSubscriptionOfAnotherSubscriberIsUnderstood() {
        ZMTPCurveKeyPair server = ZMTPCurveKeyPair.generate();
        try (BothSides sides = sides(curve(Binder.WE, server, server))) {
            PeerSocket ours = sides.ours(XPUB);
            PeerSocket theirs = sides.theirs(SUB);
            theirs.curveClient(server.publicKey(), ZMTPCurveKeyPair.generate());
            theirs.subscribe("a");
            join(Binder.WE, ours, theirs);

            assertThat(ours.receive()).isEqualTo(Messages.rawSubscription(true, "a"));
            ours.send(Messages.of("abc"));
            assertThat(theirs.receive()).isEqualTo(Messages.of("abc"));
        }
    }

    // The end

    @ParameterizedTest
    @EnumSource
    @Tag("T135")
    void heartbeatsKeepALivePeer(Binder binder) throws InterruptedException {
        try (BothSides sides = sides(config -> config.codec(
                codec -> codec.heartbeatInterval(Duration.ofMillis(50)).heartbeatTimeout(Duration.ofSeconds(2))))) {
            OurPeer.Socket ours = sides.ours(DEALER);
            PeerSocket theirs = sides.theirs(DEALER);
            theirs.heartbeat(Duration.ofMillis(50), Duration.ofSeconds(2), Duration.ZERO);
            TestSockets.Events events = TestSockets.events(ours.socket());
            join(binder, ours, theirs);
            echo(ours, theirs);

            Thread.sleep(3_000);

            assertThat(events.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
            echo(ours, theirs);
        }
    }

    @Test
    @Tag("T139")
    @Tag("linux") // signals
    void aPeerWhoseProcessIsStoppedIsTakenForDeadAndLivesAgain() throws Exception {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket dealer = sockets.open(sockets.builder(DEALER)
                    .codec(codec ->
                            codec.heartbeatInterval(Duration.ofMillis(200)).heartbeatTimeout(Duration.ofSeconds(1))));
            String endpoint = TestSockets.bind(dealer, ANY_PORT);
            TestSockets.Events events = TestSockets.events(dealer);
            try (SocketProcess echo = SocketProcess.connecting(SocketPeerKind.LIBZMQ, Map.of(ROUTER, endpoint))) {
                StoppedPeerIT.askUntilAnswered(dealer);
                Thread.sleep(500); // until it has answered a PING, which not every peer does
                events.drain();

                echo.stop();
                ZMTPSocketEvent.PeerDown down = events.next(ZMTPSocketEvent.PeerDown.class);
                echo.resume();

                assertThat(((ZMTPException) down.cause()).code()).isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT);
                StoppedPeerIT.askUntilAnswered(dealer);
            }
        }
    }

    @Test
    @Tag("T136")
    void aPeerThatClosesIsAnsweredAndConnectedToAgainLater() {
        try (BothSides sides = sides(config -> config.reconnectDelay(Duration.ofMillis(200), Duration.ofSeconds(1)))) {
            OurPeer.Socket ours = sides.ours(DEALER);
            String endpoint;
            TestSockets.Events events;
            try (PeerContext others = SocketPeerKind.LIBZMQ.open()) {
                PeerSocket theirs = others.socket(DEALER);
                endpoint = theirs.bind(ANY_PORT);
                events = TestSockets.events(ours.socket());
                ours.connect(endpoint);
                echo(ours, theirs);
            }
            events.next(ZMTPSocketEvent.PeerDown.class);
            ZMTPSocketEvent.Retrying retrying = events.next(ZMTPSocketEvent.Retrying.class);
            assertThat(retrying.delay()).isGreaterThanOrEqualTo(Duration.ofMillis(100));
            PeerSocket again = sides.theirs(DEALER);
            again.bind(endpoint);

            echo(ours, again);
        }
    }
}
