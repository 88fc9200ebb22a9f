package dev.zmtp.capture;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.capture.ZMTPRecording.Kind.CANCELLED;
import static dev.zmtp.capture.ZMTPRecording.Kind.DOWN;
import static dev.zmtp.capture.ZMTPRecording.Kind.RECEIVED;
import static dev.zmtp.capture.ZMTPRecording.Kind.SENT;
import static dev.zmtp.capture.ZMTPRecording.Kind.SUBSCRIBED;
import static dev.zmtp.capture.ZMTPRecording.Kind.UP;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recordings of sockets in virtual time, read back. */
@Tag("netty-4.2-only")
class ZMTPRecordingTest {

    private static final int MAX_BYTES = 64 << 10;

    /** Length of the statistics at the end of a file, which can be beyond the maximum. */
    private static final int STATISTICS = 64;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @TempDir
    private Path folder;

    private Path file;
    private ZMTPCapture capture;

    @BeforeEach
    void open() throws IOException {
        file = folder.resolve("f.pcapng");
        capture = ZMTPCapture.record(file);
    }

    @AfterEach
    void end() throws IOException {
        loop.close();
        capture.close();
    }

    private ZMTPSocket bound(ZMTPSocketType type, String endpoint) {
        ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type).capture(capture));
        socket.bind(endpoint);
        return socket;
    }

    private ZMTPRecording read() throws IOException {
        loop.close();
        capture.close();
        return ZMTPRecording.open(file);
    }

    private static List<ZMTPRecording.Entry> entries(ZMTPRecording recording) {
        List<ZMTPRecording.Entry> entries = new ArrayList<>();
        recording.entries().forEach(entries::add);
        return entries;
    }

    private static String text(ZMTPRecording.Entry entry) {
        return entry.connection() + " " + entry.kind()
                + entry.frames().stream()
                        .map(frame -> " " + new String(frame, StandardCharsets.UTF_8))
                        .collect(Collectors.joining());
    }

    @Test
    void entriesHaveTheMessagesOfAllConnectionsAtTheirTimes() throws IOException {
        ZMTPSocket router = bound(ROUTER, "test://echo");
        router.serve(request -> request.reply(request.message().copy()));
        loop.advance(Duration.ofMillis(20));
        ZMTPTestPeer first = ZMTPTestPeer.connect(loop, "test://echo", DEALER, "the first");
        ZMTPTestPeer second = ZMTPTestPeer.connect(loop, "test://echo", DEALER);
        loop.advance(Duration.ofSeconds(1));
        second.send("", "b", "c");
        loop.advance(Duration.ofMinutes(1));
        first.close();

        try (ZMTPRecording recording = read()) {
            List<ZMTPRecording.Entry> entries = entries(recording);

            assertThat(recording.isComplete()).isTrue();
            assertThat(recording.dropped()).isZero();
            assertThat(recording.endpoints()).containsExactly("test://echo");
            assertThat(entries)
                    .extracting(ZMTPRecordingTest::text)
                    .containsExactly("1 UP", "2 UP", "2 RECEIVED  b c", "2 SENT  b c", "1 DOWN", "2 DOWN");
            assertThat(entries)
                    .extracting(ZMTPRecording.Entry::time)
                    .startsWith(
                            Duration.ofMillis(20),
                            Duration.ofMillis(20),
                            Duration.ofMillis(1_020),
                            Duration.ofMillis(1_020),
                            Duration.ofMillis(61_020));
            ZMTPRecording.Entry up = entries.get(0);
            assertThat(up.socketType()).isEqualTo(ROUTER);
            assertThat(up.accepted()).isTrue();
            assertThat(up.peerType()).isEqualTo(DEALER);
            assertThat(StandardCharsets.UTF_8.decode(up.routingId()).toString()).isEqualTo("the first");
            assertThat(entries.get(1).routingId().remaining()).isZero();
        }
    }

    @Test
    void subscriptionsAreEntries() throws IOException {
        bound(PUB, "test://news");
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        ZMTPRegistration registration = sub.subscribe("weather.");
        sub.connect("test://news");
        loop.run();
        registration.close();
        loop.run();

        try (ZMTPRecording recording = read()) {
            assertThat(entries(recording)).extracting(ZMTPRecording.Entry::kind).startsWith(UP, SUBSCRIBED, CANCELLED);
            assertThat(entries(recording)).extracting(ZMTPRecordingTest::text).contains("1 SUBSCRIBED weather.");
        }
    }

    /** The connection is that of a socket and of its peer, which have the same addresses. */
    @Test
    void bothSidesOfAConnectionCanBeInARecording() throws IOException {
        ZMTPSocket pull = bound(PULL, "inproc://jobs");
        pull.onMessage((peer, received) -> received.release());
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).capture(capture));
        push.connect("inproc://jobs");
        loop.run();
        push.sendOrDrop(message("job"));
        loop.run();

        try (ZMTPRecording recording = read()) {
            assertThat(recording.isComplete()).isTrue();
            assertThat(entries(recording).stream()
                            .filter(entry -> !entry.frames().isEmpty())
                            .map(entry -> entry.socketType() + " " + entry.accepted() + " " + entry.kind()))
                    .containsExactly("PUSH false SENT", "PULL true RECEIVED");
        }
    }

    /** More than a segment, and longer than the snap length of a capture. */
    @Test
    void longFramesAreWhole() throws IOException {
        ZMTPSocket pull = bound(PULL, "test://jobs");
        pull.onMessage((peer, received) -> received.release());
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("test://jobs");
        loop.run();
        String frame = "x".repeat(1_000_000);
        push.sendOrDrop(ZMTPMessage.fromUTF8("", frame, "é"));
        loop.run();

        try (ZMTPRecording recording = read()) {
            assertThat(recording.isComplete()).isTrue();
            assertThat(entries(recording)).extracting(ZMTPRecordingTest::text).contains("1 RECEIVED  " + frame + " é");
        }
    }

    @Test
    void aMessageThatNoReaderTakesMakesARecordingIncomplete() throws IOException {
        ZMTPSocket pull = bound(PULL, "test://jobs");
        pull.onMessage((peer, received) -> received.release());
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).sendQueueLimit(10, 100 << 20));
        push.connect("test://jobs");
        loop.run();
        push.sendOrDrop(ZMTPMessage.fromUTF8("x".repeat(24 << 20)));
        push.sendOrDrop(ZMTPMessage.fromUTF8("next"));
        loop.run();

        try (ZMTPRecording recording = read()) {
            assertThat(recording.isComplete()).isFalse();
            assertThat(recording.dropped()).isEqualTo(769);
            assertThat(entries(recording)).extracting(ZMTPRecordingTest::text).contains("1 RECEIVED next");
        }
    }

    @Test
    void framesOfACaptureAreCut() throws IOException {
        capture.close();
        file = folder.resolve("short.pcapng");
        capture = ZMTPCapture.builder(file).snapLength(10).open();
        ZMTPSocket pull = bound(PULL, "test://jobs");
        pull.onMessage((peer, received) -> received.release());
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("test://jobs");
        loop.run();
        push.sendOrDrop(ZMTPMessage.fromUTF8("a", "x".repeat(100_000), "b"));
        loop.run();

        try (ZMTPRecording recording = read()) {
            assertThat(recording.isComplete()).isFalse();
            assertThat(entries(recording))
                    .extracting(ZMTPRecordingTest::text)
                    .contains("1 RECEIVED a " + "x".repeat(10) + " b");
        }
    }

    @Test
    void aFileThatEndsEarlyIsReadUpToThere() throws IOException {
        ZMTPSocket router = bound(ROUTER, "test://echo");
        router.serve(request -> request.reply(request.message().copy()));
        ZMTPTestPeer.connect(loop, "test://echo", DEALER).send("", "a");
        loop.close();
        capture.close();
        byte[] bytes = Files.readAllBytes(file);
        int most = 0;
        for (int length = 48; length < bytes.length; length++) {
            Path cut = folder.resolve("cut.pcapng");
            Files.write(cut, Arrays.copyOf(bytes, length));
            try (ZMTPRecording recording = ZMTPRecording.open(cut)) {
                assertThat(recording.isComplete()).as("%s bytes", length).isFalse();
                List<ZMTPRecording.Kind> kinds = entries(recording).stream()
                        .map(ZMTPRecording.Entry::kind)
                        .toList();
                assertThat(List.of(UP, RECEIVED, SENT, DOWN).subList(0, kinds.size()))
                        .isEqualTo(kinds);
                most = Math.max(most, kinds.size());
            }
        }
        assertThat(most).isEqualTo(4);
    }

    @Test
    void aFileThatBecomesShorterFailsToIterate() throws IOException {
        bound(PULL, "test://jobs");
        ZMTPTestPeer.connect(loop, "test://jobs", PUSH);
        try (ZMTPRecording recording = read()) {
            assertThat(recording.isComplete()).isTrue();
            Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 100));

            assertThatExceptionOfType(UncheckedIOException.class)
                    .isThrownBy(() -> entries(recording))
                    .withMessageContaining("file length: <= 100 (expected: ");
        }
    }

    /** Captures connections that send a message of this length each. */
    private Path captureOfFiles(String name, int connections, int length) throws IOException {
        Path first = folder.resolve(name);
        ZMTPCapture.Builder files =
                ZMTPCapture.builder(first).maxBytes(MAX_BYTES).files(3);
        try (ZMTPCapture many = files.open();
                ZMTPTestLoop other = ZMTPTestLoop.create()) {
            ZMTPSocket pull = other.open(ZMTPSocketConfig.builder(PULL).capture(many));
            pull.onMessage((peer, received) -> received.release());
            pull.bind("test://jobs");
            for (int i = 0; i < connections; i++) {
                ZMTPTestPeer peer = ZMTPTestPeer.connect(other, "test://jobs", PUSH);
                peer.send("x".repeat(length));
                peer.close();
            }
        }
        return first;
    }

    /** Each file has a whole connection that fills it, so only the statistics tell that there are other files. */
    @Test
    void eachFileOfACaptureOfSeveralFilesIsIncomplete() throws IOException {
        long size = Files.size(captureOfFiles("one.pcapng", 1, 40_000));
        int filling = (int) (40_000 + MAX_BYTES - (size - STATISTICS));

        captureOfFiles("many.pcapng", 3, filling);

        for (String name : List.of("many.pcapng", "many.1.pcapng", "many.2.pcapng")) {
            try (ZMTPRecording recording = ZMTPRecording.open(folder.resolve(name))) {
                assertThat(entries(recording))
                        .as(name)
                        .extracting(ZMTPRecording.Entry::kind)
                        .containsExactly(UP, RECEIVED, DOWN);
                assertThat(recording.dropped()).isZero();
                assertThat(recording.isComplete()).as(name).isFalse();
            }
        }
    }

    @Test
    void theOnlyFileOfACaptureThatCanHaveMoreIsComplete() throws IOException {
        try (ZMTPRecording recording = ZMTPRecording.open(captureOfFiles("one.pcapng", 1, 40_000))) {
            assertThat(recording.isComplete()).isTrue();
        }
    }

    @Test
    void aRecordingWithoutTrafficIsComplete() throws IOException {
        try (ZMTPRecording recording = read()) {
            assertThat(recording.isComplete()).isTrue();
            assertThat(recording.endpoints()).isEmpty();
            assertThat(entries(recording)).isEmpty();
        }
    }

    @Test
    void aRefusedConnectionIsNoEntry() throws IOException {
        bound(PULL, "test://jobs");
        ZMTPTestPeer.connect(loop, "test://jobs", SUB);

        try (ZMTPRecording recording = read()) {
            assertThat(recording.isComplete()).isTrue();
            assertThat(entries(recording)).isEmpty();
        }
    }

    @Test
    void aClosedRecordingFailsToIterate() throws IOException {
        bound(PULL, "test://jobs");
        ZMTPTestPeer.connect(loop, "test://jobs", PUSH);
        ZMTPRecording recording = read();
        recording.close();

        Iterator<ZMTPRecording.Entry> closed = recording.entries().iterator();

        assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(closed::hasNext);
    }

    @Test
    void anIteratorEnds() throws IOException {
        try (ZMTPRecording recording = read()) {
            assertThatExceptionOfType(NoSuchElementException.class)
                    .isThrownBy(() -> recording.entries().iterator().next());
        }
    }
}
