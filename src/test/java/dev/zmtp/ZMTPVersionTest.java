package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said of each version. */
class ZMTPVersionTest {

    @ParameterizedTest
    @CsvSource({
        "ZMTP10, 0, 0, V1, false, false",
        "ZMTP20, 1, 0, V2, false, false",
        "ZMTP30, 3, 0, V3, true, false",
        "ZMTP31, 3, 1, V3, true, true"
    })
    void aVersionHasItsBytesInTheGreetingItsFramingAndItsCommands(
            ZMTPVersion version,
            int revision,
            int minor,
            ZMTPFraming framing,
            boolean commands,
            boolean trafficCommands) {
        assertThat(version.revision()).isEqualTo(revision);
        assertThat(version.minor()).isEqualTo(minor);
        assertThat(version.hasCommands()).isEqualTo(commands);
        assertThat(version.hasTrafficCommands()).isEqualTo(trafficCommands);
        assertThat(version.framing()).isEqualTo(framing);
    }

    @Test
    void theOlderVersionComesFirst() {
        assertThat(ZMTPVersion.values())
                .containsExactly(ZMTPVersion.ZMTP10, ZMTPVersion.ZMTP20, ZMTPVersion.ZMTP30, ZMTPVersion.ZMTP31);
    }
}
