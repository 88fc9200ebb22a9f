package dev.zmtp.codec.handshake;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.ZMTPVersion.ZMTP10;
import static dev.zmtp.ZMTPVersion.ZMTP20;
import static dev.zmtp.ZMTPVersion.ZMTP30;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.traffic.GoldenCommandsTest;
import dev.zmtp.codec.traffic.GoldenMessagesTest;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.Vectors;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Greetings, READY and ERROR among the vectors, as the codec sends and receives them. */
class GoldenHandshakeTest {

    private static final String SIGNATURE = "ff 00*7 01 7f ";

    /** Each vector, the codec that sends it, and the bytes of the peer that it answers. */
    private static List<Arguments> sent() {
        return List.of(
                Arguments.of("1.0 greeting, anonymous", dealer(ZMTP10, ""), ""),
                Arguments.of("1.0 greeting, identity me", dealer(ZMTP10, "me"), ""),
                Arguments.of("1.0 greeting, longest identity in a short frame", dealer(ZMTP10, "i".repeat(253)), ""),
                Arguments.of("1.0 greeting, identity in a long frame", dealer(ZMTP10, "i".repeat(254)), ""),
                Arguments.of("2.0 greeting, anonymous DEALER", dealer(ZMTP20, ""), SIGNATURE + "01"),
                Arguments.of("2.0 greeting, DEALER me", dealer(ZMTP20, "me"), SIGNATURE + "01"),
                Arguments.of("3.x DEALER me to a 2.0 peer", dealer(ZMTP31, "me"), SIGNATURE + "01"),
                Arguments.of("3.x DEALER me to a 2.0 peer", dealer(ZMTP30, "me"), SIGNATURE + "01"),
                Arguments.of("3.x DEALER me to a peer of revision 0", dealer(ZMTP31, "me"), SIGNATURE + "00"),
                Arguments.of("3.x DEALER me to a 1.0 peer", dealer(ZMTP31, "me"), "01 00"),
                Arguments.of("3.x DEALER me to a 1.0 peer", dealer(ZMTP20, "me"), "01 00"),
                Arguments.of("signature, identity of 254", dealer(ZMTP31, "i".repeat(254)), ""),
                Arguments.of("signature, identity of 255", dealer(ZMTP31, "i".repeat(255)), ""),
                Arguments.of("3.1 greeting", dealer(ZMTP31, ""), SIGNATURE + "03"),
                Arguments.of("3.0 greeting", dealer(ZMTP30, ""), SIGNATURE + "03"));
    }

    private record Known(ZMTPVersion version, ZMTPSocketType type, String identity) {}

    /** Each greeting that a peer may send, the codec that gets it, and what it then knows of the peer. */
    private static List<Arguments> received() {
        String third = Vectors.text("READY DEALER ID-1");
        Known in31 = new Known(ZMTP31, DEALER, "ID-1");
        return List.of(
                Arguments.of("1.0 greeting, anonymous", "", router(ZMTP31), new Known(ZMTP10, null, "")),
                Arguments.of("1.0 greeting, identity me", "", router(ZMTP31), new Known(ZMTP10, null, "me")),
                Arguments.of("1.0 greeting, identity me", "", router(ZMTP10), new Known(ZMTP10, null, "me")),
                Arguments.of(
                        "1.0 greeting, longest identity in a short frame",
                        "",
                        router(ZMTP20),
                        new Known(ZMTP10, null, "i".repeat(253))),
                Arguments.of(
                        "1.0 greeting, identity in a long frame",
                        "",
                        router(ZMTP31),
                        new Known(ZMTP10, null, "i".repeat(254))),
                Arguments.of("2.0 greeting, anonymous DEALER", "", router(ZMTP31), new Known(ZMTP20, DEALER, "")),
                Arguments.of("2.0 greeting, DEALER me", "", router(ZMTP30), new Known(ZMTP20, DEALER, "me")),
                Arguments.of("2.0 greeting, DEALER me", "", router(ZMTP20), new Known(ZMTP20, DEALER, "me")),
                Arguments.of("3.x DEALER me to a 2.0 peer", "", router(ZMTP20), new Known(ZMTP20, DEALER, "me")),
                Arguments.of("3.x DEALER me to a 1.0 peer", "", router(ZMTP10), new Known(ZMTP10, null, "me")),
                Arguments.of(
                        "signature, identity of 254",
                        "69*254",
                        router(ZMTP10),
                        new Known(ZMTP10, null, "i".repeat(254))),
                Arguments.of(
                        "signature, identity of 255",
                        "69*255",
                        router(ZMTP10),
                        new Known(ZMTP10, null, "i".repeat(255))),
                Arguments.of("3.1 greeting", third, router(ZMTP31), in31),
                Arguments.of("3.1 greeting", third, router(ZMTP30), new Known(ZMTP30, DEALER, "ID-1")),
                Arguments.of("3.0 greeting", third, router(ZMTP31), new Known(ZMTP30, DEALER, "ID-1")),
                Arguments.of("3.1 greeting with zero padding", third, router(ZMTP31), in31));
    }

    private static ZMTPCodec.Builder dealer(ZMTPVersion version, String identity) {
        return ZMTPCodec.builder().socketType(DEALER).protocol(version).localIdentity(identity);
    }

    private static ZMTPCodec.Builder router(ZMTPVersion version) {
        return ZMTPCodec.builder().socketType(ROUTER).protocol(version);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("sent")
    void theCodecSendsAGreeting(String name, ZMTPCodec.Builder ours, String theirs) {
        try (ScriptedPeer peer = new ScriptedPeer(ours.build())) {
            peer.send(Hex.bytes(theirs));

            assertThat(peer.received()).isEqualTo(Vectors.hex(name));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("received")
    void theCodecUnderstandsAGreetingHoweverItIsSplit(
            String name, String rest, ZMTPCodec.Builder ours, Known expected) {
        byte[] bytes = Hex.bytes(Vectors.text(name) + " " + rest);
        for (int at = 0; at <= bytes.length; at++) {
            int cut = at;
            check(ours, expected, peer -> peer.send(bytes, cut));
        }
        check(ours, expected, peer -> peer.sendSingly(bytes));
    }

    private static void check(ZMTPCodec.Builder ours, Known expected, Consumer<ScriptedPeer> conversation) {
        try (ScriptedPeer peer = new ScriptedPeer(ours.build())) {
            conversation.accept(peer);

            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(handshake.negotiatedVersion()).isEqualTo(expected.version);
            assertThat(handshake.remoteSocketType()).isEqualTo(expected.type);
            assertThat(utf8(handshake.remoteIdentity())).isEqualTo(expected.identity);
        }
    }

    private static String utf8(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("received")
    void aGreetingWithoutItsLastByteIsIncomplete(String name, String rest, ZMTPCodec.Builder ours, Known unused) {
        byte[] bytes = Hex.bytes(Vectors.text(name) + " " + rest);
        try (ScriptedPeer peer = new ScriptedPeer(ours.build())) {
            peer.send(Arrays.copyOf(bytes, bytes.length - 1));

            assertThat(peer.events).isEmpty();
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    @Test
    void aFrameOfLengthZeroIsNotAGreeting() {
        try (ScriptedPeer peer = new ScriptedPeer(router(ZMTP31).build())) {
            peer.send(Vectors.bytes("1.0 frame of length zero"));

            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasMessage("frame length: 0 (expected: >= 1, it counts the flags byte), peer embedded");
            assertThat(peer.channel.isActive()).isFalse();
        }
    }

    /** The RFC wants PUB and SUB in a 2.0 greeting; libzmq sends the codes of its own XPUB and XSUB. */
    @ParameterizedTest(name = "{0} sends {1}")
    @MethodSource("xTypes")
    void libzmqMayAnnounceXpubOrXsubIn20(ZMTPSocketType theirs, String code, ZMTPSocketType ours) {
        try (ScriptedPeer peer =
                new ScriptedPeer(ZMTPCodec.builder().socketType(ours).build())) {
            peer.send(Hex.bytes(SIGNATURE + "01 " + code + " 00 00"));

            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().remoteSocketType())
                    .isEqualTo(theirs);
        }
    }

    private static List<Arguments> xTypes() {
        return List.of(
                Arguments.of(XPUB, "09", SUB),
                Arguments.of(XPUB, "09", XSUB),
                Arguments.of(XSUB, "0a", PUB),
                Arguments.of(XSUB, "0a", XPUB));
    }

    @ParameterizedTest(name = "{0} sends {1}")
    @MethodSource("xTypesOfOurs")
    void weAnnouncePubOrSubIn20(ZMTPSocketType ours, String code) {
        try (ScriptedPeer peer =
                new ScriptedPeer(ZMTPCodec.builder().socketType(ours).build())) {
            peer.send(Hex.bytes(SIGNATURE + "01"));

            assertThat(peer.received()).isEqualTo(Hex.of(SIGNATURE + "03 " + code + " 00 00"));
        }
    }

    private static List<Arguments> xTypesOfOurs() {
        return List.of(Arguments.of(XPUB, "01"), Arguments.of(XSUB, "02"));
    }

    // READY and ERROR

    private static Stream<Arguments> readies() {
        Stream<Arguments> types = Arrays.stream(ZMTPSocketType.values())
                .map(type -> Arguments.of("READY " + type, ZMTPCodec.builder().socketType(type)));
        return Stream.concat(
                types,
                Stream.of(
                        Arguments.of(
                                "READY DEALER ID-1",
                                ZMTPCodec.builder().socketType(DEALER).localIdentity("ID-1")),
                        Arguments.of(
                                "READY PUSH with X-Name",
                                ZMTPCodec.builder().socketType(PUSH).property("X-Name", "val"))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("readies")
    void theCodecSendsReady(String name, ZMTPCodec.Builder ours) {
        try (ScriptedPeer peer = new ScriptedPeer(ours.build())) {
            peer.send(Vectors.bytes("3.1 greeting"));

            assertThat(peer.received()).endsWith(Vectors.hex("3.1 greeting").substring(20) + Vectors.hex(name));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("readies")
    void theCodecUnderstandsReadyHoweverItIsSplit(String name, ZMTPCodec.Builder theirs) {
        ZMTPSocketType type = theirs.build().session().config().socketType();
        ZMTPSocketType ours = Arrays.stream(ZMTPSocketType.values())
                .filter(type::accepts)
                .findFirst()
                .orElseThrow();
        byte[] bytes = Vectors.bytes(name);
        for (int at = 0; at <= bytes.length; at++) {
            try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ours))) {
                peer.send(Vectors.bytes("3.1 greeting"));
                peer.send(bytes, at);

                assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)
                                .handshake()
                                .remoteSocketType())
                        .isEqualTo(type);
            }
        }
    }

    @Test
    void theHandshakeHasThePropertiesOfReady() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(PULL))) {
            peer.send(Vectors.bytes("3.1 greeting"));
            peer.send(Vectors.bytes("READY PUSH with X-Name"));

            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().metadata())
                    .isEqualTo(ZMTPMetadata.EMPTY.with("Socket-Type", "PUSH").with("X-Name", "val"));
        }
    }

    @Test
    void anErrorFromThePeerEndsTheHandshakeHoweverItIsSplit() {
        byte[] bytes = Vectors.bytes("ERROR 400");
        for (int at = 0; at < bytes.length; at++) {
            try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(PULL))) {
                peer.send(Vectors.bytes("3.1 greeting"));
                peer.send(bytes, at);

                assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                        .isInstanceOf(ZMTPException.class)
                        .hasMessage("refused by the peer: 400, peer embedded")
                        .extracting(e -> ((ZMTPException) e).code())
                        .isEqualTo(ZMTPException.Code.PEER_ERROR);
                assertThat(peer.channel.isActive()).isFalse();
            }
        }
    }

    @Test
    void aPeerOfTheWrongTypeGetsTheReason() {
        String reason = "socket type: PUB (expected: one that PULL talks to)";
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(PULL))) {
            peer.send(Vectors.bytes("3.1 greeting"));
            peer.received();
            peer.send(Vectors.bytes("READY PUB"));

            byte[] text = reason.getBytes(StandardCharsets.US_ASCII);
            assertThat(peer.received())
                    .isEqualTo(Hex.of("04 %02x 05 \"ERROR\" %02x".formatted(7 + text.length, text.length))
                            + ByteBufUtil.hexDump(text));
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause()).hasMessage(reason + ", peer embedded");
            assertThat(peer.channel.isActive()).isFalse();
        }
    }

    @Test
    void ourErrorHasLibzmqsForm() {
        var body = Command.error(Unpooled.buffer().alloc(), "400");
        var frame = body.alloc().buffer();
        ZMTP31.framing().writeHeader(frame, ZMTPFraming.COMMAND, body.readableBytes());
        frame.writeBytes(body);
        body.release();

        assertThat(Hex.dump(frame)).isEqualTo(Vectors.hex("ERROR 400"));
    }

    @Test
    void everyVectorIsTested() {
        Set<String> forgotten = new HashSet<>(Vectors.names());
        forgotten.removeAll(GoldenMessagesTest.names());
        forgotten.removeAll(GoldenCommandsTest.names());
        forgotten.removeAll(GoldenCommandsTest.heartbeatNames());
        forgotten.removeAll(firstColumn(sent().stream()));
        forgotten.removeAll(firstColumn(received().stream()));
        forgotten.removeAll(firstColumn(readies()));
        forgotten.removeAll(Set.of("1.0 frame of length zero", "ERROR 400"));

        assertThat(forgotten).isEmpty();
    }

    private static List<Object> firstColumn(Stream<Arguments> table) {
        return table.map(row -> row.get()[0]).toList();
    }
}
