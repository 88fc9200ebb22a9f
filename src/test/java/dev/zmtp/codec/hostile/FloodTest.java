package dev.zmtp.codec.hostile;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPVersion.ZMTP10;
import static dev.zmtp.ZMTPVersion.ZMTP20;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static dev.zmtp.testing.Failures.assertTooLarge;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer may send many subscriptions and commands. Both are limited, and the failure names the peer. */
class FloodTest {

    /** How a peer of some version subscribes and cancels; the bytes of the topic follow. */
    private enum Form {
        COMMAND(PUB, ZMTP31, "04 0b 09 \"SUBSCRIBE\" ", "04 08 06 \"CANCEL\" "),
        COMMAND_TO_XPUB(XPUB, ZMTP31, "04 0b 09 \"SUBSCRIBE\" ", "04 08 06 \"CANCEL\" "),
        MESSAGE(PUB, ZMTP20, "00 02 01 ", "00 02 00 "),
        UNVERSIONED_MESSAGE(XPUB, ZMTP10, "03 00 01 ", "03 00 00 "),
        GROUP(RADIO, ZMTP31, "04 06 04 \"JOIN\" ", "04 07 05 \"LEAVE\" ");

        private final ZMTPSocketType type;
        private final ZMTPVersion version;
        private final String ask;
        private final String giveBack;

        Form(ZMTPSocketType type, ZMTPVersion version, String ask, String giveBack) {
            this.type = type;
            this.version = version;
            this.ask = ask;
            this.giveBack = giveBack;
        }

        ScriptedPeer toAtMostThreeTopics() {
            ScriptedPeer peer = InTraffic.as(type)
                    .peer(version)
                    .set(codec -> codec.maxSubscriptions(3))
                    .start();
            peer.messages.clear(); // the subscription of a peer that cannot send one
            return peer;
        }
    }

    static Form[] everyForm() {
        return Form.values();
    }

    private static String message(ScriptedPeer peer) {
        return peer.failures.get(0).getMessage();
    }

    @ParameterizedTest
    @MethodSource("everyForm")
    void oneTopicOverTheLimitEndsTheConnection(Form form) {
        try (ScriptedPeer peer = form.toAtMostThreeTopics()) {
            peer.send(form.ask + "61").send(form.ask + "62").send(form.ask + "63");
            assertThat(peer.channel.isActive()).isTrue();
            peer.send(form.ask + "64");
            assertThat(peer.messages).hasSize(3);
            assertTooLarge(peer);
            assertThat(message(peer)).isEqualTo("subscriptions: 4 (expected: <= 3), peer embedded");
        }
    }

    @ParameterizedTest
    @MethodSource("everyForm")
    void aRepeatedSubscriptionTakesRoomOnceAndIsReportedTwice(Form form) {
        try (ScriptedPeer peer = form.toAtMostThreeTopics()) {
            for (int i = 0; i < 10; i++) {
                peer.send(form.ask + "61");
            }
            assertThat(peer.messages).hasSize(10);
            peer.send(form.giveBack + "61");
            peer.send(form.ask + "62").send(form.ask + "63").send(form.ask + "64");
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("everyForm")
    void aCancelledTopicMakesRoom(Form form) {
        try (ScriptedPeer peer = form.toAtMostThreeTopics()) {
            for (int i = 10; i < 100; i++) {
                peer.send(form.ask + i).send(form.giveBack + i);
            }
            assertThat(peer.messages).hasSize(180);
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("everyForm")
    void cancellingAnUnknownTopicMakesNoRoom(Form form) {
        try (ScriptedPeer peer = form.toAtMostThreeTopics()) {
            peer.send(form.giveBack + "7a").send(form.giveBack + "7a");
            peer.send(form.ask + "61").send(form.ask + "62").send(form.ask + "63");
            assertThat(peer.failures).isEmpty();
            peer.send(form.giveBack + "7a").send(form.ask + "64");
            assertTooLarge(peer);
        }
    }

    @Test
    void theBytesOfAllTopicsAreLimitedToo() {
        try (ScriptedPeer peer = InTraffic.as(PUB)
                .set(codec -> codec.maxSubscriptionsLength(2 * (256 + 100)))
                .start()) {
            peer.send("04 6e 09 \"SUBSCRIBE\" 61*100").send("04 6e 09 \"SUBSCRIBE\" 62*100");
            peer.send("04 6e 09 \"SUBSCRIBE\" 62*100");
            assertThat(peer.failures).isEmpty();
            peer.send("04 6b 06 \"CANCEL\" 61*100").send("04 6d 09 \"SUBSCRIBE\" 63*99");
            assertThat(peer.failures).isEmpty();
            peer.send("04 0a 09 \"SUBSCRIBE\"");
            assertTooLarge(peer);
            assertThat(message(peer)).isEqualTo("length of all subscriptions: 967 (expected: <= 712), peer embedded");
        }
    }

    @Test
    void theLimitOfTopicsMayBeZero() {
        try (ScriptedPeer peer =
                InTraffic.as(PUB).set(codec -> codec.maxSubscriptions(0)).start()) {
            peer.send("04 08 06 \"CANCEL\" 61");
            assertThat(peer.failures).isEmpty();
            peer.send("04 0a 09 \"SUBSCRIBE\"");
            assertTooLarge(peer);
        }
    }

    @Test
    void aSubscriptionToANonPublisherTakesNoRoom() {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).set(codec -> codec.maxSubscriptions(0)).start()) {
            peer.send("04 0a 09 \"SUBSCRIBE\"").send("04 05 04 \"JOIN\"");
            assertThat(peer.failures).isEmpty();
        }
    }

    /** Our type, the peer's version, and the command that it repeats. */
    static List<Arguments> floods() {
        return List.of(
                Arguments.of(DEALER, ZMTP31, "04 07 04 \"PING\" 0000"),
                Arguments.of(DEALER, ZMTP31, "04 05 04 \"PONG\""),
                Arguments.of(DEALER, ZMTP31, "04 03 02 \"NO\""),
                Arguments.of(DEALER, ZMTP31, "04 0a 09 \"SUBSCRIBE\""),
                Arguments.of(PUB, ZMTP31, "04 0a 09 \"SUBSCRIBE\""),
                Arguments.of(PUB, ZMTP31, "04 07 06 \"CANCEL\""),
                Arguments.of(PUB, ZMTP20, "00 01 01"),
                Arguments.of(PUB, ZMTP20, "00 01 00"),
                Arguments.of(RADIO, ZMTP31, "04 06 05 \"LEAVE\""));
    }

    @ParameterizedTest(name = "{2} to {0}")
    @MethodSource("floods")
    void moreCommandsThanAllowedPerSecondEndTheConnection(ZMTPSocketType type, ZMTPVersion version, String command) {
        try (ScriptedPeer peer = InTraffic.as(type)
                .peer(version)
                .set(codec -> codec.maxCommandsPerSecond(50))
                .start()) {
            peer.send((command + " / ").repeat(50));
            assertThat(peer.failures).isEmpty();
            peer.send((command + " / ").repeat(10));
            assertTooLarge(peer);
            assertThat(message(peer)).isEqualTo("commands within a second: 51 (expected: <= 50), peer embedded");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00 01 61", "00 00", "01 00 / 00 00"})
    void messagesDoNotCountAsCommands(String message) {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).set(codec -> codec.maxCommandsPerSecond(1)).start()) {
            peer.send((message + " / ").repeat(100));
            assertThat(peer.messages).hasSize(100);
            assertThat(peer.failures).isEmpty();
        }
    }
}
