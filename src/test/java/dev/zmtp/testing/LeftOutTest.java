package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LeftOutTest {

    @ParameterizedTest(name = "{0} on Java {1}: {2}")
    @CsvSource({
        "java>=21, 17, false",
        "java>=21, 21, true",
        "java>=21, 25, true",
        "java<24, 23, true",
        "java<24, 24, false",
        "java<24, 25, false",
        "slow, 17, true",
    })
    void aTestRunsOnTheVersionsOfJavaThatItsTagNames(String tag, int java, boolean runs) {
        assertThat(new LeftOut(java, "Linux", false).runs(tag)).isEqualTo(runs);
    }

    @ParameterizedTest(name = "on {0}: {1}")
    @CsvSource({"Linux, true", "Mac OS X, false", "Windows 11, false"})
    void aTestOfLinuxRunsThere(String os, boolean runs) {
        assertThat(new LeftOut(17, os, false).runs("linux")).isEqualTo(runs);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tshark", "wireshark", "jszmq", "websockets", "chromium"})
    void aTestThatNeedsAToolRunsInCiWhateverIsInstalled(String tag) {
        assertThat(new LeftOut(17, "Linux", true).runs(tag)).isTrue();
    }
}
