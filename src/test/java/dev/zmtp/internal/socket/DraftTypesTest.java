package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.CHANNEL;
import static dev.zmtp.ZMTPSocketType.CLIENT;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.PEER;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.SERVER;
import static dev.zmtp.testing.ScriptedPeer.command;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.TestSockets.Events;
import dev.zmtp.testing.WirePeer;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** T11: what the drafts ask of their types (RFC 41, 48, 49, 51, 52) beyond what {@code SocketDraftsIT} exchanges. */
@Tag("T11")
class DraftTypesTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    private final TestSockets sockets = new TestSockets();

    @AfterEach
    void close() {
        sockets.close();
    }

    // One direction

    @ParameterizedTest
    @EnumSource(names = {"SCATTER", "RADIO"})
    void typesThatOnlySendDoNotReceive(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(type);

        assertThatThrownBy(socket::receive).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @EnumSource(names = {"GATHER", "DISH"})
    void typesThatOnlyReceiveDoNotSend(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(type);
        ZMTPMessage message = message("group", "body");

        assertThatThrownBy(() -> socket.sendAsync(message)).isInstanceOf(UnsupportedOperationException.class);

        assertThat(message.refCnt()).isZero();
    }

    // One frame

    /** The socket takes it over all the same. */
    @ParameterizedTest
    @CsvSource({"CLIENT, 2", "SCATTER, 2", "CHANNEL, 2", "SERVER, 3", "PEER, 3", "RADIO, 3", "RADIO, 1"})
    void aMessageWithAnotherNumberOfFramesIsNotSent(ZMTPSocketType type, int frames) {
        ZMTPSocket socket = sockets.open(type);
        ZMTPMessage message = message(List.of("a", "b", "c").subList(0, frames).toArray(String[]::new));

        assertThatThrownBy(() -> socket.sendAsync(message)).isInstanceOf(IllegalArgumentException.class);
        assertThat(message.refCnt()).isZero();
        ZMTPMessage next = message(List.of("a", "b", "c").subList(0, frames).toArray(String[]::new));
        assertThatThrownBy(() -> socket.trySend(next)).isInstanceOf(IllegalArgumentException.class);
        assertThat(next.refCnt()).isZero();
    }

    /** The connection stays. */
    @ParameterizedTest
    @CsvSource({"CLIENT, SERVER", "SERVER, CLIENT", "PEER, PEER", "GATHER, SCATTER", "CHANNEL, CHANNEL"})
    void aMessageOfSeveralFramesThatArrivesIsSkippedWhole(ZMTPSocketType type, ZMTPSocketType peerType)
            throws IOException {
        ZMTPSocket socket = sockets.open(type);
        try (WirePeer peer = WirePeer.connect(bind(socket, ANY_PORT), ready(peerType.name()))) {
            peer.say("01 01 \"1\" / 01 00 / 00 01 \"3\"").say("00 05 \"whole\"");

            assertThat(receive(socket)).endsWith("whole").doesNotContain("1", "3");
            assertThat(socket.peers())
                    .singleElement()
                    .extracting(from -> from.stats().malformed())
                    .isEqualTo(1L);
        }
    }

    @Test
    void aDishSkipsWhatIsNotAGroupAndABody() throws IOException {
        ZMTPSocket dish = sockets.open(DISH);
        dish.subscribe("A");
        try (WirePeer radio = WirePeer.connect(bind(dish, ANY_PORT), ready("RADIO"))) {
            radio.hear(command("04 \"JOIN\" \"A\""));
            radio.say("00 01 \"A\" / 01 01 \"A\" / 01 01 \"b\" / 00 01 \"c\"").say("01 01 \"A\" / 00 04 \"body\"");

            assertThat(receive(dish)).containsExactly("A", "body");
            assertThat(dish.peers())
                    .singleElement()
                    .extracting(from -> from.stats().malformed())
                    .isEqualTo(2L);
        }
    }

    // By routing id

    @ParameterizedTest
    @EnumSource(names = {"SERVER", "PEER"})
    void anUnknownRoutingIdIsAnError(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(type);

        assertThat(reason(socket.sendAsync(message("none", "body")))).isEqualTo(ZMTPSocketException.Reason.UNROUTABLE);
        assertThat(reason(socket.sendAsync(message("\0\0\0\0", "body"))))
                .isEqualTo(ZMTPSocketException.Reason.UNROUTABLE);
    }

    /** The id of a peer that has left is not given to the next one. */
    @Test
    void theRoutingIdOfAPeerThatHasLeftIsAnError() throws IOException {
        ZMTPSocket server = sockets.open(SERVER);
        Events events = events(server);
        String endpoint = bind(server, ANY_PORT);
        ZMTPMessage question;
        try (WirePeer client = WirePeer.connect(endpoint, ready("CLIENT"))) {
            client.say("00 01 \"?\"");
            question = get(server.receiveAsync());
        }
        events.next(ZMTPSocketEvent.PeerDown.class);
        connect(sockets.open(CLIENT), endpoint);

        assertThat(reason(server.sendAsync(question))).isEqualTo(ZMTPSocketException.Reason.UNROUTABLE);
    }

    /** Before there is a connection. */
    @Test
    void aPeerThatIsConnectedToMayBeSentToAtOnce() throws IOException {
        ZMTPSocket peer = sockets.open(PEER);
        ZMTPSocket other = sockets.open(PEER);
        String endpoint = unusedEndpoint();
        ZMTPPeer at = TestSockets.peerOf(peer.connect(endpoint));
        at.sendOrDrop(message("at once"));

        bind(other, endpoint);

        assertThat(receive(other)).endsWith("at once");
    }

    /** Nobody listens there yet. */
    private static String unusedEndpoint() throws IOException {
        try (ServerSocket reserved = WirePeer.listen()) {
            return WirePeer.endpoint(reserved);
        }
    }

    /** A SERVER that connects knows its client from the client's first message. */
    @Test
    void aServerMayConnectToItsClient() {
        ZMTPSocket server = sockets.open(SERVER);
        ZMTPSocket client = sockets.open(CLIENT);
        server.connect(bind(client, ANY_PORT));
        client.sendAsync(message("?"));

        get(server.sendAsync(get(server.receiveAsync())));

        assertThat(receive(client)).containsExactly("?");
    }

    // Many threads

    @ParameterizedTest
    @CsvSource({"CLIENT, SERVER", "SCATTER, GATHER", "CHANNEL, CHANNEL"})
    void manyThreadsMaySendAndEachKeepsItsOrder(ZMTPSocketType type, ZMTPSocketType peerType) {
        int threads = 4;
        int messages = 200;
        ZMTPSocket sender = sockets.open(type);
        ZMTPSocket receiver = sockets.open(peerType);
        connect(sender, bind(receiver, ANY_PORT));

        List<CompletableFuture<Void>> all = IntStream.range(0, threads)
                .mapToObj(thread -> CompletableFuture.runAsync(
                        () -> sendAll(sender, thread, messages), task -> new Thread(task).start()))
                .toList();

        int[] next = new int[threads];
        for (int i = 0; i < threads * messages; i++) {
            List<String> frames = receive(receiver);
            String body = frames.get(frames.size() - 1);
            int thread = body.charAt(0) - '0';
            assertThat(body).isEqualTo(thread + " " + next[thread]++);
        }
        all.forEach(TestSockets::get);
    }

    private static void sendAll(ZMTPSocket sender, int thread, int messages) {
        for (int i = 0; i < messages; i++) {
            get(sender.sendAsync(message(thread + " " + i)));
        }
    }

    // CHANNEL

    @Test
    void aChannelRefusesASecondPeer() throws IOException {
        ZMTPSocket channel = sockets.open(CHANNEL);
        Events events = events(channel);
        String endpoint = bind(channel, ANY_PORT);
        connect(sockets.open(CHANNEL), endpoint);
        try (WirePeer second = WirePeer.connect(endpoint, ready("CHANNEL"))) {
            assertThat(second.hearToTheEnd()).isEmpty();

            assertThat(events.next(ZMTPSocketEvent.HandshakeFailed.class).cause())
                    .hasMessageContaining("has its one peer");
        }
    }

    // Groups

    @Test
    void aRadioDiscardsWhatADishSends() throws IOException {
        ZMTPSocket radio = sockets.open(RADIO);
        try (WirePeer dish = WirePeer.connect(bind(radio, ANY_PORT), ready("DISH"))) {
            dish.say("01 01 \"A\" / 00 04 \"body\"").say(command("04 \"JOIN\" \"A\""));
            get(radio.whenPeers(1));

            get(radio.sendAsync(message("A", "news")));

            dish.hear("01 01 \"A\" / 00 04 \"news\"");
        }
    }

    @Test
    void aRadioSendsToTheMembersOfTheVeryGroup() throws IOException {
        ZMTPSocket radio = sockets.open(RADIO);
        try (WirePeer dish = WirePeer.connect(bind(radio, ANY_PORT), ready("DISH"))) {
            dish.say(command("04 \"JOIN\" \"B\"") + command("04 \"JOIN\" \"A\"") + command("05 \"LEAVE\" \"B\""));
            get(radio.whenPeers(1));
            dish.say("04 07 / 04 \"PING\" 00 00").hear("04 05 / 04 \"PONG\""); // all of them have arrived

            for (String group : List.of("", "AB", "B", "a", "A")) {
                get(radio.sendAsync(message(group, "news")));
            }

            dish.hear("01 01 \"A\" / 00 04 \"news\"");
        }
    }

    @Test
    void aDishDropsWhatItHasNotJoined() throws IOException {
        ZMTPSocket dish = sockets.open(DISH);
        dish.subscribe("A");
        try (WirePeer radio = WirePeer.connect(bind(dish, ANY_PORT), ready("RADIO"))) {
            radio.say("01 02 \"AB\" / 00 01 \"1\"").say("01 00 / 00 01 \"2\"").say("01 01 \"A\" / 00 01 \"3\"");

            assertThat(receive(dish)).containsExactly("A", "3");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255})
    void aGroupHasUpTo255Bytes(int length) {
        String group = "g".repeat(length);
        ZMTPSocket radio = sockets.open(RADIO);
        ZMTPSocket dish = sockets.open(DISH);
        dish.subscribe(group);
        dish.connect(bind(radio, ANY_PORT));
        get(radio.whenPeers(1));

        get(radio.sendAsync(message(group, "body")));

        assertThat(receive(dish)).containsExactly(group, "body");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0", "a\0", "a\0b", "256"})
    void anotherGroupIsRefused(String text) {
        String group = text.equals("256") ? "g".repeat(256) : text;
        ZMTPSocket radio = sockets.open(RADIO);
        ZMTPSocket dish = sockets.open(DISH);
        ZMTPMessage message = message(group, "body");

        assertThatThrownBy(() -> dish.subscribe(group)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> radio.sendAsync(message)).isInstanceOf(IllegalArgumentException.class);

        assertThat(message.refCnt()).isZero();
    }
}
