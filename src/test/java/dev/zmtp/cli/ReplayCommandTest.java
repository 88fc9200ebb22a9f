package dev.zmtp.cli;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.cli.CliTest.CommandRun;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recordings that are played against servers on TCP and Unix domain sockets. */
class ReplayCommandTest {

    private static final int QUESTIONS = 100;

    private final TestSockets sockets = new TestSockets(1);

    @TempDir
    private Path directory;

    @AfterEach
    void close() {
        sockets.close();
    }

    private CommandRun replay(String... arguments) {
        return CommandRun.of(
                "",
                Stream.concat(Stream.of("replay", file().toString()), Stream.of(arguments))
                        .toArray(String[]::new));
    }

    private Path file() {
        return directory.resolve("orders.pcapng");
    }

    /** Binds a service that answers a question with a changed text. */
    private String service(UnaryOperator<String> answer, ZMTPCapture... captures) {
        var config = sockets.builder(ROUTER);
        for (ZMTPCapture capture : captures) {
            config.capture(capture);
        }
        ZMTPSocket router = sockets.open(config);
        router.serve(
                request -> request.reply(message(answer.apply(request.message().frameUTF8(0)))));
        return TestSockets.bind(router, "tcp://127.0.0.1:*");
    }

    /** Records two clients that ask in turn. */
    private void recordQuestions() throws Exception {
        try (ZMTPCapture capture = ZMTPCapture.record(file())) {
            String endpoint = service(text -> "re: " + text, capture);
            ZMTPSocket first = sockets.open(sockets.builder(REQ).codec(codec -> codec.localIdentity("ada")));
            TestSockets.connect(first, endpoint); // which is connection 1
            ZMTPSocket second = sockets.open(REQ);
            second.connect(endpoint);
            for (int i = 0; i < QUESTIONS; i++) {
                (i % 2 == 0 ? first : second)
                        .request(message("question " + i), Duration.ofSeconds(10))
                        .release();
            }
            first.closeAsync(Duration.ZERO).get(10, TimeUnit.SECONDS);
            second.closeAsync(Duration.ZERO).get(10, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @CsvSource({"1", "10", "max"})
    @Tag("T127")
    void aServerThatAnswersAsRecordedHasNoDifference(String speed) throws Exception {
        recordQuestions();

        CommandRun replay = replay(service(text -> "re: " + text), "--speed", speed);

        assertThat(replay.errors()).isEmpty();
        assertThat(replay.output()).startsWith("2 connections, 100 messages sent, 100 received as recorded, ");
        assertThat(replay.code()).isEqualTo(ExitCode.OK);
    }

    @Test
    @Tag("T127")
    void theFirstAnswerThatIsNotAsRecordedIsNamed() throws Exception {
        recordQuestions();

        CommandRun replay =
                replay(service(text -> text.equals("question 71") ? "re: nothing" : "re: " + text), "--speed", "max");

        assertThat(replay.code()).isEqualTo(ExitCode.FAILED);
        assertThat(replay.output()).isEmpty();
        assertThat(replay.errors())
                .isEqualTo(
                        "zmtp: connection 2, message 36: [\"\", \"re: nothing\"] (expected: [\"\", \"re: question 71\"])\n");
    }

    @Test
    void anAnswerThatDoesNotComeIsMissing() throws Exception {
        recordQuestions();
        ZMTPSocket silent = sockets.open(ROUTER);
        silent.onMessage((peer, message) -> message.release());

        CommandRun replay = replay(TestSockets.bind(silent, "tcp://127.0.0.1:*"), "--speed", "max", "-w", "200ms");

        assertThat(replay.code()).isEqualTo(ExitCode.FAILED);
        assertThat(replay.errors())
                .isEqualTo("zmtp: connection 1, message 1: [] (expected: [\"\", \"re: question 0\"])\n");
    }

    /** Records a PULL peer of a PUSH that sends numbers, and returns a PUSH that does so again. */
    private String recordNumbers(int count, long pauseMillis, int more) throws Exception {
        try (ZMTPCapture capture = ZMTPCapture.record(file())) {
            ZMTPSocket push = sockets.open(sockets.builder(PUSH).capture(capture));
            ZMTPSocket pull = sockets.open(PULL);
            pull.connect(TestSockets.bind(push, "tcp://127.0.0.1:*"));
            push(push, count, pauseMillis);
            for (int i = 0; i < count; i++) {
                pull.receive(Duration.ofSeconds(10)).release();
            }
            pull.closeAsync(Duration.ZERO).get(10, TimeUnit.SECONDS);
        }
        ZMTPSocket again = sockets.open(PUSH);
        Thread sender = new Thread(() -> push(again, count + more, pauseMillis));
        sender.setDaemon(true);
        sender.start();
        return TestSockets.bind(again, "tcp://127.0.0.1:*");
    }

    private static void push(ZMTPSocket push, int count, long pauseMillis) {
        try {
            for (int i = 0; i < count; i++) {
                push.send(message("number " + i));
                TimeUnit.MILLISECONDS.sleep(pauseMillis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aServerThatSendsAtTimesOfItsOwnIsWaitedForFromMessageToMessage() throws Exception {
        String endpoint = recordNumbers(8, 50, 0);

        CommandRun replay = replay(endpoint, "--speed", "max", "-w", "300ms");

        assertThat(replay.errors()).isEmpty();
        assertThat(replay.output()).startsWith("1 connections, 0 messages sent, 8 received as recorded, ");
    }

    @Test
    void manyMessagesInARowAreCompared() throws Exception {
        CommandRun replay = replay(recordNumbers(25_000, 0, 0), "--speed", "max");

        assertThat(replay.errors()).isEmpty();
        assertThat(replay.output()).startsWith("1 connections, 0 messages sent, 25,000 received as recorded, ");
    }

    @Test
    void aMessageAfterTheLastRecordedIsADifference() throws Exception {
        CommandRun replay = replay(recordNumbers(10, 0, 1), "--speed", "max");

        assertThat(replay.code()).isEqualTo(ExitCode.FAILED);
        assertThat(replay.errors()).isEqualTo("zmtp: connection 1, message 11: [\"number 10\"] (expected: [])\n");
    }

    @Test
    void aSubscriberIsPlayedToAPublisherThatAnswersIt() throws Exception {
        try (ZMTPCapture capture = ZMTPCapture.record(file())) {
            ZMTPSocket pub = sockets.open(sockets.builder(PUB).capture(capture));
            pub.onSubscription((peer, subscription) -> pub.sendOrDrop(message("news for " + subscription.topicUTF8())));
            ZMTPSocket sub = sockets.open(SUB);
            sub.subscribe("news");
            sub.connect(TestSockets.bind(pub, "ipc://" + directory.resolve("a")));
            sub.receive(Duration.ofSeconds(10)).release();
            sub.closeAsync(Duration.ZERO).get(10, TimeUnit.SECONDS);
        }
        ZMTPSocket again = sockets.open(PUB);
        again.onSubscription((peer, subscription) -> again.sendOrDrop(message("news for " + subscription.topicUTF8())));

        CommandRun replay = replay(TestSockets.bind(again, "ipc://" + directory.resolve("b")));

        assertThat(replay.errors()).isEmpty();
        assertThat(replay.output()).startsWith("1 connections, 1 messages sent, 1 received as recorded, ");
    }

    @Test
    void aServerThatIsNotThereOrRefusesIsNamedInOneLine() throws Exception {
        recordQuestions();

        CommandRun nobody = replay("tcp://127.0.0.1:1", "-w", "2s");
        CommandRun wrongType = replay(TestSockets.bind(sockets.open(SUB), "tcp://127.0.0.1:*"), "-w", "2s");

        assertThat(nobody.code()).isEqualTo(ExitCode.FAILED);
        assertThat(nobody.errors())
                .startsWith("zmtp: connection 1: connection: ")
                .containsOnlyOnce("\n");
        assertThat(wrongType.errors())
                .startsWith("zmtp: connection 1: handshake: ")
                .contains("SUB")
                .containsOnlyOnce("\n");
    }

    @ParameterizedTest
    @CsvSource({"--speed, 0", "--speed, fast", "--speed, -1", "--speed, 1e-300", "-w, soon"})
    void aWrongValueOfAnOptionIsNamed(String option, String value) {
        CommandRun replay = replay("tcp://127.0.0.1:1", option, value);

        assertThat(replay.code()).isEqualTo(ExitCode.USAGE);
        assertThat(replay.errors()).contains("'" + value + "' (expected: ").containsOnlyOnce("\n");
    }

    @Test
    void severalRecordedEndpointsAreChosenFrom() throws Exception {
        String first;
        String second;
        try (ZMTPCapture capture = ZMTPCapture.record(file())) {
            first = service(text -> "one", capture);
            second = service(text -> "two", capture);
            for (String endpoint : List.of(first, second)) {
                ZMTPSocket req = sockets.open(REQ);
                req.connect(endpoint);
                req.request(message("a"), Duration.ofSeconds(10)).release();
                req.closeAsync(Duration.ZERO).get(10, TimeUnit.SECONDS);
            }
        }

        CommandRun unclear = replay(service(text -> "two"));
        CommandRun clear = replay(service(text -> "two"), "--of", second);

        assertThat(unclear.errors()).contains(first, second, "--of").containsOnlyOnce("\n");
        assertThat(clear.output()).startsWith("1 connections, 1 messages sent, 1 received as recorded, ");
    }

    @Test
    void aRecordingWithoutItsEndIsRefused() throws IOException {
        ZMTPCapture capture = ZMTPCapture.record(file());
        Files.copy(file(), directory.resolve("cut"));
        capture.close();
        Files.move(directory.resolve("cut"), file(), StandardCopyOption.REPLACE_EXISTING);

        CommandRun replay = replay("tcp://127.0.0.1:1");

        assertThat(replay.code()).isEqualTo(ExitCode.FAILED);
        assertThat(replay.errors()).contains("(expected: a complete recording)").containsOnlyOnce("\n");
    }
}
