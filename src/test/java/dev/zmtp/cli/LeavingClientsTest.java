package dev.zmtp.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.cli.CliTest.CommandRun;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients that do not take their answers from {@code rep}, {@code router} and {@code server}. */
class LeavingClientsTest {

    /** Length of a message that alone fills the queue of a peer. */
    private static final int LARGE = 20_000_000;

    @TempDir
    private Path directory;

    /** Holds back what is written until it is released. */
    private static final class HeldOutput extends FilterOutputStream {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        HeldOutput() {
            super(new ByteArrayOutputStream());
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            begun.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            out.write(bytes, from, length);
        }

        String text() {
            return out.toString();
        }
    }

    @ParameterizedTest
    @CsvSource({"rep,REQ", "router,DEALER", "server,CLIENT"})
    void aServiceContinuesAfterAClientThatLeavesBeforeItsAnswer(
            String command, ZMTPSocketType client, TestSockets sockets) throws InterruptedException {
        String endpoint = "ipc://" + directory.resolve("service");
        HeldOutput output = new HeldOutput();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        Console console = new Console(
                new ByteArrayInputStream(new byte[0]), output, new PrintStream(errors, true, StandardCharsets.UTF_8));
        CompletableFuture<Integer> service =
                CliTest.begin(() -> Main.run(console, command, "--echo", "-v", "-n", "2", "-w", "20s", "-b", endpoint));
        ZMTPSocket leaving = sockets.open(client);
        leaving.connect(endpoint);
        leaving.send(TestSockets.message("first"));
        output.begun.await();
        TestSockets.get(leaving.closeAsync(Duration.ZERO));
        TestSockets.await(
                "the client has left",
                () -> errors.toString(StandardCharsets.UTF_8).contains("PeerDown"));
        output.released.countDown();

        CommandRun second =
                CommandRun.of("", client.name().toLowerCase(Locale.ROOT), "-w", "20s", "-D", "second", endpoint);

        assertThat(second).isEqualTo(new CommandRun(ExitCode.OK, "second\n", ""));
        assertThat(TestSockets.get(service)).isEqualTo(ExitCode.FAILED); // because of the lost answer
        assertThat(output.text()).isEqualTo("first\nsecond\n");
        assertThat(errors.toString(StandardCharsets.UTF_8)).containsOnlyOnce("an answer was not sent: ");
    }

    @ParameterizedTest
    @CsvSource({"router,DEALER", "server,CLIENT"})
    void aServiceContinuesAfterAClientThatDoesNotRead(String command, ZMTPSocketType client, TestSockets sockets)
            throws InterruptedException {
        String endpoint = "ipc://" + directory.resolve("service");
        CompletableFuture<CommandRun> service =
                CliTest.begin("", command, "--echo", "-f", "none", "-l", "0s", "-n", "6", "-w", "20s", "-b", endpoint);
        ZMTPSocket deaf = sockets.open(sockets.builder(client).receiveQueueLimit(1, 1));
        deaf.connect(endpoint);
        for (int i = 0; i < 5; i++) {
            deaf.send(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[LARGE])));
        }

        CommandRun second = CommandRun.of("", client.name().toLowerCase(Locale.ROOT), "-w", "20s", "-D", "x", endpoint);

        assertThat(second).isEqualTo(new CommandRun(ExitCode.OK, "x\n", ""));
        assertThat(TestSockets.get(service).errors())
                .contains("an answer was not sent: ")
                .contains("does not read");
    }
}
