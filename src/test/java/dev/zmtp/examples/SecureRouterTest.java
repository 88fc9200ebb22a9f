package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@link SecureRouter} prints, and whether it reports success. */
@Tag("netty-4.2-only")
@Timeout(60)
class SecureRouterTest {

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);

    @TempDir
    private Path directory;

    private boolean run(String... args) throws InterruptedException {
        return SecureRouter.run(out, args);
    }

    private String text() {
        return printed.toString(StandardCharsets.UTF_8).replace(directory.toString(), "DIR");
    }

    private static String freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return Integer.toString(socket.getLocalPort());
        }
    }

    @Test
    void keysAreNotOverwritten() throws Exception {
        assertThat(run("keys", directory.toString())).isTrue();
        assertThat(text()).isEmpty();

        assertThat(run("keys", directory.toString())).isFalse();
        assertThat(text())
                .hasLineCount(1)
                .startsWith("DIR/server.key_secret: exists (expected: a directory without keys; delete the old ones");
    }

    @Test
    void withoutKeysItSaysHowToMakeThem() throws Exception {
        assertThat(run("serve", directory.toString(), "0")).isFalse();
        assertThat(text())
                .hasLineCount(1)
                .startsWith("DIR/client.key: no such file (expected: keys made by: keys DIR)");
    }

    @Test
    void withoutAServerItPrintsOneLineAndFails() throws Exception {
        run("keys", directory.toString());

        assertThat(run("ask", directory.toString(), freePort())).isFalse();
        assertThat(text()).hasLineCount(1).startsWith("Connection refused: ");
    }

    @Test
    void theServerSaysWhenItIsReadyAndTheClientGetsAnAnswer() throws Exception {
        run("keys", directory.toString());
        String port = freePort();
        Thread server = new Thread(() -> {
            try {
                run("serve", directory.toString(), port);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the test is over
            }
        });
        server.start();
        try {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (!text().endsWith(":" + port + System.lineSeparator())) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.sleep(1);
            }
            assertThat(text()).startsWith("ROUTER with CURVE. Try: ").contains("listening on /127.0.0.1");

            assertThat(run("ask", directory.toString(), port)).isTrue();
            assertThat(text()).endsWith("ZMTPMessage{[\"hello, the client\"]}" + System.lineSeparator());
        } finally {
            server.interrupt();
            server.join();
        }
    }

    @Test
    void wrongArgumentsAreShownWithTheRightOnes() throws Exception {
        assertThat(run("keys")).isFalse();
        assertThat(run("sing", directory.toString())).isFalse();
        assertThat(text().lines())
                .containsExactly(
                        "arguments: keys (expected: keys DIR | serve DIR [PORT] | ask DIR [PORT])",
                        "command: sing (expected: keys DIR | serve DIR [PORT] | ask DIR [PORT])");
    }
}
