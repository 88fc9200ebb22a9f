package dev.zmtp.cli;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.cli.CliTest.CommandRun;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ends of commands whose standard input or output does not end with them. */
class ClosedStreamsTest {

    private static final InputStream NO_INPUT = new ByteArrayInputStream(new byte[0]);

    /** More lines than the queue of a socket and the connection can hold. */
    private static InputStream manyLines() {
        String line = "x".repeat(100) + "\n";
        return new ByteArrayInputStream(line.repeat(200_000).getBytes(StandardCharsets.US_ASCII));
    }

    private static OutputStream failing(String message) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException(message);
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"Broken pipe", "The pipe is being closed", "The pipe has been ended"})
    void aClosedOutputEndsTheProgramWithoutAnError(String message, TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        String endpoint = TestSockets.bind(push, "tcp://127.0.0.1:*");
        push.sendAsync(message("for no reader"));

        assertThat(CommandRun.of(NO_INPUT, failing(message), "pull", endpoint))
                .isEqualTo(new CommandRun(ExitCode.OK, "", ""));
    }

    @Test
    void anOutputThatCannotBeWrittenIsAFailure(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        String endpoint = TestSockets.bind(push, "tcp://127.0.0.1:*");
        push.sendAsync(message("lost"));

        assertThat(CommandRun.of(NO_INPUT, failing("No space left on device"), "pull", endpoint))
                .isEqualTo(new CommandRun(ExitCode.FAILED, "", "zmtp: standard output: No space left on device\n"));
    }

    @Test
    void anOutputThatCannotBeFlushedAtTheEndIsAFailure() {
        OutputStream output = new OutputStream() {
            @Override
            public void write(int b) {}

            @Override
            public void flush() throws IOException {
                throw new IOException("No space left on device");
            }
        };

        assertThat(CommandRun.of(NO_INPUT, output, "--version"))
                .isEqualTo(new CommandRun(ExitCode.FAILED, "", "zmtp: standard output: No space left on device\n"));
    }

    @Test
    void aRelayWhoseOutputCannotBeWrittenFails(TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        String target = TestSockets.bind(pull, "tcp://127.0.0.1:*");
        String bound = "tcp://127.0.0.1:" + TestSockets.freePort();
        CompletableFuture<CommandRun> dump = CliTest.begin(
                () -> CommandRun.of(NO_INPUT, failing("No space left on device"), "dump", "-b", bound, target));

        sockets.open(PUSH).connect(bound);

        assertThat(TestSockets.get(dump).code()).isEqualTo(ExitCode.FAILED);
        assertThat(TestSockets.get(dump).errors())
                .endsWith("zmtp: standard output: No space left on device\n")
                .containsOnlyOnce("No space");
    }

    @Test
    void aCommandThatHasPrintedItsMessagesDeliversThoseThatItHasSent(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pair = sockets.open(sockets.builder(PAIR).receiveQueueLimit(1, 1));
        String endpoint = TestSockets.bind(pair, "tcp://127.0.0.1:*");
        CountDownLatch printed = new CountDownLatch(1);
        OutputStream output = new OutputStream() {
            @Override
            public void write(int b) {
                printed.countDown();
            }
        };
        CompletableFuture<CommandRun> command =
                CliTest.begin(() -> CommandRun.of(manyLines(), output, "pair", "-n", "1", "-l", "20s", endpoint));
        TestSockets.get(pair.whenPeers(1));
        TestSockets.await("the queue of the command is full", () -> pair.stats().received() > 0);

        pair.send(message("end"));
        printed.await();
        pair.onMessage((peer, message) -> message.release());

        // Messages that waited for room at the end can be lost, but not those in the queue.
        assertThat(TestSockets.get(command).code()).isIn(ExitCode.OK, ExitCode.FAILED);
        assertThat(TestSockets.get(command).errors()).matches("(zmtp: \\d messages were not delivered\n)?");
    }
}
