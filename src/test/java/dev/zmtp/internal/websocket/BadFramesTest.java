package dev.zmtp.internal.websocket;

import static dev.zmtp.ZMTPException.Code.MALFORMED;
import static dev.zmtp.ZMTPException.Code.TOO_LARGE;
import static dev.zmtp.ZMTPException.Code.UNEXPECTED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Hex;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Frames against the rules of RFC 6455 and RFC 45, each of which ends the connection with a close frame. */
class BadFramesTest {

    private static final String KEY = "37 fa 21 3d ";

    /** The last frame "a" of a client, and of a server. */
    private static final String GOOD = "82 82 " + KEY + "37 9b ";

    private static final String GOOD_OF_SERVER = "82 02 00 61 ";

    /** Bytes that end the connection of this side. */
    private record Bad(
            String what, WebSocketRole role, String frames, ZMTPException.Code code, String status, String message) {
        @Override
        public String toString() {
            return what;
        }
    }

    private static Bad ofClient(String what, String frames, String message) {
        return new Bad(what, WebSocketRole.SERVER, frames, MALFORMED, "03 ea", message);
    }

    static List<Bad> badFrames() {
        return List.of(
                ofClient("no mask", GOOD_OF_SERVER, "WebSocket mask: none (expected: set, from a client)"),
                new Bad(
                        "a mask of a server",
                        WebSocketRole.CLIENT,
                        GOOD,
                        MALFORMED,
                        "03 ea",
                        "WebSocket mask: set (expected: none, from a server)"),
                ofClient(
                        "an RSV bit",
                        "c2 82 " + KEY + "37 9b",
                        "WebSocket RSV bits: 0x40 (expected: 0x0, without extensions)"),
                ofClient(
                        "an unknown opcode",
                        "83 82 " + KEY + "37 9b",
                        "WebSocket opcode: 0x3 (expected: one of RFC 6455)"),
                ofClient(
                        "an unknown control opcode",
                        "8b 80 " + KEY,
                        "WebSocket opcode: 0xb (expected: one of RFC 6455)"),
                ofClient("a long PING", "89 fe 00 7e " + KEY, "WebSocket control frame length: 126 (expected: <= 125)"),
                ofClient(
                        "a fragment of a PING",
                        "09 80 " + KEY,
                        "WebSocket control frame: a fragment (expected: a whole frame)"),
                ofClient(
                        "a close frame of one byte",
                        "88 81 " + KEY + "34",
                        "WebSocket close frame length: 1 (expected: 0, or a status of 2 bytes)"),
                ofClient(
                        "a continuation without a beginning",
                        "80 82 " + KEY + "37 9b",
                        "WebSocket opcode: 0x0 (expected: 0x2, the beginning of a message)"),
                ofClient(
                        "a message within a message",
                        "02 82 " + KEY + "37 9b / 82 82 " + KEY + "37 9b",
                        "WebSocket opcode: 0x2 (expected: 0x0, a continuation of the message)"),
                ofClient(
                        "no payload", "82 80 " + KEY, "WebSocket message length: 0 (expected: >= 1, the flags of ZWS)"),
                ofClient(
                        "fragments without a payload",
                        "02 80 " + KEY + "80 80 " + KEY,
                        "WebSocket message length: 0 (expected: >= 1, the flags of ZWS)"),
                ofClient("unknown flags", "82 81 " + KEY + "34", "ZWS flags: 0x3 (expected: 0x0, 0x1 or 0x2)"),
                ofClient(
                        "unknown flags in fragments",
                        "02 81 " + KEY + "b7 / 80 80 " + KEY,
                        "ZWS flags: 0x80 (expected: 0x0, 0x1 or 0x2)"),
                ofClient(
                        "a length with its top bit set",
                        "82 ff 80 00*7 " + KEY,
                        "WebSocket payload length: 9223372036854775808 (expected: <= 9223372036854775807)"),
                new Bad(
                        "text",
                        WebSocketRole.SERVER,
                        "81 82 " + KEY + "37 9b",
                        MALFORMED,
                        "03 eb",
                        "WebSocket opcode: 0x1, text (expected: 0x2, binary)"),
                new Bad(
                        "a long frame",
                        WebSocketRole.SERVER,
                        "82 fe 27 12 " + KEY + "37",
                        TOO_LARGE,
                        "03 f1",
                        "frame length: 10001 (expected: <= 10000)"),
                new Bad(
                        "a long command",
                        WebSocketRole.SERVER,
                        "82 fe 20 02 " + KEY + "35",
                        TOO_LARGE,
                        "03 f1",
                        "command length: 8193 (expected: <= 8192)"),
                new Bad(
                        "long fragments before the handshake",
                        WebSocketRole.SERVER,
                        "02 82 " + KEY + "37 9b / 00 fe 27 10 " + KEY,
                        TOO_LARGE,
                        "03 f1",
                        "fragmented message length: 10001 (expected: <= 8192)"),
                new Bad(
                        "an endless fragment",
                        WebSocketRole.SERVER,
                        "02 ff 7f ff*7 " + KEY,
                        TOO_LARGE,
                        "03 f1",
                        "fragmented message length: 9223372036854775806 (expected: <= 8192)"));
    }

    private static TranslatedChannel open(Bad bad) {
        return TranslatedChannel.open(bad.role, new ZwsProtocol("PLAIN"), config -> config.maxFrameLength(10_000));
    }

    private static void assertEnded(Bad bad, TranslatedChannel end) {
        assertThat(end.codec.failures).singleElement().isInstanceOfSatisfying(ZMTPException.class, failure -> {
            assertThat(failure.code()).isEqualTo(bad.code);
            assertThat(failure).hasMessageStartingWith(bad.message);
        });
        assertThat(end.channel.isOpen()).isFalse();
        String close = bad.role == WebSocketRole.SERVER ? Hex.of("88 02 " + bad.status) : end.received();
        if (bad.role == WebSocketRole.SERVER) {
            assertThat(end.received()).isEqualTo(close);
        } else {
            assertThat(close).isEqualTo(Hex.of("88 82 " + KEY + "34 10"));
        }
    }

    @ParameterizedTest
    @MethodSource("badFrames")
    void endTheConnectionAfterTheFramesBeforeThem(Bad bad) {
        String good = bad.role == WebSocketRole.SERVER ? GOOD : GOOD_OF_SERVER;
        try (TranslatedChannel end = open(bad)) {
            end.receive(good + bad.frames + good);

            assertThat(end.zmtp()).isEqualTo(Hex.of("00 01 61"));
            assertEnded(bad, end);
        }
    }

    @ParameterizedTest
    @MethodSource("badFrames")
    void endTheConnectionByteByByte(Bad bad) {
        try (TranslatedChannel end = open(bad)) {
            for (byte each : Hex.bytes(bad.frames)) {
                if (end.channel.isOpen()) {
                    end.receive(new byte[] {each});
                }
            }

            assertEnded(bad, end);
        }
    }

    @Test
    void aPeerWithoutAMechanismSendsNoCommands() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER, ZwsProtocol.BARE)) {
            end.receive("82 81 " + KEY + "35");

            assertThat(end.codec.failures.get(0))
                    .hasMessageStartingWith("ZWS flags: 0x2 (expected: 0x0 or 0x1), peer ");
            assertThat(end.received()).isEqualTo(Hex.of("88 02 03 ea"));
        }
    }

    @Test
    void aPeerWithNullBeginsWithACommand() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER, new ZwsProtocol("NULL"))) {
            end.receive(GOOD);

            assertUnexpected(end, "frame: of a message (expected: a command), peer ");
        }
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT, new ZwsProtocol("NULL"))) {
            end.receive(GOOD_OF_SERVER);

            assertUnexpected(
                    end, "frame: of a message (expected: a command; a server of jszmq needs bare(true)), peer ");
        }
    }

    private static void assertUnexpected(TranslatedChannel end, String message) {
        assertThat(end.codec.failures).singleElement().isInstanceOfSatisfying(ZMTPException.class, failure -> {
            assertThat(failure.code()).isEqualTo(UNEXPECTED);
            assertThat(failure).hasMessageStartingWith(message);
        });
    }

    @Test
    void aBadFrameIsTheReasonForAFailedHandshake() {
        try (TranslatedCodec end = new TranslatedCodec()) {
            end.peer.send("81 82 " + KEY + "37 9b");

            assertThat(Failures.failureOf(end.peer).code()).isEqualTo(MALFORMED);
            assertThat(end.peer.received()).isEqualTo(Hex.of("88 02 03 eb"));
        }
    }

    @Test
    void aBadFrameInTrafficIsReportedOnce() {
        try (ZwsPeer peer = ZwsPeer.ofServer(config -> config)) {
            peer.receive(GOOD + "82 80 " + KEY + GOOD);

            assertThat(peer.messages()).containsExactly("message 61");
            Failures.assertMalformed(peer.peer);
            assertThat(peer.received()).isEqualTo(Hex.of("88 02 03 ea"));
        }
    }

    /** The codec has stricter limits, such as the sum of a message's frames. */
    @Test
    void aFrameThatTheCodecRefusesEndsTheConnectionToo() {
        try (ZwsPeer peer = ZwsPeer.ofServer(config -> config.maxMessageFrames(1))) {
            peer.receive("82 82 " + KEY + "36 9b / " + GOOD);

            assertThat(peer.peer.failures).hasSize(1);
            assertThat(peer.received()).isEqualTo(Hex.of("88 02 03 e8"));
        }
    }

    @Test
    void aBadFrameAfterACloseIsOfNoInterest() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.channel.close();
            end.receive("81 82 " + KEY + "37 9b");

            assertThat(end.codec.failures).isEmpty();
            assertThat(end.channel.isOpen()).isFalse();
            assertThat(end.received()).isEqualTo(Hex.of("88 02 03 e8"));
        }
    }
}
