package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.Vectors;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The messages among the vectors, as {@link ZMTPMessage} and as the codec write and read them. */
public class GoldenMessagesTest {

    private static final List<ZMTPVersion> V1 = List.of(ZMTPVersion.ZMTP10);
    private static final List<ZMTPVersion> V2 = List.of(ZMTPVersion.ZMTP20, ZMTPVersion.ZMTP30, ZMTPVersion.ZMTP31);
    private static final List<ZMTPVersion> V3 = List.of(ZMTPVersion.ZMTP30, ZMTPVersion.ZMTP31);

    private record Golden(
            String name, List<ZMTPVersion> versions, ZMTPSocketType from, ZMTPSocketType to, List<String> frames) {

        ZMTPMessage message() {
            return ZMTPMessage.from(frames.stream().map(Hex::buffer).toList());
        }
    }

    private static Golden golden(
            String name, List<ZMTPVersion> versions, ZMTPSocketType from, ZMTPSocketType to, String... frames) {
        return new Golden(name, versions, from, to, List.of(frames));
    }

    private static final List<Golden> MESSAGES = List.of(
            golden("1.0 message hi", V1, DEALER, DEALER, "\"hi\""),
            golden("1.0 message of three frames", V1, DEALER, DEALER, "\"hi\"", "", "78*253"),
            golden("1.0 message in a long frame", V1, DEALER, DEALER, "79*254"),
            golden("1.0 request", V1, REQ, REP, "", "\"Q\""),
            golden("empty message", V2, DEALER, DEALER, ""),
            golden("message Hello", V2, DEALER, DEALER, "\"Hello\""),
            golden("message of three frames", V2, DEALER, DEALER, "\"a\"", "", "\"b\""),
            golden("longest short frame", V2, DEALER, DEALER, "7a*255"),
            golden("shortest long frame", V2, DEALER, DEALER, "7a*256"),
            golden("long frame with more", V2, DEALER, DEALER, "7a*256", "\"e\""),
            golden("request hello", V2, REQ, REP, "", "\"hello\""),
            golden("reply through two hops", V2, REP, DEALER, "\"id1\"", "\"id2\"", "", "\"R\""),
            golden("RADIO message", V3, RADIO, DISH, "\"grp\"", "\"data\""),
            golden("probe", V2, DEALER, ROUTER, ""));

    /** Peers may send it, we do not. */
    private static final Golden UNNEEDED_LONG = golden("1.0 long frame without need", V1, DEALER, DEALER, "\"yo\"");

    private static Stream<Arguments> messages() {
        return MESSAGES.stream().flatMap(GoldenMessagesTest::inEachVersion);
    }

    private static Stream<Arguments> receivedMessages() {
        return Stream.concat(messages(), inEachVersion(UNNEEDED_LONG));
    }

    private static Stream<Arguments> inEachVersion(Golden golden) {
        return golden.versions.stream().map(version -> Arguments.of(Named.of(golden.name, golden), version));
    }

    public static List<String> names() {
        return Stream.concat(MESSAGES.stream(), Stream.of(UNNEEDED_LONG))
                .map(Golden::name)
                .toList();
    }

    @ParameterizedTest(name = "{0} in {1}")
    @MethodSource("messages")
    void aMessageWritesItself(Golden golden, ZMTPVersion version) {
        ZMTPMessage message = golden.message();

        assertThat(Hex.dump(message.write(version))).isEqualTo(Vectors.hex(golden.name));

        message.release();
    }

    @ParameterizedTest(name = "{0} in {1}")
    @MethodSource("receivedMessages")
    void aMessageIsReadFromItsBytes(Golden golden, ZMTPVersion version) {
        ByteBuf in = Vectors.buffer(golden.name);
        ZMTPMessage expected = golden.message();
        ZMTPMessage read = ZMTPMessage.read(in, version);

        assertThat(read).isEqualTo(expected);
        assertThat(in.isReadable()).isFalse();

        read.release();
        expected.release();
        in.release();
    }

    @ParameterizedTest(name = "{0} in {1}")
    @MethodSource("receivedMessages")
    void halfAMessageIsLeftInTheBuffer(Golden golden, ZMTPVersion version) {
        ByteBuf in = Vectors.buffer(golden.name);
        for (int length = 0; length < in.readableBytes(); length++) {
            ByteBuf half = in.slice(0, length);
            assertThat(ZMTPMessage.read(half, version))
                    .as("of %d bytes", length)
                    .isNull();
            assertThat(half.readerIndex()).isZero();
        }
        in.release();
    }

    @ParameterizedTest(name = "{0} in {1}")
    @MethodSource("messages")
    void theCodecSendsAMessage(Golden golden, ZMTPVersion version) {
        try (ScriptedPeer peer =
                InTraffic.as(golden.from).peer(golden.to).peer(version).start()) {
            peer.channel.writeOutbound(golden.message());

            assertThat(peer.received()).isEqualTo(Vectors.hex(golden.name));
        }
    }

    @ParameterizedTest(name = "{0} in {1}")
    @MethodSource("receivedMessages")
    void theCodecReceivesAMessageHoweverItIsSplit(Golden golden, ZMTPVersion version) {
        byte[] bytes = Vectors.bytes(golden.name);
        ZMTPMessage expected = golden.message();
        try (ScriptedPeer peer =
                InTraffic.as(golden.to).peer(golden.from).peer(version).start()) {
            for (int at = 0; at <= bytes.length; at++) {
                peer.send(bytes, at);
                assertThat(peer.messages).as("cut at %d", at).containsExactly(Fired.describe(expected));
                peer.messages.clear();
            }
            peer.sendSingly(bytes);
            assertThat(peer.messages).containsExactly(Fired.describe(expected));
        }
        expected.release();
    }

    @Test
    void aFrameOfLengthZeroEndsA10ConnectionAtOnce() {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).peer(DEALER).peer(ZMTPVersion.ZMTP10).start()) {
            peer.send(Vectors.bytes("1.0 frame of length zero"));

            assertThat(peer.failures)
                    .singleElement()
                    .isInstanceOf(ZMTPException.class)
                    .extracting(Throwable::getMessage)
                    .isEqualTo("frame length: 0 (expected: >= 1, it counts the flags byte), peer embedded");
            assertThat(peer.channel.isActive()).isFalse();
        }
    }
}
