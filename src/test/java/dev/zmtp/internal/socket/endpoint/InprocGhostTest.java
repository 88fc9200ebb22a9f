package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A connection within the process whose one end is closed before the other end is on its event loop. */
class InprocGhostTest {

    @Test
    void aPeerThatLeavesBeforeItIsAcceptedIsNotKept() {
        try (TestSockets sockets = new TestSockets(2)) {
            ZMTPSocket server = sockets.open(PULL);
            String endpoint = bind(server, "inproc://ghost");
            ZMTPSocket client = sockets.open(PUSH);
            assertThat(ClockedSockets.core(client).context().eventLoop())
                    .isNotSameAs(ClockedSockets.core(server).context().eventLoop());
            TestSockets.Events events = TestSockets.events(server);

            CountDownLatch left = new CountDownLatch(1);
            ClockedSockets.core(server).context().eventLoop().execute(() -> hold(left));
            ZMTPEndpoint connector = client.connect(endpoint);
            await("a connection", () -> connector.state() == ZMTPEndpoint.State.HANDSHAKING);
            get(client.closeAsync(Duration.ZERO));
            left.countDown();

            events.next(ZMTPSocketEvent.PeerDown.class);
            assertThat(server.peers()).isEmpty();
        }
    }

    private static void hold(CountDownLatch latch) {
        try {
            Blocking.allow(latch::await);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
