package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Browser;
import dev.zmtp.testing.Certificates;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of an example in a real browser. {@code -Dpicture.update} draws the picture of it in the documentation. */
@Tag("T131")
@Tag("chromium")
class BrowserQuotesIT {

    private static final int PATIENCE_SECONDS = 30;
    private static final Path PICTURE = Path.of("docs/web.png");

    @TempDir
    private Path directory;

    /** The browser can write into it while it ends. */
    @TempDir(cleanup = CleanupMode.NEVER)
    private Path profile;

    @ParameterizedTest
    @ValueSource(strings = {"ws", "wss"})
    void aPageReceivesQuotesAndTheEchoOfAMegabyte(String scheme) throws Exception {
        try (BrowserQuotes quotes = new BrowserQuotes(0, scheme.equals("wss") ? tls() : null);
                Browser browser = new Browser(profile, quotes.address())) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            String text = browser.text();
            while (!(text.split("acme.last ", -1).length > 5 && text.contains("the same")) && System.nanoTime() < end) {
                Thread.sleep(50);
                text = browser.text();
            }

            assertThat(text)
                    .containsPattern("(acme[.]last \\d+\\s+){4}acme[.]last")
                    .contains("Echo of 1000000 bytes: the same")
                    .doesNotContain("other.last");
            if (System.getProperty("picture.update") != null) {
                Files.write(PICTURE, browser.picture(480, 320));
            }
        }
    }

    /** Returns the context of a server whose certificate the browser accepts without a check. */
    private SslContext tls() throws Exception {
        return SslContextBuilder.forServer(Certificates.make(directory, "ours").keys())
                .sslProvider(SslProvider.JDK)
                .build();
    }
}
