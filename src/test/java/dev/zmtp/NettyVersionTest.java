package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Version;
import org.junit.jupiter.api.Test;

/** Guards the step that runs the tests on another Netty than they were compiled against: it must not lie. */
class NettyVersionTest {
    private static final String EPOLL = "netty-transport-native-epoll";

    @Test
    void theRunningNettyIsTheOneNamedByTheBuild() {
        String expected = System.getProperty("expected.netty");

        assertThat(expected).isNotNull();
        assertThat(Version.identify().values())
                .filteredOn(version -> !version.artifactId().startsWith("netty-tcnative"))
                .filteredOn(version -> !version.artifactId().equals(EPOLL))
                .isNotEmpty()
                .allSatisfy(version -> assertThat(version.artifactVersion()).isEqualTo(expected));
    }

    @Test
    void theNativeLibraryOfEpollIsThere() {
        String expected = System.getProperty("expected.epoll", System.getProperty("expected.netty"));

        assertThat(Version.identify())
                .extractingByKey(EPOLL)
                .extracting(Version::artifactVersion)
                .isEqualTo(expected);
    }
}
