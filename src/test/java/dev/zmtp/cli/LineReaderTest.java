package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class LineReaderTest {

    private static LineReader of(String text, int maxLength) {
        return new LineReader(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), maxLength);
    }

    @Test
    void linesEndWithALineFeedOrTheEnd() throws IOException {
        LineReader lines = of("a\r\n\nüb", 3);

        assertThat(lines.next()).containsExactly('a');
        assertThat(lines.next()).isEmpty();
        assertThat(lines.next()).isEqualTo("üb".getBytes(StandardCharsets.UTF_8));
        assertThat(lines.next()).isNull();
    }

    @Test
    void aLineThatIsTooLongFails() {
        assertThatExceptionOfType(CliException.class)
                .isThrownBy(() -> of("abcd\n", 3).next())
                .withMessageContaining("more than 3 bytes");
    }
}
