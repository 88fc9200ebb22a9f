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
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
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

    @ParameterizedTest
    @ValueSource(
            strings = {"tcp://127.0.0.1:*", "ipc://{directory}/again", "shm://{directory}/again", "inproc://again"})
    void itsAddressCanBeBoundToAgainAtOnce(String endpoint, @TempDir Path directory) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPEndpoint first = get(pull.bind(endpoint.replace("{directory}", directory.toString()))
                    .ready());

            first.close();
            ZMTPEndpoint second = pull.bind(first.text());

            assertThat(get(second.ready()).text()).isEqualTo(first.text());
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, second.text());
            get(push.sendAsync(message("to the second")));
            assertThat(receive(pull)).containsExactly("to the second");
        }
    }
}
