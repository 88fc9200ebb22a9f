package dev.zmtp.codec.handshake;

import static dev.zmtp.testing.Failures.failureOf;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.NULL;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.command;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands of a 3.x handshake with the NULL mechanism: READY and ERROR, and what must not stand there. */
class NullHandshakeTest {

    private static ZMTPConfig.Builder config(ZMTPSocketType type) {
        return ZMTPConfig.builder().socketType(type);
    }

    /** A peer that has exchanged greetings with us, and got our READY. */
    private static ScriptedPeer greeted(ZMTPConfig.Builder config) {
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build())).send(GREETING);
        assertThat(peer.events).isEmpty();
        return peer;
    }

    private static ScriptedPeer greetedDealer() {
        ScriptedPeer peer = greeted(config(ZMTPSocketType.DEALER));
        peer.received();
        return peer;
    }

    private static String ourReady(ScriptedPeer peer) {
        String all = peer.received();
        String greeting = Hex.of(SIGNATURE + "03 01 " + NULL);
        assertThat(all).startsWith(greeting);
        return all.substring(greeting.length());
    }

    @ParameterizedTest
    @CsvSource({
        "PAIR, 04 1a, 00000004", "PUB, 04 19, 00000003", "SUB, 04 19, 00000003", "REP, 04 19, 00000003",
        "PUSH, 04 1a, 00000004", "PULL, 04 1a, 00000004", "XPUB, 04 1a, 00000004", "XSUB, 04 1a, 00000004",
        "CLIENT, 04 1c, 00000006", "SERVER, 04 1c, 00000006", "RADIO, 04 1b, 00000005", "DISH, 04 1a, 00000004",
        "SCATTER, 04 1d, 00000007", "GATHER, 04 1c, 00000006", "PEER, 04 1a, 00000004", "CHANNEL, 04 1d, 00000007"
    })
    void mostTypesAnnounceOnlyTheirType(ZMTPSocketType type, String header, String length) {
        try (ScriptedPeer peer = greeted(config(type).localIdentity("unsaid"))) {
            String ready = header + " 05 \"READY\" 0b \"Socket-Type\" " + length + " \"" + type + "\"";
            String all = peer.received();
            assertThat(all.substring(128)).isEqualTo(Hex.of(ready));
        }
    }

    @ParameterizedTest
    @CsvSource({"REQ, 04 26, 00000003", "DEALER, 04 29, 00000006", "ROUTER, 04 29, 00000006"})
    void typesWithAnIdentityAnnounceItEvenIfItIsEmpty(ZMTPSocketType type, String header, String length) {
        try (ScriptedPeer peer = greeted(config(type))) {
            assertThat(ourReady(peer))
                    .isEqualTo(Hex.of(header + " 05 \"READY\" 0b \"Socket-Type\" " + length + " \"" + type
                            + "\" 08 \"Identity\" 00000000"));
        }
    }

    @Test
    void anIdentityFollowsTheSocketType() {
        try (ScriptedPeer peer = greeted(config(ZMTPSocketType.DEALER).localIdentity("ID-1"))) {
            assertThat(peer.received().substring(128)).isEqualTo(Hex.of("""
                            04 2d 05 52 45 41 44 59 0b 53 6f 63 6b 65 74 2d 54 79 70 65 00 00 00 06 44 45 41 4c 45 52
                            08 49 64 65 6e 74 69 74 79 00 00 00 04 49 44 2d 31
                            """));
        }
    }

    @Test
    void ourOwnPropertiesComeLast() {
        try (ScriptedPeer peer = greeted(config(ZMTPSocketType.PUSH).property("X-Name", "val"))) {
            assertThat(ourReady(peer)).isEqualTo(Hex.of("""
                            04 28 05 52 45 41 44 59 0b 53 6f 63 6b 65 74 2d 54 79 70 65 00 00 00 04 50 55 53 48
                            06 58 2d 4e 61 6d 65 00 00 00 03 76 61 6c
                            """));
        }
    }

    @Test
    void aResourceIsAnnounced() {
        try (ScriptedPeer peer = greeted(config(ZMTPSocketType.PUSH).property("Resource", "a/b"))) {
            assertThat(ourReady(peer)).endsWith(Hex.of("08 \"Resource\" 00000003 61 2f 62"));
        }
    }

    @Test
    void aReadyOfMoreThan255BytesIsALongFrame() {
        try (ScriptedPeer peer = greeted(config(ZMTPSocketType.PUSH).property("X-Long", "v".repeat(300)))) {
            assertThat(ourReady(peer))
                    .startsWith(Hex.of("06 00*6 01 51 05 \"READY\""))
                    .hasSize(2 * (9 + 0x151));
        }
    }

    @Test
    void thePropertiesOfThePeerAreInTheHandshake() {
        try (ScriptedPeer peer = greetedDealer()) {
            peer.send(
                    ready("ROUTER", "Identity", "you", "Resource", "a/b", "X-App", "1", "Whatever", "2", "X-App", "3"));
            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            ZMTPMetadata metadata = handshake.metadata();
            assertThat(metadata.names())
                    .containsExactly("Socket-Type", "Identity", "Resource", "X-App", "Whatever", "X-App");
            assertThat(metadata.valueUTF8("RESOURCE")).isEqualTo("a/b");
            assertThat(metadata.valueUTF8("X-App")).isEqualTo("1");
            assertThat(metadata.valueUTF8("whatever")).isEqualTo("2");
            assertThat(handshake.remoteSocketType()).isEqualTo(ZMTPSocketType.ROUTER);
            assertThat(handshake.mechanism()).isEqualTo("NULL");
            assertThat(handshake.remoteIdentity()).isEqualTo(ByteBuffer.wrap(Hex.bytes("\"you\"")));
        }
    }

    @Test
    void namesOfPropertiesAreCaseInsensitive() {
        try (ScriptedPeer peer = greetedDealer()) {
            peer.send(command("05 \"READY\" 0b \"SOCKET-type\" 00000006 \"ROUTER\" 08 \"iDENTITY\" 00000001 79"));
            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(handshake.remoteSocketType()).isEqualTo(ZMTPSocketType.ROUTER);
            assertThat(handshake.remoteIdentity()).isEqualTo(ByteBuffer.wrap(Hex.bytes("79")));
        }
    }

    @Test
    void aPeerMayOmitItsType() {
        try (ScriptedPeer peer = greetedDealer().send("04 06 05 \"READY\"")) {
            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(handshake.remoteSocketType()).isNull();
            assertThat(handshake.remoteIdentity().hasRemaining()).isFalse();
        }
    }

    @Test
    void aReadyInALongFrameIsAccepted() {
        try (ScriptedPeer peer = greetedDealer().send("06 00*7 06 05 \"READY\"")) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    static List<Arguments> illegalFirstFrames() {
        String metadata = "0b \"Socket-Type\" 00000006 \"ROUTER\"";
        return List.of(
                Arguments.of("READY without COMMAND", "00 06 05 \"READY\"", ZMTPException.Code.UNEXPECTED),
                Arguments.of("a message", "00 02 \"hi\"", ZMTPException.Code.UNEXPECTED),
                Arguments.of("READY with MORE", "05 06 05 \"READY\"", ZMTPException.Code.MALFORMED),
                Arguments.of("reserved flags", "fc 06 05 \"READY\"", ZMTPException.Code.MALFORMED),
                Arguments.of("PING", "04 07 04 \"PING\" 0000", ZMTPException.Code.UNEXPECTED),
                Arguments.of("SUBSCRIBE", "04 0a 09 \"SUBSCRIBE\"", ZMTPException.Code.UNEXPECTED),
                Arguments.of("HELLO", "04 06 05 \"HELLO\"", ZMTPException.Code.UNEXPECTED),
                Arguments.of("lower case", "04 06 05 \"ready\"", ZMTPException.Code.UNEXPECTED),
                Arguments.of("no name", "04 00", ZMTPException.Code.MALFORMED),
                Arguments.of("an overlong name", "04 06 06 \"READY\"", ZMTPException.Code.MALFORMED),
                Arguments.of("half a property", command("05 \"READY\" 0b \"Socket\""), ZMTPException.Code.MALFORMED),
                Arguments.of(
                        "an empty property name", command("05 \"READY\" 00 00000000"), ZMTPException.Code.MALFORMED),
                Arguments.of(
                        "a value past the end",
                        command("05 \"READY\" 01 41 00000002 42"),
                        ZMTPException.Code.MALFORMED),
                Arguments.of(
                        "a value of 2^32 - 1", command("05 \"READY\" 01 41 ffffffff 42"), ZMTPException.Code.MALFORMED),
                Arguments.of(
                        "two socket types",
                        command("05 \"READY\" " + metadata + " " + metadata),
                        ZMTPException.Code.MALFORMED),
                Arguments.of(
                        "two identities",
                        ready("ROUTER", "Identity", "a", "identity", "b"),
                        ZMTPException.Code.MALFORMED),
                Arguments.of(
                        "identity of 256", ready("ROUTER", "Identity", "i".repeat(256)), ZMTPException.Code.TOO_LARGE),
                Arguments.of("ERROR without reason", "04 06 05 \"ERROR\"", ZMTPException.Code.MALFORMED),
                Arguments.of("ERROR past the end", "04 08 05 \"ERROR\" 02 41", ZMTPException.Code.MALFORMED));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("illegalFirstFrames")
    void anythingButAValidReadyOrErrorEndsTheHandshakeWithoutAnAnswer(
            String name, String theirs, ZMTPException.Code code) {
        byte[] bytes = Hex.bytes(theirs + " 00 02 \"hi\"");
        for (int split = 1; split < bytes.length; split++) {
            try (ScriptedPeer peer = greetedDealer()) {
                peer.send(bytes, split);
                assertThat(failureOf(peer).code()).isEqualTo(code);
                assertThat(peer.received()).isEmpty();
            }
        }
    }

    /** RFC 37 wants none, but libzmq and JeroMQ accept them, and one random UUID in 256 begins so. */
    @Test
    void anIdentityMayBeginWithAZero() {
        try (ScriptedPeer peer = greetedDealer()
                .send(command("05 \"READY\" 0b \"Socket-Type\" 00000006 \"ROUTER\" 08 \"Identity\" 00000002 00 61"))) {
            ZMTPHandshakeSuccess success = peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(success.handshake().remoteIdentity()).isEqualTo(ByteBuffer.wrap(Hex.bytes("00 61")));
            assertThat(success.session().isPeerAnonymous()).isFalse();
        }
    }

    @Test
    void anIdentityOf255BytesIsAccepted() {
        try (ScriptedPeer peer = greetedDealer().send(ready("ROUTER", "Identity", "i".repeat(255)))) {
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)
                            .handshake()
                            .remoteIdentity()
                            .remaining())
                    .isEqualTo(255);
        }
    }

    @Test
    void aSecondReadyIsIgnored() {
        try (ScriptedPeer peer = greetedDealer()) {
            peer.send(ready("ROUTER") + ready("PUB") + "00 02 \"hi\"");
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().remoteSocketType())
                    .isEqualTo(ZMTPSocketType.ROUTER);
            assertThat(peer.messages).containsExactly(message("hi"));
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void messagesMayFollowReadyInOneRead() {
        try (ScriptedPeer peer = greetedDealer().send(ready("ROUTER") + "01 01 61 00 01 62 / 00 02 \"hi\"")) {
            assertThat(peer.all).hasSize(3).first().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peer.messages).containsExactly(message("a", "b"), message("hi"));
        }
    }

    @Test
    void ourMessagesWaitForTheReadyOfThePeer() {
        try (ScriptedPeer peer = greetedDealer()) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("hi"));
            assertThat(peer.received()).isEmpty();
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 02 \"hi\""));
        }
    }

    static List<Arguments> everyPair() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPSocketType ours : ZMTPSocketType.values()) {
            for (ZMTPSocketType theirs : ZMTPSocketType.values()) {
                all.add(Arguments.of(ours, theirs));
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0} with {1}")
    @MethodSource("everyPair")
    void aTypeThatDoesNotMatchOursIsRefusedWithAReason(ZMTPSocketType ours, ZMTPSocketType theirs) {
        try (ScriptedPeer peer = greeted(config(ours))) {
            peer.received();
            peer.send(ready(theirs.name()));
            if (ours.accepts(theirs)) {
                assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)
                                .handshake()
                                .remoteSocketType())
                        .isEqualTo(theirs);
                assertThat(peer.received()).isEmpty();
            } else {
                String reason = "socket type: " + theirs + " (expected: one that " + ours + " talks to)";
                assertThat(failureOf(peer)).hasMessage(reason + ", peer embedded");
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
                assertThat(peer.received()).isEqualTo(errorHex(reason));
            }
        }
    }

    private static String errorHex(String reason) {
        StringBuilder text = new StringBuilder();
        reason.chars().forEach(c -> text.append("%02x".formatted(c)));
        return Hex.of(command("05 \"ERROR\" %02x ".formatted(reason.length()) + text));
    }

    @Test
    void aRefusedTypeGetsThisError() {
        try (ScriptedPeer peer = greeted(config(ZMTPSocketType.PUB))) {
            peer.received();
            peer.send(ready("REQ"));
            assertThat(peer.received()).isEqualTo(Hex.of("""
                    04 39 05 "ERROR" 32
                    "socket" 20 "type:" 20 "REQ" 20 "(expected:" 20 "one" 20 "that" 20 "PUB" 20 "talks" 20 "to)"
                    """));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"router", "ROUTER2", "STREAM", "R", "ROUTER ", ""})
    void anUnknownTypeIsRefusedWithAReason(String type) {
        try (ScriptedPeer peer = greetedDealer().send(ready(type))) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
            assertThat(peer.received()).startsWith("04").contains(Hex.of("05 \"ERROR\""));
        }
    }

    @Test
    void anUnknownTypeIsSanitizedForTheLog() {
        try (ScriptedPeer peer = greetedDealer()) {
            peer.send(command("05 \"READY\" 0b \"Socket-Type\" 00001770 0a1b*3000"));
            assertThat(failureOf(peer))
                    .hasMessageMatching("socket type: [?]{64} [(]expected: [ -~]+[)], peer embedded");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"03 \"400\" | 400", "00 | ''", "05 61 0a 1b ff 7a | a???z"})
    void anErrorOfThePeerIsTheReason(String reason, String shown) {
        try (ScriptedPeer peer = greetedDealer().send(command("05 \"ERROR\" " + reason))) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.PEER_ERROR);
            assertThat(failureOf(peer)).hasMessage("refused by the peer: " + shown + ", peer embedded");
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void aCommandOfTheFullLengthIsAccepted() {
        try (ScriptedPeer peer = greetedDealer()) {
            String start = "05 \"READY\" 01 58 00001ff4 ";
            peer.send(command(start + "00*" + (8192 - Hex.bytes(start).length)));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void aLongerCommandIsRefusedAtItsHeader() {
        try (ScriptedPeer peer = greetedDealer().send("06 00*6 20 01")) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.TOO_LARGE);
            assertThat(failureOf(peer)).hasMessage("handshake command length: 8193 (expected: <= 8192), peer embedded");
        }
    }

    @Test
    void theMaximumLengthOfACommandCanBeSet() {
        ZMTPConfig.Builder config = config(ZMTPSocketType.DEALER).maxHandshakeCommandLength(25);
        try (ScriptedPeer peer = greeted(config).send("04 1a")) {
            assertThat(failureOf(peer)).hasMessage("handshake command length: 26 (expected: <= 25), peer embedded");
        }
    }

    @ParameterizedTest
    @CsvSource({"256, true", "257, false"})
    void aPeerMayHave256Properties(int properties, boolean accepted) {
        try (ScriptedPeer peer = greetedDealer()) {
            peer.send(command("05 \"READY\" " + "01 58 00000000 ".repeat(properties)));
            if (accepted) {
                assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)
                                .handshake()
                                .metadata()
                                .size())
                        .isEqualTo(properties);
            } else {
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.TOO_LARGE);
                assertThat(failureOf(peer)).hasMessage("metadata properties: 257 (expected: <= 256), peer embedded");
            }
        }
    }
}
