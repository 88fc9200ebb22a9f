package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.metrics.ZMTPMetrics;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.CapturedFile;
import dev.zmtp.testing.TestSockets;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page about observing, and its example. */
class ObservingPageTest {

    private static final Pattern ROW = Pattern.compile("^\\| `(zmtp\\.[a-z.]+)` \\|", Pattern.MULTILINE);

    /** Meters that exist only after what they count has happened, which other tests bring about. */
    private static final Set<String> AFTER_EVENTS =
            Set.of("zmtp.handshakes.failed", "zmtp.slow.peers", "zmtp.served", "zmtp.requests");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void itsTablesListAllMeters(TestSockets sockets) throws IOException {
        ZMTPSocket dealer =
                sockets.open(sockets.builder(DEALER).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
        ZMTPMetrics.of(dealer, "dealer").bindTo(registry);
        ZMTPMetrics.of(ZMTPMemoryBudget.shared(), "shared").bindTo(registry);
        ZMTPMetrics.of(new ZMTPHandshakeLimiter(), "handshakes").bindTo(registry);
        ZMTPMetrics.of(new ZMTPConnectionLimiter(1, 1, 1), "connections").bindTo(registry);
        ZMTPMetrics.of(ZMTPProxy.start(sockets.open(ROUTER), sockets.open(DEALER)), "proxy")
                .bindTo(registry);
        dealer.connect("inproc://nobody");
        await("a retry is counted", () -> names().contains("zmtp.retries"));

        Set<String> listed = ROW.matcher(Files.readString(Path.of("docs/observing.md")))
                .results()
                .map((MatchResult row) -> row.group(1))
                .collect(Collectors.toCollection(TreeSet::new));

        Set<String> all = names();
        all.addAll(AFTER_EVENTS);
        assertThat(listed).containsExactlyElementsOf(all);
    }

    private Set<String> names() {
        return registry.getMeters().stream()
                .map(meter -> meter.getId().getName())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theScrapeOfTheExampleHasTheRequests() throws InterruptedException {
        assertThat(MeteredServer.scrape())
                .containsPattern( // the last answer may be there before its time is recorded
                        "zmtp_requests_seconds_count\\{result=\"ok\",socket=\"orders\",type=\"DEALER\"} [23]\n")
                .contains("zmtp_served_seconds_count{result=\"replied\",socket=\"server\",type=\"ROUTER\"} 3\n");
    }

    @Test
    void theCaptureOfTheExampleHasTheQuestionAndTheAnswer(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path file = folder.resolve("echo.pcapng");

        CapturedEcho.echo(file);

        CapturedFile captured = CapturedFile.read(file);
        assertThat(captured.stream(true)).endsWith("\0\3Ada");
        assertThat(captured.stream(false)).endsWith("\0\3Ada");
    }
}
