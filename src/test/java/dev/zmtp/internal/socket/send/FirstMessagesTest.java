package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a newcomer tries first. */
class FirstMessagesTest {

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*", "shm://*", "inproc://first"})
    void aMessageArrivesOverEachTransport(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(bind(pull, endpoint));

        get(push.sendAsync(message("hello", "", "world")));

        assertThat(receive(pull)).containsExactly("hello", "", "world");
    }
}
