package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.CHANNEL;
import static dev.zmtp.ZMTPSocketType.CLIENT;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.GATHER;
import static dev.zmtp.ZMTPSocketType.PEER;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.SCATTER;
import static dev.zmtp.ZMTPSocketType.SERVER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.testing.TestSockets;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * T11. The draft types against ourselves and JeroMQ, with each side listening. Distributions of libzmq are built
 * without them.
 */
@Tag("T11")
class SocketDraftsIT {

    private static final SocketPeerKind[] KINDS = {SocketPeerKind.OURS, SocketPeerKind.JEROMQ};

    static List<Arguments> everyKindAndBinder() {
        return Every.combinationOf(KINDS, Binder.values());
    }

    static List<Arguments> everyKindAndBinderInBothRoles() {
        return Every.combinationOf(KINDS, Binder.values(), new Boolean[] {true, false});
    }

    // CLIENT, SERVER

    @ParameterizedTest(name = "{0}, {1} bind, we serve: {2}")
    @MethodSource("everyKindAndBinderInBothRoles")
    void aServerAnswersEachClientByItsRoutingId(SocketPeerKind kind, Binder binder, boolean weServe) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket server = sides.socket(weServe, SERVER);
            PeerSocket one = sides.socket(!weServe, CLIENT);
            PeerSocket another = sides.socket(!weServe, CLIENT);
            BothSides.join(binder, weServe, server, one, another);

            one.send(Messages.of("one"));
            another.send(Messages.of("another"));

            List<byte[]> ids = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                ZMTPMessage question = server.receive();
                ids.add(Messages.frames(question).get(0));
                server.send(question);
            }
            assertThat(ids.get(0)).hasSize(Integer.BYTES).isNotEqualTo(new byte[Integer.BYTES]);
            assertThat(ids.get(1)).hasSize(Integer.BYTES).isNotEqualTo(new byte[Integer.BYTES]);
            assertThat(ids.get(0)).isNotEqualTo(ids.get(1));
            assertThat(one.receive()).isEqualTo(Messages.of("one"));
            assertThat(another.receive()).isEqualTo(Messages.of("another"));
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyKindAndBinder")
    void aClientCannotChooseItsRoutingId(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket server = sides.ours(SERVER);
            PeerSocket client = sides.theirs(CLIENT);
            client.identity("client");
            BothSides.join(binder, server, client);

            client.send(Messages.of("question"));

            assertThat(Messages.frames(server.receive()).get(0)).hasSize(Integer.BYTES);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyKindAndBinder")
    void aClientAsksOneServerAfterTheOther(SocketPeerKind kind, Binder binder) {
        assertInTurn(kind, binder, CLIENT, SERVER);
    }

    private static void assertInTurn(
            SocketPeerKind kind, Binder binder, ZMTPSocketType ourType, ZMTPSocketType theirType) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket ours = sides.ours(ourType);
            PeerSocket one = sides.theirs(theirType);
            PeerSocket another = sides.theirs(theirType);
            BothSides.join(binder, ours, one, another);
            BothSides.awaitPeers(ours, 2);

            for (String text : List.of("1", "2", "3", "4")) {
                ours.send(Messages.of(text));
            }

            List<String> two = List.of(lastFrame(one), lastFrame(one));
            List<String> others = List.of(lastFrame(another), lastFrame(another));
            assertThat(List.of(two, others)).containsExactlyInAnyOrder(List.of("1", "3"), List.of("2", "4"));
        }
    }

    private static String lastFrame(PeerSocket from) {
        ZMTPMessage message = from.receive();
        return message.frame(message.size() - 1).toString(StandardCharsets.UTF_8);
    }

    // SCATTER, GATHER

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyKindAndBinder")
    void aScatterSendsToOneGatherAfterTheOther(SocketPeerKind kind, Binder binder) {
        assertInTurn(kind, binder, SCATTER, GATHER);
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyKindAndBinder")
    void aGatherReceivesFromAllScatters(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket gather = sides.ours(GATHER);
            PeerSocket one = sides.theirs(SCATTER);
            PeerSocket another = sides.theirs(SCATTER);
            BothSides.join(binder, gather, one, another);

            one.send(Messages.of("one"));
            another.send(Messages.of("another"));

            assertThat(List.of(gather.receive(), gather.receive()))
                    .containsExactlyInAnyOrder(Messages.of("one"), Messages.of("another"));
        }
    }

    // RADIO, DISH

    @ParameterizedTest(name = "{0}, {1} bind, we send: {2}")
    @MethodSource("everyKindAndBinderInBothRoles")
    void aDishGetsTheMessagesOfItsGroupsAndNoOthers(SocketPeerKind kind, Binder binder, boolean weSend) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket radio = sides.socket(weSend, RADIO);
            PeerSocket dish = sides.socket(!weSend, DISH);
            dish.subscribe("A");
            dish.subscribe("BB");
            dish.subscribe("end");
            BothSides.join(binder, weSend, radio, dish);
            sendUntilReceived(radio, dish, Messages.of("end", "to begin"));

            for (String group : List.of("A", "AB", "", "B", "BB", "BBB", "a")) {
                radio.send(Messages.of(group, "to " + group));
            }
            radio.send(Messages.of("end", "the last"));

            assertThat(receivedUntilLast(dish)).containsExactly(Messages.of("A", "to A"), Messages.of("BB", "to BB"));

            dish.unsubscribe("A");
            dish.subscribe("C");
            sendUntilReceived(radio, dish, Messages.of("C", "to begin"));
            radio.send(Messages.of("A", "to A"));
            radio.send(Messages.of("end", "the last"));

            assertThat(receivedUntilLast(dish)).doesNotContain(Messages.of("A", "to A"));
        }
    }

    private static void sendUntilReceived(PeerSocket radio, PeerSocket dish, ZMTPMessage message) {
        long deadline = Patience.deadline();
        ZMTPMessage received = null;
        while (received == null) {
            assertThat(Patience.isOver(deadline)).as("too late").isFalse();
            radio.send(message);
            received = dish.receive(Patience.RETRY);
        }
    }

    private static List<ZMTPMessage> receivedUntilLast(PeerSocket dish) {
        List<ZMTPMessage> received = new ArrayList<>();
        while (!received.contains(Messages.of("end", "the last"))) {
            received.add(dish.receive());
        }
        received.remove(received.size() - 1);
        received.removeIf(
                message -> message.frame(1).toString(StandardCharsets.UTF_8).equals("to begin"));
        return received;
    }

    // PEER

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyKindAndBinder")
    void peersAnswerEachOther(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket ours = sides.ours(PEER);
            PeerSocket theirs = sides.theirs(PEER);
            BothSides.join(binder, ours, theirs);
            BothSides.awaitPeers(ours, 1);
            ZMTPPeer peer = ours.socket().peers().iterator().next();

            TestSockets.get(peer.sendAsync(Messages.of("question")));
            ZMTPMessage question = theirs.receive();
            assertThat(question.frame(1)).isEqualTo(Messages.of("question").frame(0));
            theirs.send(question);

            ZMTPMessage answer = ours.receive();
            assertThat(answer.frame(0).nioBuffer()).isEqualTo(peer.routingId());
            assertThat(answer.frame(1)).isEqualTo(Messages.of("question").frame(0));
        }
    }

    // CHANNEL

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("everyKindAndBinder")
    void aChannelSendsAndReceivesInAnyOrder(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket ours = sides.ours(CHANNEL);
            PeerSocket theirs = sides.theirs(CHANNEL);
            BothSides.join(binder, ours, theirs);

            ours.send(Messages.of("1"));
            ours.send(Messages.of("2"));
            theirs.send(Messages.of("3"));
            theirs.send(Messages.of("4"));

            assertThat(ours.receive()).isEqualTo(Messages.of("3"));
            assertThat(theirs.receive()).isEqualTo(Messages.of("1"));
            assertThat(theirs.receive()).isEqualTo(Messages.of("2"));
            assertThat(ours.receive()).isEqualTo(Messages.of("4"));
        }
    }
}
