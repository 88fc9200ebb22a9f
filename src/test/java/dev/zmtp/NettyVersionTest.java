package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Version;
import org.junit.jupiter.api.Test;

/** Guards the step that runs the tests on another Netty than they were compiled against: it must not lie. */
class NettyVersionTest {
    @Test
    void theRunningNettyIsTheOneNamedByTheBuild() {
        String expected = System.getProperty("expected.netty");

        assertThat(expected).isNotNull();
        assertThat(Version.identify().values())
                .filteredOn(version -> !version.artifactId().startsWith("netty-tcnative"))
                .isNotEmpty()
                .allSatisfy(version -> assertThat(version.artifactVersion()).isEqualTo(expected));
    }
}
