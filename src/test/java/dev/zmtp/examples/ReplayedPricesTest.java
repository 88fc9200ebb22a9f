package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPReplay;
import dev.zmtp.test.ZMTPTestLoop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A service that is recorded, and then tested with the recording. */
@Tag("netty-4.2-only")
class ReplayedPricesTest {

    /** Answers the name of a metal with the number of times it was asked for. */
    private static void serve(ZMTPSocket prices) {
        Map<String, Integer> asked = new HashMap<>();
        prices.serve(request -> {
            String metal = request.message().frame(0).toString(StandardCharsets.UTF_8);
            request.reply(ZMTPMessage.fromUTF8(metal + " " + asked.merge(metal, 1, Integer::sum)));
        });
    }

    private static void record(Path file) throws IOException, InterruptedException {
        try (ZMTPCapture recording = ZMTPCapture.record(file);
                ZMTPSocket prices = ZMTPSocket.of(
                        ZMTPSocketConfig.builder(ROUTER).capture(recording).build())) {
            serve(prices);
            ask(prices.bind("tcp://127.0.0.1:*").sync().text());
        }
    }

    private static void ask(String endpoint) throws InterruptedException {
        try (ZMTPSocket client = ZMTPSocket.of(REQ)) {
            client.connect(endpoint);
            for (String metal : new String[] {"copper", "zinc", "copper"}) {
                client.request(ZMTPMessage.fromUTF8(metal), Duration.ofSeconds(10))
                        .release();
            }
        }
    }

    @Test
    void theServiceAnswersAsRecorded(@TempDir Path folder) throws IOException, InterruptedException {
        Path file = folder.resolve("prices.pcapng");
        record(file);
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket prices = loop.open(ZMTPSocketConfig.builder(ROUTER));
            serve(prices);
            prices.bind("test://prices");

            ZMTPReplay.Report report = ZMTPReplay.of(recording, loop).into(prices);

            assertThat(report.first()).isNull();
            assertThat(report.received()).isEqualTo(3);
            assertThat(report.sent()).isEqualTo(3);
        }
    }
}
