package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The names that peers announce to a ROUTER, byte for byte. */
class PeerNamesTest {

    private static final String GREETING = "ff 00*7 01 7f / 03 01 / \"NULL\" 00*16 / 00 / 00*31";

    /** A command of more than 255 bytes has a length of 8. */
    private static final String READY = "05 \"READY\" 0b \"Socket-Type\" 00 00 00 06 \"DEALER\"";

    private final TestSockets sockets = new TestSockets();
    private ZMTPSocket router;
    private TestSockets.Events events;
    private Socket peer;

    @BeforeEach
    void connect() throws IOException {
        router = sockets.open(ROUTER);
        events = TestSockets.events(router);
        String endpoint = bind(router, "tcp://127.0.0.1:*");
        peer = new Socket(
                InetAddress.getLoopbackAddress(), Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1)));
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        sockets.close();
    }

    private void announce(String identity) throws IOException {
        byte[] name = Hex.bytes(identity);
        byte[] command = Hex.bytes("%s 08 \"Identity\" %08x %s".formatted(READY, name.length, identity));
        peer.getOutputStream().write(Hex.bytes(GREETING));
        peer.getOutputStream().write(Hex.bytes("06 %016x".formatted(command.length)));
        peer.getOutputStream().write(command);
        peer.getOutputStream().flush();
    }

    private ZMTPPeer accepted() {
        return events.next(ZMTPSocketEvent.PeerUp.class).peer();
    }

    private Throwable refused() throws IOException {
        Throwable cause = events.next(ZMTPSocketEvent.HandshakeFailed.class).cause();
        assertThat(router.peers()).isEmpty();
        peer.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
        peer.getInputStream().readAllBytes(); // it ends
        return cause;
    }

    /** T50. */
    @Tag("T50")
    @Test
    void aPeerWithoutANameGetsOneOfOurs() throws IOException {
        announce("");

        ZMTPPeer peer = accepted();
        assertThat(((Peer) peer).identity().remaining()).isZero();
        assertThat(peer.routingId().remaining()).isEqualTo(9);
        assertThat(peer.routingId().get(0)).isZero();
    }

    /** T50. */
    @Tag("T50")
    @Test
    void aNameOf255BytesIsTaken() throws IOException {
        announce("61*255");

        assertThat(accepted().routingId()).isEqualTo(ByteBuffer.wrap(Hex.bytes("61*255")));
    }

    /** T50. */
    @Tag("T50")
    @Test
    void aNameOf256BytesIsRefused() throws IOException {
        announce("61*256");

        assertThat(refused()).isInstanceOf(ZMTPException.class).hasMessageContaining("256");
    }

    /** T50: one random UUID in 256 begins so. */
    @Tag("T50")
    @Test
    void aNameMayBeginWithAZero() throws IOException {
        announce("00 61*8");

        assertThat(accepted().routingId()).isEqualTo(ByteBuffer.wrap(Hex.bytes("00 61*8")));
    }
}
