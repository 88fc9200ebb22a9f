package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.TestSockets.await;
import static dev.zmtp.socket.TestSockets.connect;
import static dev.zmtp.socket.TestSockets.get;
import static dev.zmtp.socket.TestSockets.message;
import static dev.zmtp.socket.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a binding, which is not that of its peers. */
class UnbindTest {

    /** T62. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*", "shm://*", "inproc://unbound"})
    void newPeersAreRefusedAndOldOnesStay(String endpoint) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPBinding binding = get(pull.bind(endpoint));
            ZMTPSocket old = sockets.open(PUSH);
            connect(old, binding.endpoint());

            get(binding.unbind());
            get(binding.unbind());

            ZMTPSocket late = sockets.open(PUSH);
            TestSockets.Events events = TestSockets.events(late);
            late.connect(binding.endpoint());
            events.next(ZMTPSocketEvent.RetryScheduled.class);
            get(old.send(message("from the old one")));
            assertThat(receive(pull)).containsExactly("from the old one");
        }
    }

    @Test
    void thePeersOfABindingCanBeSentAwayAndComeAgain() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPBinding one = get(pull.bind("tcp://127.0.0.1:*"));
            ZMTPBinding two = get(pull.bind("tcp://127.0.0.1:*"));
            ZMTPSocket first = sockets.open(PUSH);
            ZMTPSocket second = sockets.open(PUSH);
            connect(first, one.endpoint());
            connect(second, two.endpoint());
            await("both are there", () -> pull.peers().size() == 2);
            TestSockets.Events events = TestSockets.events(pull);

            one.closePeers();

            assertThat(events.next(ZMTPSocketEvent.PeerDown.class).peer().endpoint())
                    .isEqualTo(one.endpoint());
            assertThat(events.next(ZMTPSocketEvent.PeerUp.class).peer().endpoint())
                    .isEqualTo(one.endpoint());
            assertThat(events.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
        }
    }
}
