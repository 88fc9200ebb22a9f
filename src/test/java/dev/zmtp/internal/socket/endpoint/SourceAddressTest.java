package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Where a connection comes from. */
class SourceAddressTest {

    /** T63. */
    @Tag("T63")
    @Test
    void thePeerSeesTheSourceThatWasGiven(TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        TestSockets.Events events = events(pull);
        String to = bind(pull, "tcp://127.0.0.1:*").substring("tcp://".length());
        int port = freePort();

        ZMTPSocket push = sockets.open(PUSH);
        connect(push, "tcp://127.0.0.2:" + port + ";" + to);

        assertThat(events.next(ZMTPSocketEvent.PeerUp.class).peer().session().peerAddress())
                .isEqualTo(new InetSocketAddress(InetAddress.getByName("127.0.0.2"), port));
    }

    @Test
    void eachSideKnowsItsOwnAddressAlsoWhenTheConnectionHasEnded(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        TestSockets.Events events = events(pull);
        String endpoint = bind(pull, "tcp://*:*");
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPSession ofPush = connect(push, endpoint.replace("*", "127.0.0.1")).session();
        ZMTPSession ofPull = events.next(ZMTPSocketEvent.PeerUp.class).peer().session();

        get(push.closeAsync(Duration.ZERO));
        events.next(ZMTPSocketEvent.PeerDown.class);

        assertThat(ofPull.localAddress()).isNotNull().isEqualTo(ofPush.peerAddress());
        assertThat(ofPush.localAddress()).isNotNull().isEqualTo(ofPull.peerAddress());
    }

    @Test
    void aSessionWithoutAConnectionHasNoAddress() {
        ZMTPSession session =
                ZMTPSession.from(ZMTPConfig.builder().socketType(PULL).build());

        assertThat(session.localAddress()).isNull();
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.2"))) {
            return free.getLocalPort();
        }
    }

    @Test
    void aSourceMayLeaveThePortOpen(TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        TestSockets.Events events = events(pull);
        String to = bind(pull, "tcp://127.0.0.1:*").substring("tcp://".length());

        ZMTPSocket push = sockets.open(PUSH);
        connect(push, "tcp://127.0.0.3:*;" + to);

        InetSocketAddress from = (InetSocketAddress)
                events.next(ZMTPSocketEvent.PeerUp.class).peer().session().peerAddress();
        assertThat(from.getAddress()).isEqualTo(InetAddress.getByName("127.0.0.3"));
    }
}
