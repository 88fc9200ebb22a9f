package dev.zmtp.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.JavaProcess;
import dev.zmtp.testing.OwnHost;
import dev.zmtp.testing.TestSockets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The first programs work, and are no longer than those with JeroMQ that do the same. */
@Timeout(60)
class TutorialTest {

    private static final Path EXAMPLES = Path.of("src/test/java/dev/zmtp/examples");
    private static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(printed, true, UTF_8);

    private List<String> lines() {
        return printed.toString(UTF_8).lines().toList();
    }

    private static JavaProcess start(String program, String endpoint) throws IOException {
        return new JavaProcess(JavaProcess.command(OPTIONS, Tutorial.class, program, endpoint));
    }

    private static String endpoint() throws IOException {
        return "tcp://" + OwnHost.of(7) + ":" + TestSockets.freePort();
    }

    @Test
    void aClientSaysHelloToAServer() throws IOException, InterruptedException {
        String endpoint = endpoint();
        try (JavaProcess server = start("hello-server", endpoint)) {
            Tutorial.helloClient(endpoint, out);

            assertThat(lines()).isEqualTo(Collections.nCopies(10, "World"));
            assertThat(server.line()).isEqualTo("Hello");
        }
    }

    @Test
    void anEchoReturnsTheQuestion() throws IOException, InterruptedException {
        String endpoint = endpoint();
        try (JavaProcess server = start("echo", endpoint)) {
            assertThat(server).isNotNull();

            Tutorial.lazyPirate(endpoint, Duration.ofSeconds(30), out);

            assertThat(lines()).containsExactly("Hello");
        }
    }

    @Test
    void aLazyPirateGivesUpAfterThreeAttempts() throws IOException, InterruptedException {
        Tutorial.lazyPirate(endpoint(), Duration.ofMillis(20), out);

        assertThat(lines())
                .containsExactly("TIMEOUT, attempts left: 2", "TIMEOUT, attempts left: 1", "TIMEOUT, attempts left: 0");
    }

    // Their lengths: lines that are not blank, of the bodies, beside JeroMQ's

    @Test
    void noProgramIsLongerThanWithJeroMq() throws IOException {
        assertThat(length("helloServer") + length("helloClient")).isBetween(1, 16);
        assertThat(length("lazyPirate")).isBetween(1, 38);
        assertThat(length("echo")).isBetween(1, 15);
        long client = Files.readAllLines(EXAMPLES.resolve("AskingClient.java")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("import ") && !line.startsWith("package "))
                .count();
        assertThat(client).isBetween(1L, 84L);
    }

    private static int length(String method) throws IOException {
        List<String> all = Files.readAllLines(EXAMPLES.resolve("Tutorial.java"));
        int lines = -1;
        for (String line : all) {
            if (line.startsWith("    static void " + method + "(")) {
                lines = 0;
            } else if (lines >= 0 && line.equals("    }")) {
                return lines;
            } else if (lines >= 0 && !line.isBlank()) {
                lines++;
            }
        }
        throw new AssertionError(method + ": not there");
    }
}
