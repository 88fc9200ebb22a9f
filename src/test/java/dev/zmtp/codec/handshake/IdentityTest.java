package dev.zmtp.codec.handshake;

import static dev.zmtp.testing.Failures.failureOf;
import static dev.zmtp.testing.Fired.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The identity frames of ZMTP 1.0 and 2.0, and strangers whose first byte looks like that of a 1.0 peer. */
class IdentityTest {

    private static final String SIGNATURE = "ff 00*7 01 7f ";

    private static ScriptedPeer peerOf(ZMTPVersion protocol) {
        return peerOf(ZMTPSocketType.DEALER, protocol);
    }

    private static ScriptedPeer peerOf(ZMTPSocketType type, ZMTPVersion protocol) {
        return new ScriptedPeer(
                ZMTPCodec.builder().socketType(type).protocol(protocol).build());
    }

    private static ByteBuffer identity(int length) {
        return ByteBuffer.wrap("i".repeat(length).getBytes(StandardCharsets.US_ASCII));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 01 00",
        "1, 02 00",
        "252, fd 00",
        "253, fe 00",
        "254, ff 00*7 ff 00",
        "255, ff 00*6 01 00 00",
    })
    void a10PeerMayHaveAnIdentityOfAnyLength(int length, String header) {
        for (ZMTPVersion protocol : ZMTPVersion.values()) {
            try (ScriptedPeer peer = peerOf(protocol)) {
                peer.send(header + (length == 0 ? "" : " 69*" + length) + " / 03 00 \"hi\"");
                ZMTPHandshake handshake =
                        peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
                assertThat(handshake.negotiatedVersion()).isEqualTo(ZMTPVersion.ZMTP10);
                assertThat(handshake.remoteIdentity()).isEqualTo(identity(length));
                assertThat(handshake.remoteSocketType()).isNull();
                assertThat(peer.messages).containsExactly(message("hi"));
            }
        }
    }

    @Test
    void a10PeerThatSendsOnlyTwoBytesIsUnderstood() {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP31).send("01 00")) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    /** RFC 37 wants none, but libzmq and JeroMQ accept them. */
    @ParameterizedTest
    @ValueSource(strings = {"03 00 / 00 61", SIGNATURE + "01 06 00 02 / 00 61", SIGNATURE + "00 06 03 00 / 00 61"})
    void anIdentityMayBeginWithAZero(String theirs) {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP31).send(theirs)) {
            ZMTPHandshakeSuccess success = peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(success.handshake().remoteIdentity()).isEqualTo(ByteBuffer.wrap(Hex.bytes("00 61")));
            assertThat(success.session().isPeerAnonymous()).isFalse();
        }
    }

    @Test
    void a10PeerMaySplitALongIdentityAnywhere() {
        byte[] bytes = Hex.bytes("ff 00*7 ff 00 69*254 / 03 00 \"hi\"");
        for (int split = 1; split < bytes.length; split++) {
            try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP31)) {
                peer.send(bytes, split);
                assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)
                                .handshake()
                                .remoteIdentity())
                        .isEqualTo(identity(254));
                assertThat(peer.messages).containsExactly(message("hi"));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 01 00",
        "2, 03 00",
        "253, fe 00",
        "254, ff 00*7 ff 00",
        "255, ff 00*6 01 00 00",
    })
    void a10CodecSendsItsIdentityInTheShortestFrame(int length, String header) {
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .protocol(ZMTPVersion.ZMTP10)
                .localIdentity("i".repeat(length))
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            assertThat(peer.received()).isEqualTo(Hex.of(header + (length == 0 ? "" : " 69*" + length)));
        }
    }

    @ParameterizedTest
    @CsvSource({"254, ff 00*7 ff 7f", "255, ff 00*6 01 00 7f"})
    void theHeaderOfALongIdentityFor10IsOurSignature(int length, String signature) {
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .localIdentity("i".repeat(length))
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send("01 00")) {
            assertThat(peer.received()).isEqualTo(Hex.of(signature + " 69*" + length));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"01", "7f", "ff"})
    void a10CodecReadsASignatureAsTheHeaderOfAnIdentity(String lastByte) {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP10).send("ff 00*7 04 " + lastByte + " \"you\"")) {
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().remoteIdentity())
                    .isEqualTo(ByteBuffer.wrap(Hex.bytes("\"you\"")));
        }
    }

    @Test
    void a10CodecRequiresTheWholeSignature() {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP10).send("04 7f")) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MALFORMED);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ff 00*7 04 02 /, 'identity frame flags: 0x2 (expected: 0x0, or a ZMTP signature before it)'",
        "ff 00*7 04 00 /, 'identity length: 3 (expected: one of 254 or 255 in a long header)'",
        "\"GET\" 20 2f 20, 'first bytes: 0x4745, looks like an HTTP request (expected: a ZMTP greeting)'",
        "\"SSH-2.0\" 0d 0a, 'first bytes: 0x5353, looks like SSH (expected: a ZMTP greeting)'",
        "16 03 01 02 00 01, 'first bytes: 0x1603, looks like a TLS handshake (expected: a ZMTP greeting)'",
        "04 7f /, 'first bytes: 0x47f (expected: a ZMTP greeting)'"
    })
    void aFirstByteOfNeitherASignatureNorAnIdentityIsRefusedWithItsValue(String theirs, String message) {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP10).send(theirs)) {
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause()).hasMessageStartingWith(message);
        }
    }

    static List<Arguments> strangers() {
        return List.of(
                Arguments.of("HTTP", "\"GET\" 20 2f 20 \"HTTP\" 2f \"1.1\" 0d0a \"Host:x\" 0d0a0d0a"),
                Arguments.of("HTTP/2", "\"PRI\" 20 2a 20 \"HTTP\" 2f \"2.0\" 0d0a0d0a \"SM\" 0d0a0d0a"),
                Arguments.of("TLS 1.0 ClientHello", "16 03 01 02 00 01 00 01 fc 03 03 a5*32"),
                Arguments.of("TLS 1.2 record", "16 03 03 02 00 01 00 01 fc 03 03 a5*32"),
                Arguments.of("SSH", "\"SSH-2.0-OpenSSH_9.2\" 0d0a"),
                Arguments.of("SMTP", "\"EHLO\" 20 \"x\" 0d0a"),
                Arguments.of("RTSP", "\"OPTIONS\" 20 2a 20 \"RTSP\" 2f \"1.0\" 0d0a"),
                Arguments.of("Redis", "2a \"1\" 0d0a 24 \"4\" 0d0a \"PING\" 0d0a"),
                Arguments.of("PROXY v1", "\"PROXY\" 20 \"TCP4\" 20 \"1.1.1.1\""),
                Arguments.of("PROXY v2", "0d0a0d0a 00 0d0a \"QUIT\" 0a 21 11"),
                Arguments.of("SOCKS4", "04 01 00 50 7f 00 00 01 00"),
                Arguments.of("empty lines", "0d0a0d0a"),
                Arguments.of("MORE", "04 01 \"you\""));
    }

    @Test
    void zerosFailAtTheFirstByte() {
        for (ZMTPVersion protocol : ZMTPVersion.values()) {
            try (ScriptedPeer peer = peerOf(protocol)) {
                peer.send(new byte[] {0});
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MALFORMED);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("strangers")
    void aStrangerFailsAtItsSecondByte(String name, String theirs) {
        byte[] bytes = Hex.bytes(theirs);
        for (ZMTPVersion protocol : ZMTPVersion.values()) {
            try (ScriptedPeer peer = peerOf(protocol)) {
                peer.send(new byte[] {bytes[0]});
                assertThat(peer.events).isEmpty();
                peer.send(new byte[] {bytes[1]});
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MALFORMED);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("strangers")
    void theRestOfAStrangersInputIsDiscarded(String name, String theirs) {
        for (ZMTPVersion protocol : ZMTPVersion.values()) {
            try (ScriptedPeer peer = peerOf(protocol)) {
                String greeting = peer.received();
                peer.send(theirs);
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MALFORMED);
                assertThat(greeting).isNotEmpty();
                assertThat(peer.received()).isEmpty();
            }
        }
    }

    @Test
    void allOnesFailAtTheirMechanism() {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP31).send("ff*64")) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MECHANISM);
        }
    }

    @Test
    void allOnesFailAtTheirSocketTypeIn20() {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP20).send("ff*12")) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
        }
    }

    @Test
    void allOnesFailAtTheirLengthIn10() {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP10).send("ff*10")) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MALFORMED);
        }
    }

    @Test
    void randomBytesFailOnce() {
        for (int seed = 0; seed < 2000; seed++) {
            Random random = new Random(seed);
            byte[] bytes = new byte[300];
            random.nextBytes(bytes);
            if (bytes[1] == 0) {
                bytes[1] = 1;
            }
            ZMTPVersion protocol = List.of(ZMTPVersion.values()).get(seed % 4);
            try (ScriptedPeer peer = peerOf(protocol)) {
                peer.send(bytes, 1 + random.nextInt(bytes.length - 1));
                assertThat(peer.events).as("seed %s", seed).hasSize(1).first().isInstanceOf(ZMTPHandshakeFailure.class);
                assertThat(peer.failures).as("seed %s", seed).isEmpty();
                assertThat(peer.channel.isOpen()).as("seed %s", seed).isFalse();
            }
        }
    }

    static List<Arguments> badIdentities() {
        String v2 = SIGNATURE + "01 06 ";
        String v0 = SIGNATURE + "00 06 ";
        return List.of(
                Arguments.of("1.0, 256 bytes", "ff 00*6 01 01 00", ZMTPException.Code.TOO_LARGE),
                Arguments.of("1.0, 2^31 - 1 bytes", "ff 00*4 80 00*3 00", ZMTPException.Code.TOO_LARGE),
                Arguments.of("1.0, 2^63 bytes", "ff 80 00*7 00", ZMTPException.Code.MALFORMED),
                Arguments.of("1.0, 2^64 - 39 bytes", "ff ff*7 da 00", ZMTPException.Code.MALFORMED),
                Arguments.of("1.0, 2^64 - 31 bytes, flags", "ff ff*7 e2 aa", ZMTPException.Code.MALFORMED),
                Arguments.of("1.0, 2^63 - 2 bytes", "ff 7f ff*7 00", ZMTPException.Code.TOO_LARGE),
                Arguments.of("1.0, 253 bytes in a long frame", "ff 00*7 fe 00", ZMTPException.Code.MALFORMED),
                Arguments.of("1.0, none in a long frame", "ff 00*7 01 00", ZMTPException.Code.MALFORMED),
                Arguments.of("1.0, length 0 in a long frame", "ff 00*8 00", ZMTPException.Code.MALFORMED),
                Arguments.of("2.0, 256 bytes", v2 + "02 00*6 01 00", ZMTPException.Code.TOO_LARGE),
                Arguments.of("2.0, 2^63 bytes", v2 + "02 80 00*7", ZMTPException.Code.MALFORMED),
                Arguments.of("2.0, MORE", v2 + "01 02", ZMTPException.Code.MALFORMED),
                Arguments.of("2.0, COMMAND", v2 + "04 02", ZMTPException.Code.MALFORMED),
                Arguments.of("2.0, reserved", v2 + "80 02", ZMTPException.Code.MALFORMED),
                Arguments.of("revision 0, 256 bytes", v0 + "ff 00*6 01 01 00", ZMTPException.Code.TOO_LARGE),
                Arguments.of("revision 0, MORE", v0 + "03 01", ZMTPException.Code.MALFORMED),
                Arguments.of("revision 0, length 0", v0 + "00 00", ZMTPException.Code.MALFORMED));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badIdentities")
    void anIllegalIdentityIsRefused(String name, String theirs, ZMTPException.Code code) {
        byte[] bytes = Hex.bytes(theirs);
        for (int split = 1; split < bytes.length; split++) {
            try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP31)) {
                peer.send(bytes, split);
                assertThat(failureOf(peer).code()).isEqualTo(code);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 00 00",
        "3, 00 03",
        "3, 02 00*7 03",
        "127, 00 7f",
        "128, 00 80",
        "200, 00 c8",
        "255, 00 ff",
        "255, 02 00*7 ff"
    })
    void a20PeerMayFrameItsIdentityShortOrLong(int length, String header) {
        try (ScriptedPeer peer = peerOf(ZMTPVersion.ZMTP31)) {
            peer.send(SIGNATURE + "01 06 / " + header + (length == 0 ? "" : " 69*" + length));
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake().remoteIdentity())
                    .isEqualTo(identity(length));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUB", "XPUB"})
    void a10PeerOfAPublisherIsSubscribedToEverything(ZMTPSocketType type) {
        for (ZMTPVersion protocol : ZMTPVersion.values()) {
            try (ScriptedPeer peer = peerOf(type, protocol).send("01 00")) {
                assertThat(peer.all).hasSize(2);
                assertThat(peer.all.get(0)).isInstanceOf(ZMTPHandshakeSuccess.class);
                assertThat(peer.all.get(1)).isEqualTo("subscribe ");
            }
        }
    }

    @Test
    void a20PeerOfAPublisherSubscribesItself() {
        try (ScriptedPeer peer = peerOf(ZMTPSocketType.PUB, ZMTPVersion.ZMTP31)) {
            peer.send(SIGNATURE + "01 02 / 00 00");
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(peer.messages).isEmpty();
        }
    }
}
