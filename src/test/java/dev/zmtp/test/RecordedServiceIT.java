package dev.zmtp.test;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.Programs;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A service over real transports, recorded from several event loops, and replayed in virtual time. */
@Tag("netty-4.2-only")
class RecordedServiceIT {

    private static final int REQUESTS = 500;

    @TempDir
    private Path folder;

    /** Answers each question with its number and what it was. */
    private static void serve(ZMTPSocket router) {
        AtomicInteger questions = new AtomicInteger();
        router.serve(request -> {
            String text = request.message().frame(0).toString(StandardCharsets.UTF_8);
            request.reply(
                    ZMTPMessage.fromUTF8(questions.incrementAndGet() + " " + text, "x".repeat(text.length() * 99)));
        });
    }

    private Path recorded(String endpoint) throws IOException {
        Path file = folder.resolve("f.pcapng");
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        try (ZMTPCapture capture = ZMTPCapture.record(file)) {
            try (TestSockets sockets = new TestSockets()) {
                ZMTPSocket router = sockets.open(sockets.builder(ROUTER)
                        .capture(capture)
                        .codec(codec ->
                                codec.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll())));
                serve(router);
                String bound = bind(router, endpoint);
                List<ZMTPSocket> clients = new ArrayList<>();
                for (ZMTPSocketType type : List.of(DEALER, DEALER, REQ)) {
                    ZMTPSocket client = sockets.open(sockets.builder(type)
                            .codec(codec ->
                                    codec.mechanism(ZMTPCurve.client(keys.publicKey(), ZMTPCurveKeyPair.generate()))));
                    client.connect(bound);
                    clients.add(client);
                }
                List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
                for (int i = 0; i < REQUESTS; i++) {
                    for (ZMTPSocket client : clients) {
                        answers.add(client.requestAsync(message("question " + i), TestSockets.PATIENCE));
                    }
                }
                answers.forEach(answer -> get(answer).release());
            }
        }
        return file;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc:///FOLDER/s"})
    @Tag("T109")
    @Tag("T115")
    @Tag("linux")
    void aRecordingOfCurveOverARealTransportReplays(String endpoint) throws IOException {
        Path file = recorded(endpoint.replace("/FOLDER", folder.toString()));

        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
            serve(router);
            router.bind("test://orders");

            ZMTPReplay.Report report = ZMTPReplay.of(recording, loop).into(router);

            assertThat(report).isEqualTo(new ZMTPReplay.Report(3 * REQUESTS, 3 * REQUESTS, null));
        }
    }

    @Test
    @Tag("T95")
    @Tag("tshark")
    @Tag("linux")
    void tsharkReadsARecordingWithoutAWarning() throws IOException, InterruptedException {
        Path file = recorded("tcp://127.0.0.1:*");

        String expert = Programs.run("tshark", "-r", file.toString(), "-q", "-z", "expert,warn");
        String flags = Programs.run("tshark", "-r", file.toString(), "-Y", "tcp.analysis.flags || _ws.malformed");

        assertThat(expert).doesNotContain("Warns", "Errors");
        assertThat(flags).doesNotContain("TCP", "ZMTP");
    }

    @Test
    @Tag("T95")
    @Tag("tshark")
    void tsharkReadsARecordingWithoutTraffic() throws IOException, InterruptedException {
        Path file = folder.resolve("empty.pcapng");
        ZMTPCapture.record(file).close();

        assertThat(Programs.run("tshark", "-r", file.toString(), "-q", "-z", "expert,warn"))
                .doesNotContain("Warns", "Errors", "damaged");
    }
}
