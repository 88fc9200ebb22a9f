package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much is read from a peer whose messages nobody takes, in virtual time. */
@Tag("netty-4.2-only")
class ReceiveLimitTest {

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    @ParameterizedTest(name = "{0} messages, {1} bytes")
    @CsvSource({"10, 1000000", "1000, 40"})
    void nothingIsReadFromAFullPeerUntilHalfOfItsMessagesAreTaken(int messages, long bytes) {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(messages, bytes));
        pull.bind("inproc://full");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://full");
        loop.run();
        for (int i = 0; i < 30; i++) {
            push.sendOrDrop(message("four"));
        }
        loop.run();
        assertThat(pull.stats().received()).isEqualTo(10);

        take(pull, 4);
        assertThat(pull.stats().received()).isEqualTo(10);

        take(pull, 1);
        assertThat(pull.stats().received()).isEqualTo(15);
    }

    private void take(ZMTPSocket pull, int messages) {
        for (int i = 0; i < messages; i++) {
            assertThat(frames(pull.receiveAsync().join())).containsExactly("four");
        }
        loop.run();
    }
}
