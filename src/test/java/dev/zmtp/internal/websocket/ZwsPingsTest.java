package dev.zmtp.internal.websocket;

import static dev.zmtp.ZMTPException.Code.HEARTBEAT_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Hex;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heartbeats, which are control frames of WebSocket for the peer and commands for the codec. */
class ZwsPingsTest {

    private static final String KEY = "37 fa 21 3d ";

    /** Returns the PING of a client with this number, masked. */
    private static String pingOfClient(int number) {
        return Hex.of("89 84 " + KEY + "37 fa 21 %02x".formatted(0x3d ^ number));
    }

    /** Returns the PONG of a server for the PING with this number. */
    private static String pong(int number) {
        return "8a 04 %08x ".formatted(number);
    }

    private static ZMTPConfig.Builder heartbeats(ZMTPConfig.Builder config) {
        return config.heartbeatInterval(Duration.ofSeconds(1))
                .heartbeatTimeout(Duration.ofSeconds(3))
                .heartbeatZMTP30Peers(true);
    }

    @Test
    void theCodecAnswersAPingWithItsPayload() {
        try (ZwsPeer peer = ZwsPeer.ofClient(config -> config)) {
            peer.receive("89 03 \"abc\"");
            assertThat(peer.received()).isEqualTo(Hex.of("8a 83 " + KEY + "56 98 42"));
            peer.receive("89 00");
            assertThat(peer.received()).isEqualTo(Hex.of("8a 80 " + KEY));
        }
    }

    @Test
    void aPingCanHave125BytesAndBeCutAnywhere() {
        byte[] ping = Hex.bytes("89 7d 78*125");
        for (int cut = 0; cut <= ping.length; cut++) {
            try (ZwsPeer peer = ZwsPeer.ofClient(config -> config)) {
                peer.peer.send(ping, cut);

                assertThat(peer.received())
                        .as("cut at %d", cut)
                        .startsWith(Hex.of("8a fd " + KEY))
                        .hasSize(2 * 131);
            }
        }
    }

    @Test
    void aClientMasksItsPing() {
        try (ZwsPeer peer = ZwsPeer.ofServer(config -> config)) {
            peer.receive("89 83 " + KEY + "56 98 42");

            assertThat(peer.received()).isEqualTo(Hex.of("8a 03 \"abc\""));
        }
    }

    @Test
    void theLastOfSeveralPingsIsAnswered() {
        try (ZwsPeer peer = ZwsPeer.ofServer(config -> config)) {
            peer.receive(("89 81 " + KEY + "56 ").repeat(100) + "89 81 " + KEY + "55");

            assertThat(peer.received()).isEqualTo(Hex.of("8a 01 62"));
        }
    }

    /** A peer that sends PINGs and reads nothing must not make us queue PONGs. */
    @ParameterizedTest
    @ValueSource(strings = {"NULL", "PLAIN", "CURVE", ""})
    void anUnwritableChannelGetsOnePong(String mechanism) {
        ZwsProtocol protocol = mechanism.isEmpty() ? ZwsProtocol.BARE : new ZwsProtocol(mechanism);
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT, protocol)) {
            end.channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
            for (int i = 0; i < 100; i++) {
                end.receive("89 01 61");
            }
            end.receive("89 01 62");
            assertThat(end.received()).isEmpty();

            end.channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
            end.channel.runPendingTasks();

            assertThat(end.received()).isEqualTo(Hex.of("8a 81 " + KEY + "55"));
            assertThat(end.zmtp()).isEmpty();
        }
    }

    @Test
    void aPingDuringTheHandshakeIsNotForTheCodec() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT, new ZwsProtocol("NULL"))) {
            end.receive("89 01 61 / 8a 00");

            assertThat(end.received()).isEqualTo(Hex.of("8a 81 " + KEY + "56"));
            assertThat(end.zmtp()).isEmpty();
        }
    }

    @Test
    void aPingPrecedesAFrameThatIsNotComplete() {
        try (ZwsPeer peer = ZwsPeer.ofClient(config -> config)) {
            peer.receive("82 02 00 61 / 89 01 61 / 82 7e 01 01 00 78*10");
            assertThat(peer.received()).isEqualTo(Hex.of("8a 81 " + KEY + "56"));
            peer.receive("78*246 / 89 00");

            assertThat(peer.messages()).containsExactly("message 61", "message " + "78".repeat(256));
            assertThat(peer.received()).isEqualTo(Hex.of("8a 80 " + KEY));
        }
    }

    @Test
    void thePingOfTheCodecIsAControlFrameAndThePongIsHeard() {
        try (ZwsPeer peer = ZwsPeer.ofClient(ZwsPingsTest::heartbeats)) {
            peer.advance(1000);
            assertThat(peer.received()).isEqualTo(pingOfClient(1));
            peer.receive(pong(1));
            peer.advance(1000);
            assertThat(peer.received()).isEqualTo(pingOfClient(2));
            assertThat(peer.peer.failures).isEmpty();

            peer.advance(4000); // the peer has shown that it answers, and now it does not
            Failures.assertFailed(closed(peer).peer, HEARTBEAT_TIMEOUT);
        }
    }

    /** The codec gets nothing before the last fragment. */
    @Test
    void fragmentsAreASignOfLife() {
        try (ZwsPeer peer = ZwsPeer.ofClient(ZwsPingsTest::heartbeats)) {
            peer.advance(1000);
            peer.receive("8a 00 / 02 02 00 61");
            for (int second = 0; second < 10; second++) {
                peer.advance(1000);
                peer.receive("00 01 62");
            }

            assertThat(peer.peer.failures).isEmpty();
            assertThat(peer.peer.channel.isOpen()).isTrue();
        }
    }

    private static ZwsPeer closed(ZwsPeer peer) {
        peer.advance(CloseTimer.MILLIS);
        return peer;
    }

    @Test
    void theServerSendsItsPingWithoutAMask() {
        try (ZwsPeer peer = ZwsPeer.ofServer(ZwsPingsTest::heartbeats)) {
            peer.advance(1000);

            assertThat(peer.received()).isEqualTo(Hex.of("89 04 00 00 00 01"));
        }
    }

    /** A peer that never answered yet gets PINGs in each interval. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLatePongForTheFirstOfTwoPingsCounts(boolean numbered) {
        try (ZwsPeer peer = ZwsPeer.ofClient(ZwsPingsTest::heartbeats)) {
            peer.advance(1000);
            peer.advance(1000);
            assertThat(peer.received()).isEqualTo(pingOfClient(1) + pingOfClient(2));
            peer.receive(numbered ? pong(1) + pong(2) : "8a 00 / 8a 00");
            for (int second = 0; second < 10; second++) {
                peer.advance(1000);
                assertThat(peer.received()).as("second %d", second).isEqualTo(pingOfClient(3 + second));
                peer.receive(numbered ? pong(3 + second) : "8a 00");
            }
            assertThat(peer.peer.failures).isEmpty();
        }
    }

    /** RFC 6455 permits it, and libzmq does it as well, without a number. */
    @ParameterizedTest
    @CsvSource({"true, 2", "false, 2", "false, 12"})
    void aPeerThatAnswersPingsAtOnceIsSilentOnlyLater(boolean numbered, int pings) {
        try (ZwsPeer peer = ZwsPeer.ofClient(ZwsPingsTest::heartbeats)) {
            for (int second = 0; second < pings; second++) {
                peer.advance(1000);
            }
            peer.receive(numbered ? pong(pings) : "8a 00");
            for (int second = 0; second < 60; second++) {
                peer.advance(1000);
                peer.receive(numbered ? pong(pings + 1 + second) : "8a 00");
            }
            assertThat(peer.peer.failures).isEmpty();
            assertThat(peer.received()).contains(pingOfClient(pings + 60));

            for (int second = 0; second < 5; second++) { // in which it is silent
                peer.advance(1000);
            }
            Failures.assertFailed(closed(peer).peer, HEARTBEAT_TIMEOUT);
        }
    }

    /** It does not show that the peer has read what was written after it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPongForAnEarlierPingDoesNotCountForALaterOne(boolean numbered) {
        try (ZwsPeer peer = ZwsPeer.ofClient(ZwsPingsTest::heartbeats)) {
            peer.advance(1000);
            peer.advance(1000);
            peer.receive(numbered ? pong(1) : "8a 00");
            peer.peer.channel.writeOutbound(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[3 << 20])));
            peer.advance(1000);
            assertThat(peer.received()).contains(pingOfClient(3));

            peer.receive(numbered ? pong(2) : "8a 00"); // and the peer goes on reading the message
            for (int second = 0; second < 10; second++) {
                peer.advance(1000);
            }

            assertThat(peer.peer.failures).isEmpty();
            assertThat(peer.peer.channel.isOpen()).isTrue();
        }
    }

    /** RFC 6455 permits a PONG without a PING at any time. */
    @Test
    void aPongWithoutANumberIsForNoPingOfAPeerThatRepeatsNumbers() {
        try (ZwsPeer peer = ZwsPeer.ofClient(ZwsPingsTest::heartbeats)) {
            peer.advance(1000);
            peer.receive(pong(1));
            peer.peer.channel.writeOutbound(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[3 << 20])));
            peer.advance(1000);
            assertThat(peer.received()).contains(pingOfClient(2));

            peer.receive("8a 00"); // and the peer goes on reading the message
            for (int second = 0; second < 10; second++) {
                peer.advance(1000);
            }

            assertThat(peer.peer.failures).isEmpty();
            assertThat(peer.peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void aPongWithoutAPingIsIgnored() {
        try (ZwsPeer peer = ZwsPeer.ofClient(config -> config)) {
            peer.receive("8a 03 \"abc\" / 82 02 00 61");

            assertThat(peer.messages()).containsExactly("message 61");
            assertThat(peer.received()).isEmpty();
        }
    }

    /** RFC 45 has no such command, but an implementation could send it. */
    @Test
    void aPingThatComesAsACommandIsAnsweredByACommand() {
        try (ZwsPeer peer = ZwsPeer.ofServer(config -> config)) {
            peer.receive("82 88 " + "00 00 00 00 02 04 \"PING\" 00 00");
            assertThat(peer.received()).isEqualTo(Hex.of("82 06 02 04 \"PONG\""));
            peer.receive("89 80 " + KEY + "82 89 00 00 00 00 02 04 \"PING\" 00 00 61");
            assertThat(peer.received()).contains(Hex.of("82 07 02 04 \"PONG\" 61"), Hex.of("8a 00"));
        }
    }
}
