package dev.zmtp.internal.handshake;

import static dev.zmtp.testing.Failures.failureOf;
import static dev.zmtp.testing.Fired.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which bytes are sent at which point of the greeting, and which version is negotiated, for peers of every version. */
class GreetingPhaseTest {

    private static final String OUR_SIGNATURE = "ff 00*7 03 7f";
    private static final String THEIR_SIGNATURE = "ff 00*7 04 7f";
    private static final String OUR_READY = """
            04 2b 05 "READY" 0b "Socket-Type" 00000006 "DEALER" 08 "Identity" 00000002 "me"
            """;
    private static final String THEIR_READY = """
            04 2c 05 "READY" 0b "Socket-Type" 00000006 "ROUTER" 08 "Identity" 00000003 "you"
            """;
    private static final String NULL = " \"NULL\" 00*16 00 00*31";
    private static final String HI_10 = "03 00 \"hi\"";
    private static final String HI_20 = "00 02 \"hi\"";

    /** What the peer sends, and what we answer to just that. */
    record Step(String theirs, String ours) {}

    record Conversation(
            String name, ZMTPVersion ours, ZMTPVersion agreed, String atOnce, List<Step> steps, String message) {
        byte[] theirBytes() {
            return Hex.bytes(steps.stream().map(Step::theirs).collect(Collectors.joining("\n")) + "\n" + message);
        }

        String ourHex() {
            return Hex.of(atOnce)
                    + steps.stream().map(step -> Hex.of(step.ours())).collect(Collectors.joining());
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Step step(String theirs, String ours) {
        return new Step(theirs, ours);
    }

    /**
     * The matrix of docs/wire.md, Greeting, with a DEALER of identity "me" here and a ROUTER of identity "you" there.
     */
    static List<Conversation> matrix() {
        List<Conversation> all = new ArrayList<>();
        for (ZMTPVersion ours : List.of(ZMTPVersion.ZMTP31, ZMTPVersion.ZMTP30)) {
            String minor = ours == ZMTPVersion.ZMTP31 ? "01" : "00";
            for (ZMTPVersion theirs : List.of(ZMTPVersion.ZMTP31, ZMTPVersion.ZMTP30)) {
                ZMTPVersion agreed = ours.compareTo(theirs) < 0 ? ours : theirs;
                String theirMinor = theirs == ZMTPVersion.ZMTP31 ? "01" : "00";
                all.add(new Conversation(
                        ours + " with " + theirs,
                        ours,
                        agreed,
                        OUR_SIGNATURE,
                        List.of(
                                step(THEIR_SIGNATURE, "03"),
                                step("03", minor + NULL),
                                step(theirMinor + NULL, OUR_READY),
                                step(THEIR_READY, "")),
                        HI_20));
            }
            all.add(new Conversation(
                    ours + " with libzmq 3.2",
                    ours,
                    ZMTPVersion.ZMTP20,
                    OUR_SIGNATURE,
                    List.of(
                            step(THEIR_SIGNATURE, "03"),
                            step("01", "05 / 00 02 \"me\""),
                            step("06", ""),
                            step("00 03 \"you\"", "")),
                    HI_20));
            all.add(new Conversation(
                    ours + " with libzmq 2.2",
                    ours,
                    ZMTPVersion.ZMTP10,
                    OUR_SIGNATURE,
                    List.of(step("04", "\"me\""), step("00 \"you\"", "")),
                    HI_10));
        }
        for (String minor : List.of("3.1", "3.0")) {
            all.add(new Conversation(
                    "ZMTP20 with " + minor,
                    ZMTPVersion.ZMTP20,
                    ZMTPVersion.ZMTP20,
                    OUR_SIGNATURE,
                    List.of(
                            step(THEIR_SIGNATURE, "01 05"),
                            step("03", "00 02 \"me\""),
                            step("06", ""),
                            step("00 03 \"you\"", "")),
                    HI_20));
        }
        all.add(new Conversation(
                "ZMTP20 with libzmq 3.2",
                ZMTPVersion.ZMTP20,
                ZMTPVersion.ZMTP20,
                OUR_SIGNATURE,
                List.of(
                        step(THEIR_SIGNATURE, "01 05"),
                        step("01", "00 02 \"me\""),
                        step("06", ""),
                        step("00 03 \"you\"", "")),
                HI_20));
        all.add(new Conversation(
                "ZMTP20 with libzmq 2.2",
                ZMTPVersion.ZMTP20,
                ZMTPVersion.ZMTP10,
                OUR_SIGNATURE,
                List.of(step("04", "\"me\""), step("00 \"you\"", "")),
                HI_10));
        for (String theirs : List.of("3.1", "3.0", "libzmq 3.2")) {
            all.add(new Conversation(
                    "ZMTP10 with " + theirs,
                    ZMTPVersion.ZMTP10,
                    ZMTPVersion.ZMTP10,
                    "03 00 \"me\"",
                    List.of(step(THEIR_SIGNATURE, ""), step("\"you\"", "")),
                    HI_10));
        }
        all.add(new Conversation(
                "ZMTP10 with libzmq 2.2",
                ZMTPVersion.ZMTP10,
                ZMTPVersion.ZMTP10,
                "03 00 \"me\"",
                List.of(step("04 00 \"you\"", "")),
                HI_10));
        return all;
    }

    private static ZMTPConfig.Builder dealer(ZMTPVersion protocol) {
        return ZMTPConfig.builder()
                .socketType(ZMTPSocketType.DEALER)
                .protocol(protocol)
                .localIdentity("me");
    }

    private static ScriptedPeer peerOf(ZMTPConfig.Builder config) {
        return new ScriptedPeer(ZMTPCodec.from(config.build()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("matrix")
    void eachOfOurBytesIsSentOnceThePeerHasShownThatItUnderstandsIt(Conversation conversation) {
        try (ScriptedPeer peer = peerOf(dealer(conversation.ours()))) {
            assertThat(peer.received()).isEqualTo(Hex.of(conversation.atOnce()));
            for (Step step : conversation.steps()) {
                assertThat(peer.events).isEmpty();
                byte[] theirs = Hex.bytes(step.theirs());
                for (int i = 0; i < theirs.length - 1; i++) {
                    peer.send(new byte[] {theirs[i]});
                    assertThat(peer.received())
                            .as("after byte %s of %s", i, step)
                            .isEmpty();
                }
                peer.send(new byte[] {theirs[theirs.length - 1]});
                assertThat(peer.received()).as("after %s", step).isEqualTo(Hex.of(step.ours()));
            }
            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(handshake.negotiatedVersion()).isEqualTo(conversation.agreed());
            assertThat(handshake.remoteIdentity())
                    .isEqualTo(ByteBuffer.wrap("you".getBytes(StandardCharsets.US_ASCII)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("matrix")
    void thePeerMaySplitItsBytesAnywhere(Conversation conversation) {
        byte[] theirs = conversation.theirBytes();
        ZMTPHandshake expected;
        try (ScriptedPeer peer = peerOf(dealer(conversation.ours())).send(theirs)) {
            expected = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(peer.received()).isEqualTo(conversation.ourHex());
            assertThat(peer.messages).containsExactly(message("hi"));
        }
        for (int split = 1; split <= theirs.length; split++) {
            try (ScriptedPeer peer = peerOf(dealer(conversation.ours()))) {
                if (split < theirs.length) {
                    peer.send(theirs, split);
                } else {
                    peer.sendSingly(theirs);
                }
                assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake())
                        .isEqualTo(expected);
                assertThat(peer.received()).isEqualTo(conversation.ourHex());
                assertThat(peer.messages).containsExactly(message("hi"));
                assertThat(peer.failures).isEmpty();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("matrix")
    void thePeerMayDisconnectAfterAnyByte(Conversation conversation) {
        byte[] theirs = conversation.theirBytes();
        int handshake = theirs.length - Hex.bytes(conversation.message()).length;
        for (int length = 0; length < handshake; length++) {
            try (ScriptedPeer peer = peerOf(dealer(conversation.ours()))) {
                peer.send(java.util.Arrays.copyOf(theirs, length));
                assertThat(peer.events).isEmpty();
                peer.channel.close();
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.CLOSED);
            }
        }
    }

    @Test
    void onlyTheSignatureIsSentUnasked() {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE));
            peer.channel.runPendingTasks();
            peer.channel.flush();
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void aPeerThatWaitsAfterItsSignatureGetsTheRevision() {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.received();
            peer.send("ff 00*7 01");
            assertThat(peer.received()).isEmpty();
            peer.send("7f");
            assertThat(peer.received()).isEqualTo("03");
        }
    }

    @Test
    void aPeerThatWaitsAfterItsRevisionGetsTheRest() {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31)).send(THEIR_SIGNATURE + " 03")) {
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + " 03 01" + NULL));
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 01", "1, 02", "253, fe", "254, ff", "255, 0100"})
    void theSignatureHoldsTheLengthOfOurIdentityPlusOne(int identity, String length) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31).localIdentity("i".repeat(identity)))) {
            String padded = "0".repeat(16 - length.length()) + length;
            assertThat(peer.received()).isEqualTo("ff" + padded + "7f");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00*8", "ff*8", "00*7 01", "12 34 56 78 9a bc de f0"})
    void thePaddingOfASignatureIsIgnored(String padding) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send("ff " + padding + " 7f 03 01 " + NULL + "\n" + THEIR_READY);
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + " 03 01" + NULL + "\n" + OUR_READY));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"01", "7f", "03", "ff", "81"})
    void anOddTenthByteEndsASignature(String last) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send("ff 00*8 " + last + " 03 01 " + NULL + "\n" + THEIR_READY);
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"02", "7e", "80", "fe"})
    void anEvenTenthByteThatIsNotTheFlagsOfA10FrameIsRefused(String last) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send("ff 00*7 ff " + last);
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MALFORMED);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "03, 00, ZMTP30", "03, 01, ZMTP31", "03, 09, ZMTP31", "03, ff, ZMTP31",
        "04, 00, ZMTP31", "04, 01, ZMTP31", "7f, 00, ZMTP31", "ff, ff, ZMTP31"
    })
    void aLaterVersionThanOursIsTreatedAsOurs(String major, String minor, ZMTPVersion agreed) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send(THEIR_SIGNATURE + " " + major + " " + minor + " " + NULL + "\n" + THEIR_READY);
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + " 03 01" + NULL + "\n" + OUR_READY));
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().negotiatedVersion())
                    .isEqualTo(agreed);
        }
    }

    @ParameterizedTest
    @CsvSource({"03, 01", "03, 09", "04, 01", "ff, ff"})
    void a30CodecAnnounces30ToALaterPeer(String major, String minor) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP30))) {
            peer.send(THEIR_SIGNATURE + " " + major + " " + minor + " " + NULL + "\n" + THEIR_READY);
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + " 03 00" + NULL + "\n" + OUR_READY));
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().negotiatedVersion())
                    .isEqualTo(ZMTPVersion.ZMTP30);
        }
    }

    @Test
    void revisionTwoMeans20AsTheRfcSays() {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send(THEIR_SIGNATURE + " 02 06 / 00 03 \"you\"");
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + " 03 05 / 00 02 \"me\""));
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().negotiatedVersion())
                    .isEqualTo(ZMTPVersion.ZMTP20);
        }
    }

    @ParameterizedTest
    @CsvSource({"ZMTP31, 03 05", "ZMTP30, 03 05", "ZMTP20, 01 05"})
    void aPeerOfRevisionZeroGetsTheFramingOf10(ZMTPVersion ours, String revisionAndType) {
        try (ScriptedPeer peer = peerOf(dealer(ours))) {
            peer.send(THEIR_SIGNATURE + " 00 06 / 04 00 \"you\" / " + HI_10);
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + " " + revisionAndType + " / 03 00 \"me\""));
            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(handshake.negotiatedVersion()).isEqualTo(ZMTPVersion.ZMTP10);
            assertThat(handshake.remoteSocketType()).isEqualTo(ZMTPSocketType.ROUTER);
            assertThat(peer.messages).containsExactly(message("hi"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"01", "ff"})
    void asServerIsIgnored(String asServer) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send(THEIR_SIGNATURE + " 03 01 \"NULL\" 00*16 " + asServer + " 00*31\n" + THEIR_READY);
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void theFillerIsIgnored() {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send(THEIR_SIGNATURE + " 03 01 \"NULL\" 00*16 00 a5*31\n" + THEIR_READY);
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    static List<Arguments> otherMechanisms() {
        return List.of(
                Arguments.of("\"PLAIN\" 00*15", "PLAIN"),
                Arguments.of("\"null\" 00*16", "null"),
                Arguments.of("\"NULL\" 00*15 41", "NULL???????????????A"),
                Arguments.of("\"NULL\" 20*16", "NULL????????????????"),
                Arguments.of("\"NULLL\" 00*15", "NULLL"),
                Arguments.of("\"NUL\" 00*17", "NUL"),
                Arguments.of("00*20", ""),
                Arguments.of("ff*20", "????????????????????"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("otherMechanisms")
    void aPeerWithAnotherMechanismIsRefusedBeforeAnyCommand(String field, String shown) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.send(THEIR_SIGNATURE + " 03 01 " + field + " 00*32\n" + THEIR_READY);
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MECHANISM);
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasMessage("mechanism: " + shown + " (expected: NULL), peer embedded");
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + " 03 01" + NULL));
        }
    }

    static Stream<Arguments> olderPeers() {
        String peer31 = THEIR_SIGNATURE + " 03 01 " + NULL;
        String peer30 = THEIR_SIGNATURE + " 03 00 " + NULL;
        String peer20 = THEIR_SIGNATURE + " 01";
        String peer10Framed = THEIR_SIGNATURE + " 00";
        String peer10 = "04";
        String rest31 = " 03 01" + NULL;
        String rest30 = " 03 00" + NULL;
        return Stream.of(
                Arguments.of("ZMTP31", "3.0", peer30, "ZMTP30", rest31),
                Arguments.of("ZMTP31", "2.0", peer20, "ZMTP20", " 03"),
                Arguments.of("ZMTP31", "revision 0", peer10Framed, "ZMTP10", " 03"),
                Arguments.of("ZMTP31", "1.0", peer10, "ZMTP10", ""),
                Arguments.of("ZMTP30", "2.0", peer20, "ZMTP20", " 03"),
                Arguments.of("ZMTP30", "revision 0", peer10Framed, "ZMTP10", " 03"),
                Arguments.of("ZMTP30", "1.0", peer10, "ZMTP10", ""),
                Arguments.of("ZMTP20", "revision 0", peer10Framed, "ZMTP10", " 01 05"),
                Arguments.of("ZMTP20", "1.0", peer10, "ZMTP10", ""),
                Arguments.of("ZMTP30", "3.1", peer31, null, rest30));
    }

    @ParameterizedTest(name = "{0} with {1}")
    @MethodSource("olderPeers")
    void withoutInteropAnOlderPeerIsRefusedAsSoonAsItsVersionIsKnown(
            ZMTPVersion ours, String name, String theirs, String refused, String answered) {
        try (ScriptedPeer peer = peerOf(dealer(ours).interop(false)).send(theirs)) {
            if (refused == null) {
                assertThat(peer.events).isEmpty();
                assertThat(peer.send(THEIR_READY)
                                .onlyEvent(ZMTPHandshakeSuccess.class)
                                .handshake()
                                .negotiatedVersion())
                        .isEqualTo(ours);
                return;
            }
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.VERSION);
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasMessage("version of the peer: " + refused + " (expected: " + ours
                            + " without interop), peer embedded");
            assertThat(peer.received()).isEqualTo(Hex.of(OUR_SIGNATURE + answered));
        }
    }

    @ParameterizedTest
    @EnumSource(ZMTPVersion.class)
    void withoutInteropAPeerOfTheSameVersionIsAccepted(ZMTPVersion version) {
        Conversation same = matrix().stream()
                .filter(conversation -> conversation.ours() == version && conversation.agreed() == version)
                .reduce((first, last) -> last)
                .orElseThrow();
        try (ScriptedPeer peer = peerOf(dealer(version).interop(false)).send(same.theirBytes())) {
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().negotiatedVersion())
                    .isEqualTo(version);
        }
    }

    static List<Arguments> draftsAndOldPeers() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPSocketType type : ZMTPSocketType.values()) {
            if (type.isDraft()) {
                all.add(Arguments.of(type, THEIR_SIGNATURE + " 01", "03"));
                all.add(Arguments.of(type, THEIR_SIGNATURE + " 02", "03"));
                all.add(Arguments.of(type, THEIR_SIGNATURE + " 00", "03"));
                all.add(Arguments.of(type, "01 00", ""));
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("draftsAndOldPeers")
    void aDraftTypeRequiresAtLeast30(ZMTPSocketType type, String theirs, String answered) {
        ZMTPConfig.Builder config = ZMTPConfig.builder().socketType(type);
        try (ScriptedPeer peer = peerOf(config).send(theirs)) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.VERSION);
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasMessageContaining("ZMTP30 or later for a " + type);
            assertThat(peer.received()).isEqualTo(Hex.of("ff 00*7 01 7f " + answered));
        }
    }

    static List<Arguments> everyPairThat20CanName() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPSocketType ours : ZMTPSocketType.values()) {
            for (int code = 0; code <= 10 && !ours.isDraft(); code++) {
                all.add(Arguments.of(ours, code, ZMTPSocketType.ofCode(code)));
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0} with {2}")
    @MethodSource("everyPairThat20CanName")
    void a20PeerMustHaveATypeCompatibleWithOurs(ZMTPSocketType ours, int code, ZMTPSocketType theirs) {
        for (ZMTPVersion protocol : List.of(ZMTPVersion.ZMTP31, ZMTPVersion.ZMTP20)) {
            ZMTPConfig.Builder config = ZMTPConfig.builder().socketType(ours).protocol(protocol);
            try (ScriptedPeer peer = peerOf(config)) {
                peer.send("ff 00*7 01 7f 01 %02x / 00 00".formatted(code));
                if (ours.accepts(theirs)) {
                    assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)
                                    .handshake()
                                    .remoteSocketType())
                            .isEqualTo(theirs);
                } else {
                    assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0b", "7f", "80", "ff"})
    void a20PeerOfUnknownTypeIsRefused(String code) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31)).send(THEIR_SIGNATURE + " 01 " + code)) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "PAIR, 00",
        "PUB, 01",
        "SUB, 02",
        "REQ, 03",
        "REP, 04",
        "DEALER, 05",
        "ROUTER, 06",
        "PULL, 07",
        "PUSH, 08",
        "XPUB, 01",
        "XSUB, 02"
    })
    void a20PeerGetsOurTypeAsTheNumberOfRfc15(ZMTPSocketType ours, String code) {
        ZMTPConfig.Builder config = ZMTPConfig.builder().socketType(ours);
        try (ScriptedPeer peer = peerOf(config).send(THEIR_SIGNATURE + " 01")) {
            assertThat(peer.received()).isEqualTo(Hex.of("ff 00*7 01 7f 03 " + code + " / 00 00"));
        }
    }

    @Test
    void whatFollowsARefusedGreetingIsDiscarded() {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31))) {
            peer.received();
            peer.send(THEIR_SIGNATURE + " 03 01 \"PLAIN\" 00*47\n" + THEIR_READY + HI_20);
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.messages).isEmpty();
            assertThat(peer.failures).isEmpty();
            assertThat(peer.received()).isEqualTo(Hex.of("03 01" + NULL));
        }
    }

    /** A balancer whose service is away answers like this. It says nothing about versions. */
    @ParameterizedTest
    @CsvSource({
        "48 54 54 50 2f 31 2e 31 20 35 30 33, '0x4854, looks like an HTTP answer'",
        "48 | 54 54 50 2f 31 2e 31 20 35 30 33, '0x4854, looks like an HTTP answer'",
        "15 03 03 00 02 02 28, 0x1503",
    })
    void anAnswerOfAnotherProtocolIsCalledThatAlsoWhereNoOldPeerIsAllowed(String theirs, String shown) {
        try (ScriptedPeer peer = peerOf(dealer(ZMTPVersion.ZMTP31).interop(false))) {
            for (String part : theirs.split(" [|] ", -1)) {
                peer.send(part);
            }
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MALFORMED);
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasMessage("first bytes: " + shown + " (expected: a ZMTP greeting), peer embedded");
        }
    }

    @Test
    void anOldPeerWithALongIdentityIsStillRefusedForItsVersion() {
        try (ScriptedPeer peer =
                peerOf(dealer(ZMTPVersion.ZMTP31).interop(false)).send("48 00")) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.VERSION);
        }
    }
}
