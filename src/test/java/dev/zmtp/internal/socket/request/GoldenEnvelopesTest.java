package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.CLIENT;
import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.ScriptedPeer.command;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WirePeer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The very bytes that sockets put on the wire, and what they make of those of a peer. */
class GoldenEnvelopesTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";
    private static final Duration TIMEOUT = TestSockets.PATIENCE;

    private final TestSockets sockets = new TestSockets();

    @AfterEach
    void close() {
        sockets.close();
    }

    /** A peer of {@code socket}, which is bound for it. */
    private static WirePeer peer(ZMTPSocket socket, ZMTPSocketType type) throws IOException {
        return WirePeer.connect(bind(socket, ANY_PORT), ready(type.name()));
    }

    // REQ

    @Test
    void aReqPutsAnEmptyFrameBeforeItsRequestAndTakesItOffTheAnswer() throws IOException {
        ZMTPSocket req = sockets.open(REQ);
        try (WirePeer rep = peer(req, REP)) {
            CompletableFuture<Void> sent = req.sendAsync(message("how", "", "are you?"));
            CompletableFuture<ZMTPMessage> answer = req.receiveAsync();

            rep.hear("01 00 / 01 03 \"how\" / 01 00 / 00 08 \"are\" 20 \"you?\"");
            rep.say("01 00 / 01 00 / 00 04 \"well\"");

            get(sent);
            assertThat(frames(get(answer))).containsExactly("", "well");
        }
    }

    @Test
    void aReqSendsTheNextRequestWhenTheLastWasAnswered() throws IOException {
        ZMTPSocket req = sockets.open(REQ);
        try (WirePeer rep = peer(req, REP)) {
            for (int i = 0; i < 2; i++) {
                req.sendAsync(message("?"));
                CompletableFuture<ZMTPMessage> answer = req.receiveAsync();
                rep.hear("01 00 / 00 01 \"?\"").say("01 00 / 00 01 \"!\"");
                assertThat(frames(get(answer))).containsExactly("!");
            }
        }
    }

    // Requests with an id

    @Test
    void aCorrelatedRequestOfADealerHasAnIdBeforeTheEmptyFrame() throws IOException {
        assertCorrelated(sockets.open(DEALER));
    }

    @Test
    void aCorrelatedRequestOfAReqHasAnIdBeforeTheEmptyFrame() throws IOException {
        assertCorrelated(sockets.open(sockets.builder(REQ).correlateRequests(true)));
    }

    private static void assertCorrelated(ZMTPSocket asking) throws IOException {
        try (WirePeer rep = peer(asking, REP)) {
            get(asking.whenPeers(1));
            CompletableFuture<ZMTPMessage> first = asking.requestAsync(message("1", "more"), TIMEOUT);
            rep.hear("01 04");
            String firstId = rep.hear(4);
            rep.hear("01 00 / 01 01 \"1\" / 00 04 \"more\"");
            CompletableFuture<ZMTPMessage> second = asking.requestAsync(message("2"), TIMEOUT);
            rep.hear("01 04");
            String secondId = rep.hear(4);
            rep.hear("01 00 / 00 01 \"2\"");

            assertThat(secondId).isNotEqualTo(firstId);
            rep.say("01 04" + secondId + "01 00 / 00 01 \"b\"");
            rep.say("01 04" + firstId + "01 00 / 01 01 \"a\" / 00 00");

            assertThat(frames(get(second))).containsExactly("b");
            assertThat(frames(get(first))).containsExactly("a", "");
        }
    }

    // Requests without an id

    /** Services on a ROUTER that were written by hand expect the empty frame first. */
    @Test
    void aRequestOfAReqHasNoIdAndTheNextOneWaitsForItsAnswer() throws IOException {
        ZMTPSocket req = sockets.open(REQ);
        try (WirePeer rep = peer(req, REP)) {
            get(req.whenPeers(1));
            CompletableFuture<ZMTPMessage> first = req.requestAsync(message("1", "more"), TIMEOUT);
            CompletableFuture<ZMTPMessage> second = req.requestAsync(message("2"), TIMEOUT);

            rep.hear("01 00 / 01 01 \"1\" / 00 04 \"more\"").say("01 00 / 01 01 \"a\" / 00 00");
            rep.hear("01 00 / 00 01 \"2\"").say("01 00 / 00 01 \"b\"");

            assertThat(frames(get(first))).containsExactly("a", "");
            assertThat(frames(get(second))).containsExactly("b");
        }
    }

    /** To speak to a REP, the application sends the empty frame itself. */
    @Test
    void aDealerSendsAndReceivesMessagesAsTheyAre() throws IOException {
        ZMTPSocket dealer = sockets.open(DEALER);
        try (WirePeer rep = peer(dealer, REP)) {
            dealer.sendAsync(message("", "?"));

            rep.hear("01 00 / 00 01 \"?\"").say("01 00 / 00 01 \"!\"").say("00 03 \"any\"");

            assertThat(receive(dealer)).containsExactly("", "!");
            assertThat(receive(dealer)).containsExactly("any");
        }
    }

    // REP

    @Test
    void aRepKeepsTheEnvelopeOfManyHopsAndSendsItBack() throws IOException {
        ZMTPSocket rep = sockets.open(REP);
        try (WirePeer dealer = peer(rep, DEALER)) {
            dealer.say("01 02 \"id\" / 01 05 00 00 00 00 07 / 01 00 / 01 00 / 00 01 \"?\"");

            assertThat(receive(rep)).containsExactly("", "?");
            get(rep.sendAsync(message("!", "")));

            dealer.hear("01 02 \"id\" / 01 05 00 00 00 00 07 / 01 00 / 01 01 \"!\" / 00 00");
        }
    }

    @Test
    void aServiceSendsEachAnswerBackInTheEnvelopeOfItsRequest() throws IOException {
        ZMTPSocket rep = sockets.open(REP);
        CompletableFuture<ZMTPMessage> first = new CompletableFuture<>();
        rep.serve(TestSockets.answering(request -> answer(request, first)));
        try (WirePeer dealer = peer(rep, DEALER)) {
            dealer.say("01 01 \"a\" / 01 00 / 00 05 \"first\"");
            dealer.say("01 01 \"b\" / 01 00 / 00 04 \"next\"");

            dealer.hear("01 01 \"b\" / 01 00 / 00 04 \"next\"");
            first.complete(message("late"));
            dealer.hear("01 01 \"a\" / 01 00 / 00 04 \"late\"");
        }
    }

    private static CompletionStage<ZMTPMessage> answer(ZMTPRequest request, CompletableFuture<ZMTPMessage> first) {
        ZMTPMessage question = request.message();
        boolean isFirst = question.frame(0).toString(StandardCharsets.UTF_8).equals("first");
        return isFirst ? first : CompletableFuture.completedFuture(question.retain());
    }

    // ROUTER

    @Test
    void aRouterPutsTheNameOfThePeerBeforeWhatItReceivesAndTakesItOffWhatItSends() throws IOException {
        ZMTPSocket router = sockets.open(ROUTER);
        try (WirePeer req = WirePeer.connect(bind(router, ANY_PORT), ready("REQ", "Identity", "client"))) {
            req.say("01 00 / 00 01 \"?\"");

            assertThat(receive(router)).containsExactly("client", "", "?");
            get(router.sendAsync(message("client", "", "!", "")));

            req.hear("01 00 / 01 01 \"!\" / 00 00");
        }
    }

    @Test
    void aRouterNamesAPeerWithoutANameByNineBytesOfWhichTheFirstIsZero() throws IOException {
        ZMTPSocket router = sockets.open(ROUTER);
        try (WirePeer dealer = peer(router, DEALER)) {
            dealer.say("00 01 \"?\"");

            ZMTPMessage received = get(router.receiveAsync());
            assertThat(received.frame(0).readableBytes()).isEqualTo(9);
            assertThat(received.frame(0).getByte(0)).isZero();
            get(router.sendAsync(received));

            dealer.hear("00 01 \"?\"");
        }
    }

    // Subscriptions

    private static final String SUBSCRIBE = "09 \"SUBSCRIBE\" ";
    private static final String CANCEL = "06 \"CANCEL\" ";

    /** A topic that is wanted twice is asked for once, and cancelled with its last registration. */
    @Test
    void aSubAsksAPublisherOf31ByCommands() throws IOException {
        ZMTPSocket sub = sockets.open(SUB);
        ZMTPRegistration first = sub.subscribe("A");
        ZMTPRegistration second = sub.subscribe("A");
        try (WirePeer pub = peer(sub, PUB)) {
            pub.hear(command(SUBSCRIBE + "\"A\""));
            first.close();
            sub.subscribe("");
            pub.hear(command(SUBSCRIBE));
            second.close();
            pub.hear(command(CANCEL + "\"A\""));
        }
    }

    @Test
    void aSubAsksAPublisherOf30ByMessages() throws IOException {
        ZMTPSocket sub = sockets.open(SUB);
        ZMTPRegistration registration = sub.subscribe("A");
        try (ServerSocket server = WirePeer.listen()) {
            sub.connect(WirePeer.endpoint(server));
            try (WirePeer pub = WirePeer.accept(server, ZMTPVersion.ZMTP30, ready("PUB"))) {
                pub.hear("00 02 01 \"A\"");
                sub.subscribe("BC");
                pub.hear("00 03 01 \"BC\"");
                registration.close();
                pub.hear("00 02 00 \"A\"");
            }
        }
    }

    /** In the order of their bytes, so that a trace can be compared with another. */
    @Test
    void aSubAsksAgainForAllItsTopicsAfterEachHandshake() throws IOException {
        ZMTPSocket sub = sockets.open(sockets.builder(SUB).reconnectDelay(Duration.ofMillis(1), Duration.ofSeconds(1)));
        sub.subscribe("B");
        ZMTPRegistration cancelled = sub.subscribe("C");
        sub.subscribe("A");
        try (ServerSocket server = WirePeer.listen()) {
            sub.connect(WirePeer.endpoint(server));
            try (WirePeer pub = WirePeer.accept(server, ZMTPVersion.ZMTP31, ready("PUB"))) {
                pub.hear(command(SUBSCRIBE + "\"A\"") + command(SUBSCRIBE + "\"B\"") + command(SUBSCRIBE + "\"C\""));
                cancelled.close();
                pub.hear(command(CANCEL + "\"C\""));
            }
            try (WirePeer pub = WirePeer.accept(server, ZMTPVersion.ZMTP31, ready("PUB"))) {
                pub.hear(command(SUBSCRIBE + "\"A\"") + command(SUBSCRIBE + "\"B\""));
            }
        }
    }

    /** Data is never taken for a subscription, whatever its frames begin with. */
    @Test
    void anXsubSendsDataAsItIsAfterItsSubscriptions() throws IOException {
        ZMTPSocket xsub = sockets.open(XSUB);
        xsub.subscribe("A");
        try (WirePeer xpub = peer(xsub, XPUB)) {
            xpub.hear(command(SUBSCRIBE + "\"A\""));

            get(xsub.sendAsync(message("data", "\1A", "\0A")));

            xpub.hear("01 04 \"data\" / 01 02 01 \"A\" / 00 02 00 \"A\"");
        }
    }

    @Test
    void aPubSendsWhatBeginsWithATopicOfItsSubscriber() throws IOException {
        ZMTPSocket pub = sockets.open(PUB);
        try (WirePeer sub = peer(pub, SUB)) {
            sub.say(command(SUBSCRIBE + "\"A\"") + "00 02 01 \"B\""); // in both forms
            get(pub.whenPeers(1));
            sub.say(command(SUBSCRIBE + "\"end\"")).say("04 07 / 04 \"PING\" 00 00");
            sub.hear("04 05 / 04 \"PONG\""); // and so all subscriptions have arrived

            for (String topic : new String[] {"B1", "C", "", "A1", "xA", "end"}) {
                get(pub.sendAsync(message(topic, "news")));
            }

            sub.hear("01 02 \"B1\" / 00 04 \"news\"");
            sub.hear("01 02 \"A1\" / 00 04 \"news\"");
            sub.hear("01 03 \"end\" / 00 04 \"news\"");
        }
    }

    // Drafts

    @Test
    void aDishJoinsByCommandsAndGetsTheGroupWithEachMessage() throws IOException {
        ZMTPSocket dish = sockets.open(DISH);
        ZMTPRegistration registration = dish.subscribe("A");
        try (WirePeer radio = peer(dish, RADIO)) {
            radio.hear(command("04 \"JOIN\" \"A\"")).say("01 01 \"A\" / 00 04 \"body\"");
            assertThat(receive(dish)).containsExactly("A", "body");
            registration.close();
            radio.hear(command("05 \"LEAVE\" \"A\""));
        }
    }

    @Test
    void aRadioSendsTheGroupAndTheBody() throws IOException {
        ZMTPSocket radio = sockets.open(RADIO);
        try (WirePeer dish = peer(radio, DISH)) {
            dish.say(command("04 \"JOIN\" \"A\""));
            get(radio.whenPeers(1));

            get(radio.sendAsync(message("A", "body")));

            dish.hear("01 01 \"A\" / 00 04 \"body\"");
        }
    }

    @Test
    void aServerPutsNoRoutingIdOnTheWire() throws IOException {
        ZMTPSocket server = sockets.open(ZMTPSocketType.SERVER);
        try (WirePeer client = peer(server, CLIENT)) {
            client.say("00 01 \"?\"");

            get(server.sendAsync(get(server.receiveAsync())));

            client.hear("00 01 \"?\"");
        }
    }

    // Before there is a peer

    /** What was sent before the first connection leaves in its order, and before what comes later. */
    @Test
    void whatWaitsForAPeerLeavesInOrder() throws IOException {
        ZMTPSocket push = sockets.open(PUSH);
        try (ServerSocket server = WirePeer.listen()) {
            push.connect(WirePeer.endpoint(server));
            push.sendAsync(message("1", ""));
            push.sendAsync(message("2"));
            try (WirePeer pull = WirePeer.accept(server, ZMTPVersion.ZMTP31, ready("PULL"))) {
                pull.hear("01 01 \"1\" / 00 00 / 00 01 \"2\"");
                push.sendAsync(message("3"));
                pull.hear("00 01 \"3\"");
            }
        }
    }
}
