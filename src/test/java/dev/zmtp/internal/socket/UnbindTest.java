package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.internal.socket.TestSockets.connect;
import static dev.zmtp.internal.socket.TestSockets.get;
import static dev.zmtp.internal.socket.TestSockets.message;
import static dev.zmtp.internal.socket.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a binding, which is not that of its peers. */
class UnbindTest {

    /** T62. */
    @Tag("T62")
    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*", "shm://*", "inproc://unbound"})
    void newPeersAreRefusedAndOldOnesStay(String endpoint) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPEndpoint binding = get(pull.bind(endpoint).ready());
            ZMTPSocket old = sockets.open(PUSH);
            connect(old, binding.text());

            TestSockets.unbind(binding);
            TestSockets.unbind(binding);

            ZMTPSocket late = sockets.open(PUSH);
            TestSockets.Events events = TestSockets.events(late);
            late.connect(binding.text());
            events.next(ZMTPSocketEvent.Retrying.class);
            get(old.sendAsync(message("from the old one")));
            assertThat(receive(pull)).containsExactly("from the old one");
        }
    }
}
