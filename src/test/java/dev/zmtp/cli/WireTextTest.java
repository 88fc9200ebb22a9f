package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WireTextTest {

    private static final String NULL_30 = "ff00000000000000017f0300" + padded("NULL");
    private static final String PLAIN_31 = "ff00000000000000017f0301" + padded("PLAIN");
    private static final String CURVE_31 = "ff00000000000000017f0301" + padded("CURVE");

    private final List<String> requests = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private final WireText toServer = new WireText(MessageFormat.QUOTED, requests::add);
    private final WireText toClient = new WireText(MessageFormat.QUOTED, answers::add);

    WireTextTest() {
        WireText.pair(toServer, toClient);
    }

    /** A mechanism, and the rest of a greeting. */
    private static String padded(String mechanism) {
        String name = hex(mechanism);
        return name + "00".repeat(52 - name.length() / 2);
    }

    private static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** A frame with a short header. */
    private static String frame(int flags, String body) {
        return "%02x%02x".formatted(flags, body.length()) + hex(body);
    }

    private static ByteBuf bytes(String hex) {
        return Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 64, 1000})
    void eachFrameIsALineHoweverItsBytesArrive(int step) {
        toClient.read(bytes(NULL_30));
        String all = NULL_30
                + frame(4, "\5READY\13Socket-Type\0\0\0\6DEALER\10Identity\0\0\0\0")
                + frame(1, "")
                + frame(0, "hello")
                + "020000000000000003616263";
        ByteBuf in = bytes(all);

        while (in.isReadable()) {
            toServer.read(in.readSlice(Math.min(step, in.readableBytes())));
        }

        assertThat(answers).containsExactly("greeting: ZMTP 3.0, NULL");
        assertThat(requests)
                .containsExactly(
                        "greeting: ZMTP 3.0, NULL",
                        "READY Socket-Type \"DEALER\", Identity \"\"",
                        "+ \"\"",
                        "\"hello\"",
                        "\"abc\"");
    }

    @Test
    void thePasswordOfAHelloIsNotShown() {
        toClient.read(bytes(PLAIN_31));

        toServer.read(bytes(PLAIN_31 + frame(4, "\5HELLO\3ada\6secret")));

        assertThat(requests).containsExactly("greeting: ZMTP 3.1, PLAIN", "HELLO, 17 bytes");
    }

    @Test
    void aPeerCannotForgeLinesNorAreItsSecretsShown() {
        toClient.read(bytes("ff00000000000000017f0300" + padded("A\nB")));

        toServer.read(bytes(NULL_30 + frame(4, "\5READY\4X\33\n1\0\0\0\6secret")));

        assertThat(answers).containsExactly("greeting: ZMTP 3.0, A\\nB");
        assertThat(requests).containsExactly("greeting: ZMTP 3.0, NULL", "READY X\\x1b\\n1 of 6 bytes");
    }

    @Test
    void theLengthOfASealedMessageIsShown() {
        toClient.read(bytes(CURVE_31));

        toServer.read(bytes(CURVE_31 + frame(4, "\5READYbox") + frame(0, "\7MESSAGEnonce and box")));

        assertThat(requests).containsExactly("greeting: ZMTP 3.1, CURVE", "READY, 9 bytes", "sealed, 21 bytes");
    }

    @Test
    void subscriptionsAndReasonsAreShown() {
        toClient.read(bytes(NULL_30));

        toServer.read(bytes(NULL_30
                + frame(4, "\11SUBSCRIBEnews")
                + frame(4, "\5ERROR\u0003400")
                + frame(4, "\4PING\0\12context")));

        assertThat(requests.subList(1, 4)).containsExactly("SUBSCRIBE \"news\"", "ERROR \"400\"", "PING, 14 bytes");
    }

    @Test
    void theOlderVersionDeterminesTheFrames() {
        toClient.read(bytes("ff00000000000000017f0105"));

        toServer.read(bytes("ff00000000000000017f0306" + frame(0, "me") + frame(0, "hi")));

        assertThat(requests).containsExactly("greeting: ZMTP 2.0, socket type 6", "\"me\"", "\"hi\"");
    }

    @Test
    void aPeerOfTheFirstVersionHasNoGreeting() {
        toClient.read(bytes("0100" + "03006869"));

        toServer.read(bytes("ff00000000000000017f" + "03006869"));

        assertThat(answers).containsExactly("ZMTP 1.0, no greeting", "\"\"", "\"hi\"");
        assertThat(requests)
                .as("a signature is the header of an identity with odd flags")
                .containsExactly("ZMTP 1.0, no greeting", "+ \"\"", "\"hi\"");
    }

    @Test
    void anotherProtocolIsNamedOnce() {
        toServer.read(Unpooled.copiedBuffer("GET / HTTP/1.1\r\n", StandardCharsets.US_ASCII));
        toServer.read(Unpooled.copiedBuffer("Host: a\r\n\r\n", StandardCharsets.US_ASCII));

        assertThat(requests)
                .singleElement()
                .asString()
                .contains("looks like an HTTP request")
                .endsWith(", not shown from here");
    }

    @Test
    void aLongFrameIsCut() {
        toClient.read(bytes(NULL_30));
        toServer.read(bytes(NULL_30));
        toServer.read(bytes("0200000000000f4240"));

        toServer.read(Unpooled.wrappedBuffer(new byte[1_000_000]));

        assertThat(requests.get(1)).endsWith("\"... of 1000000 bytes").hasSizeLessThan(5 * WireText.MAX_SHOWN);
    }

    @Test
    void bytesWithoutAnAnswerAreNotKeptForever() {
        toServer.read(bytes(NULL_30));

        toServer.read(Unpooled.wrappedBuffer(new byte[1 << 16]));

        assertThat(requests).singleElement().asString().startsWith("version of the other side: ");
    }
}
