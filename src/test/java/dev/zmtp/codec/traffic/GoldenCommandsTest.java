package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPVersion.ZMTP20;
import static dev.zmtp.ZMTPVersion.ZMTP30;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.Vectors;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Subscriptions, memberships and heartbeats among the vectors, as the codec sends and receives them. */
public class GoldenCommandsTest {

    private static final ZMTPSubscription AB = ZMTPSubscription.subscribe("AB");
    private static final ZMTPSubscription NO_AB = ZMTPSubscription.cancel("AB");
    private static final ZMTPSubscription EVERYTHING = ZMTPSubscription.subscribe("");

    private static List<Arguments> values() {
        return List.of(
                Arguments.of("2.0 subscribe AB", ZMTP20, SUB, PUB, AB),
                Arguments.of("2.0 unsubscribe AB", ZMTP20, SUB, PUB, NO_AB),
                Arguments.of("SUBSCRIBE AB", ZMTP31, SUB, PUB, AB),
                Arguments.of("CANCEL AB", ZMTP31, SUB, PUB, NO_AB),
                Arguments.of("SUBSCRIBE to everything", ZMTP31, SUB, PUB, EVERYTHING),
                Arguments.of(
                        "SUBSCRIBE in a long frame", ZMTP31, SUB, PUB, ZMTPSubscription.subscribe("t".repeat(246))),
                Arguments.of("3.0 subscribe AB", ZMTP30, SUB, PUB, AB),
                Arguments.of("3.0 unsubscribe AB", ZMTP30, SUB, PUB, NO_AB),
                Arguments.of("3.0 subscribe to everything", ZMTP30, SUB, PUB, EVERYTHING),
                Arguments.of("JOIN grp", ZMTP31, DISH, RADIO, ZMTPMembership.join("grp")),
                Arguments.of("LEAVE grp", ZMTP31, DISH, RADIO, ZMTPMembership.leave("grp")));
    }

    public static List<String> names() {
        return values().stream().map(row -> (String) row.get()[0]).toList();
    }

    public static List<String> heartbeatNames() {
        return List.of("PING for 0.3 s", "PING LOL", "PONG LOL", "PONG");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("values")
    void theCodecSendsAValue(String name, ZMTPVersion version, ZMTPSocketType from, ZMTPSocketType to, Object value) {
        try (ScriptedPeer peer = InTraffic.as(from).peer(to).peer(version).start()) {
            peer.channel.writeOutbound(value);

            assertThat(peer.received()).isEqualTo(Vectors.hex(name));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("values")
    void theCodecReceivesAValueHoweverItIsSplit(
            String name, ZMTPVersion version, ZMTPSocketType from, ZMTPSocketType to, Object value) {
        byte[] bytes = Vectors.bytes(name);
        try (ScriptedPeer peer = InTraffic.as(to).peer(from).peer(version).start()) {
            for (int at = 0; at <= bytes.length; at++) {
                peer.send(bytes, at);
                assertThat(peer.messages).as("cut at %d", at).containsExactly(Fired.describe(value));
                peer.messages.clear();
            }
            peer.sendSingly(bytes);
            assertThat(peer.messages).containsExactly(Fired.describe(value));
        }
    }

    @ParameterizedTest(name = "{0} from a {1} peer")
    @MethodSource("bothForms")
    void aPublisherAcceptsBothFormsFromAny3xPeer(String name, ZMTPVersion version, ZMTPSubscription value) {
        try (ScriptedPeer peer = InTraffic.as(PUB).peer(SUB).peer(version).start()) {
            peer.send(Vectors.bytes(name));

            assertThat(peer.messages).containsExactly(Fired.describe(value));
        }
    }

    private static List<Arguments> bothForms() {
        return List.of(
                Arguments.of("SUBSCRIBE AB", ZMTP30, AB),
                Arguments.of("CANCEL AB", ZMTP30, NO_AB),
                Arguments.of("3.0 subscribe AB", ZMTP31, AB),
                Arguments.of("3.0 unsubscribe AB", ZMTP31, NO_AB));
    }

    @Test
    void ourHeartbeatIsAPingWithItsTtl() {
        UnaryOperator<ZMTPCodec.Builder> beating =
                codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofMillis(300));
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(DEALER).set(beating).start()) {
            peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
            peer.channel.runScheduledPendingTasks();

            assertThat(peer.received()).isEqualTo(Vectors.hex("PING for 0.3 s"));
        }
    }

    @ParameterizedTest(name = "{0} is answered by {1}")
    @MethodSource("pings")
    void everyPingIsAnsweredWithItsContextHoweverItIsSplit(String ping, String pong) {
        byte[] bytes = Vectors.bytes(ping);
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(DEALER).peer(ZMTP31).start()) {
            for (int at = 0; at <= bytes.length; at++) {
                peer.send(bytes, at);
                assertThat(peer.received()).as("cut at %d", at).isEqualTo(Vectors.hex(pong));
            }
            peer.sendSingly(bytes);
            assertThat(peer.received()).isEqualTo(Vectors.hex(pong));
        }
    }

    private static List<Arguments> pings() {
        return List.of(Arguments.of("PING for 0.3 s", "PONG"), Arguments.of("PING LOL", "PONG LOL"));
    }

    @ParameterizedTest
    @MethodSource("pongs")
    void anUnsolicitedPongIsIgnored(String pong) {
        byte[] bytes = Vectors.bytes(pong);
        ZMTPMessage expected = ZMTPMessage.fromUTF8("Hello");
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(DEALER).peer(ZMTP31).start()) {
            for (int at = 0; at <= bytes.length; at++) {
                peer.send(bytes, at);
            }
            peer.send(Vectors.bytes("message Hello"));

            assertThat(peer.messages).containsExactly(Fired.describe(expected));
            assertThat(peer.failures).isEmpty();
            assertThat(peer.received()).isEmpty();
        }
        expected.release();
    }

    private static List<String> pongs() {
        return List.of("PONG LOL", "PONG");
    }

    @Test
    void aPingMayComeBetweenTheFramesOfAMessage() {
        ZMTPMessage expected = ZMTPMessage.fromUTF8("a", "", "b");
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(DEALER).peer(ZMTP31).start()) {
            peer.send(Hex.bytes(
                    "01 01 61 " + Vectors.text("PING LOL") + " 01 00 " + Vectors.text("PING LOL") + " 00 01 62"));

            assertThat(peer.messages).containsExactly(Fired.describe(expected));
            assertThat(peer.received()).isEqualTo(Vectors.hex("PONG LOL") + Vectors.hex("PONG LOL"));
        }
        expected.release();
    }
}
