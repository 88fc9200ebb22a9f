package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What users can see is written down, so that a review sees what a change does to it. */
@Tag("netty-4.2-only") // as it loads the event loop of tests; the API is the same with both
class PublicApiTest {

    private static final Path FILE = Path.of("docs/api.txt");

    @Test
    void theApiIsTheOneInTheFile() throws IOException, URISyntaxException {
        Path classes = Path.of(ZMTPMessage.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        String api = PublicApi.of(classes);
        if (System.getProperty("api.update") != null) {
            Files.writeString(FILE, api);
        }

        assertThat(Files.readString(FILE))
                .as("%s (if the change is intended, write it again: mvn test -Dtest=PublicApiTest -Dapi.update)", FILE)
                .isEqualTo(api);
    }
}
