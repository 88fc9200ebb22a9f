package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages as lines. */
class MessageFormatTest {

    private static byte[] allBytes() {
        byte[] all = new byte[256];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) i;
        }
        return all;
    }

    private static List<byte[]> frames(String... texts) {
        return List.of(texts).stream()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"QUOTED", "HEX", "JSON"})
    void whatIsPrintedIsReadAsTheSameBytes(MessageFormat format) {
        List<byte[]> message = List.of(allBytes(), new byte[0], "ü\"\\\t".getBytes(StandardCharsets.UTF_8));

        String line = format.line(message);

        assertThat(line).doesNotContain("\n");
        assertThat(format.parse(line.getBytes(StandardCharsets.UTF_8))).containsExactlyElementsOf(message);
    }

    @Test
    void textHasTabsBetweenFramesAndDotsForWhatDoesNotPrint() {
        assertThat(MessageFormat.TEXT.line(List.of("grüß".getBytes(StandardCharsets.UTF_8), new byte[] {1, 'a', -1})))
                .isEqualTo("grüß\t.a.");
        assertThat(MessageFormat.TEXT.parse("a\t\tb".getBytes(StandardCharsets.UTF_8)))
                .containsExactlyElementsOf(frames("a", "", "b"));
    }

    /** U+009B begins a command of a terminal, and a peer can send it. */
    @Test
    void jsonHasNoControlCharacters() {
        List<byte[]> message = frames("\u009b2J \u007f \u00a0");

        String line = MessageFormat.JSON.line(message);

        assertThat(line).isEqualTo("[\"\\u009b2J \\u007f \u00a0\"]");
        assertThat(MessageFormat.JSON.parse(line.getBytes(StandardCharsets.UTF_8)))
                .containsExactlyElementsOf(message);
    }

    @Test
    void textThatIsNotUtf8KeepsItsBytes() {
        byte[] latin1 = "gr\u00fc\u00df".getBytes(StandardCharsets.ISO_8859_1);

        assertThat(MessageFormat.TEXT.parse(latin1)).containsExactly(latin1);
    }

    @Test
    void jsonIsAnArrayWithBase64ForOtherBytesThanText() {
        assertThat(MessageFormat.JSON.line(List.of("a<b".getBytes(StandardCharsets.UTF_8), new byte[] {-1})))
                .isEqualTo("[\"a<b\",{\"base64\":\"/w==\"}]");
    }

    @Test
    void rawIsTheBytesAlone() {
        assertThat(MessageFormat.RAW.bytes(List.of(new byte[] {1}, new byte[] {2, 3})))
                .containsExactly(1, 2, 3);
        assertThat(MessageFormat.NONE.bytes(frames("a"))).isEmpty();
    }

    @Test
    void anObjectHasTimePeerAndFrames() {
        assertThat(new String(MessageFormat.withMeta("now", "ada", frames("a", "b")), StandardCharsets.UTF_8))
                .isEqualTo("{\"time\":\"now\",\"peer\":\"ada\",\"frames\":[\"a\",\"b\"]}\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "HEX|0g",
                "HEX|abc",
                "QUOTED|abc",
                "QUOTED|\"abc",
                "QUOTED|\"\\q\"",
                "QUOTED|\"\\xz0\"",
                "JSON|{}",
                "JSON|[1]",
                "JSON|[{\"base64\":\"?\"}]",
                "JSON|[",
                "JSON|[]",
                "JSON|[\"\\ud800\"]",
            })
    void aLineOfAnotherFormatIsRefused(MessageFormat format, String line) {
        assertThatIllegalArgumentException().isThrownBy(() -> format.parse(line.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void aFrameThatIsTooLongIsRefused() {
        assertThatExceptionOfType(CliException.class)
                .isThrownBy(() -> InputOptions.ofLines(
                                new ByteArrayInputStream("\"abcd\"\n".getBytes(StandardCharsets.UTF_8)),
                                MessageFormat.QUOTED,
                                3)
                        .next())
                .withMessage("line 1 of the input: a frame of 4 bytes (expected: at most 3)");
    }

    @ParameterizedTest
    @EnumSource(names = {"QUOTED", "HEX", "JSON"})
    void aFrameOfMaximumLengthFitsInALine(MessageFormat format) throws IOException {
        byte[] frame = new byte[1_000];
        byte[] line = format.bytes(List.of(frame));

        assertThat(InputOptions.ofLines(new ByteArrayInputStream(line), format, frame.length)
                        .next())
                .containsExactly(frame);
    }
}
