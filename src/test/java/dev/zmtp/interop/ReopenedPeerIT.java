package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A peer closes its socket, and another one of the same name connects at the same time. */
@Tag("netty-4.2-only") // the same with any version of Netty
class ReopenedPeerIT {

    /** T49: of JeroMQ fewer rounds, as each takes longer. */
    @Tag("T49")
    @ParameterizedTest
    @CsvSource({"OURS, 200", "LIBZMQ, 200", "JEROMQ, 20"})
    void losesNoFirstMessage(SocketPeerKind kind, int rounds, TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        String endpoint = TestSockets.bind(router, "tcp://127.0.0.1:*");
        PeerContext before = kind.open();
        try {
            for (int round = 0; round < rounds; round++) {
                PeerContext peer = kind.open();
                PeerSocket dealer = peer.socket(DEALER);
                dealer.identity("A");
                dealer.connect(endpoint);
                before.close(); // in a race with the new connection
                before = peer;
                dealer.send(Messages.of("first", Integer.toString(round)));
                assertThat(TestSockets.receive(router)).containsExactly("A", "first", Integer.toString(round));
            }
        } finally {
            before.close();
        }
    }
}
