package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.EventLoops;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The proxy between plain sockets: it must be beyond doubt itself. */
class ProxyTest {

    private static final int PATIENCE_MILLIS = 30_000;
    private static final int MANY = 1 << 20;

    private final EventLoops loops = new EventLoops(1);
    private final ServerSocket listener;
    private final BlockingQueue<ProxyFault> fired = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> ports = new LinkedBlockingQueue<>();

    private Proxy proxy;
    private Socket peer;
    private Socket server;

    ProxyTest() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        listener.setSoTimeout(PATIENCE_MILLIS);
    }

    private void connect(ProxyFault... faults) throws IOException {
        proxy = new Proxy(
                loops.group(),
                (InetSocketAddress) listener.getLocalSocketAddress(),
                number -> number == 0 ? List.of(faults) : List.of(),
                fired::add,
                ports::add,
                1);
        peer = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        server = listener.accept();
        peer.setSoTimeout(PATIENCE_MILLIS);
        server.setSoTimeout(PATIENCE_MILLIS);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        server.close();
        listener.close();
        proxy.close();
        loops.close();
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static CompletableFuture<Void> send(Socket socket, byte[] bytes) {
        return CompletableFuture.runAsync(() -> {
            try {
                OutputStream out = socket.getOutputStream();
                out.write(bytes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static byte[] receive(Socket socket, int length) throws IOException {
        return socket.getInputStream().readNBytes(length);
    }

    private void assertRelaysBothWays(byte[] bytes) throws IOException {
        CompletableFuture<Void> up = send(peer, bytes);
        CompletableFuture<Void> down = send(server, bytes);

        assertThat(receive(server, bytes.length)).isEqualTo(bytes);
        assertThat(receive(peer, bytes.length)).isEqualTo(bytes);
        up.join();
        down.join();
    }

    private static ProxyFault up(ProxyFault.Kind kind, long at, int millis) {
        return new ProxyFault(kind, true, at, millis);
    }

    @Test
    void bytesPassUnchangedInBothDirections() throws IOException {
        connect();

        assertRelaysBothWays(bytes(MANY));
    }

    @Test
    void theServerSeesTheReportedPort() throws Exception {
        connect();

        assertThat(ports.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isEqualTo(server.getPort());
    }

    @Test
    void gentleFaultsChangeNothing() throws IOException {
        ProxyFault[] faults = {
            up(ProxyFault.Kind.CHOP, 10, 0),
            up(ProxyFault.Kind.STALL, 100, 20),
            up(ProxyFault.Kind.THROTTLE, 5_000, 100),
            up(ProxyFault.Kind.DELAY, 20_000, 100),
            new ProxyFault(ProxyFault.Kind.CHOP, false, 0, 0),
            new ProxyFault(ProxyFault.Kind.THROTTLE, false, 0, 50),
            new ProxyFault(ProxyFault.Kind.DELAY, false, 1_000, 50),
            new ProxyFault(ProxyFault.Kind.STALL, false, MANY - 1, 20)
        };
        connect(faults);

        assertRelaysBothWays(bytes(MANY));
        assertThat(fired).containsExactlyInAnyOrder(faults);
    }

    @Test
    void theEndOfOneDirectionIsRelayedAfterItsBytes() throws IOException {
        connect();
        byte[] bytes = bytes(MANY);
        send(peer, bytes).join();
        peer.shutdownOutput();

        assertThat(server.getInputStream().readAllBytes()).isEqualTo(bytes);

        send(server, bytes); // the other one goes on
        assertThat(receive(peer, bytes.length)).isEqualTo(bytes);
        server.shutdownOutput();
        assertThat(peer.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void aCloseComesAfterItsOffset() throws IOException {
        connect(up(ProxyFault.Kind.CLOSE, 1_000, 0));
        byte[] bytes = bytes(1_001);
        send(peer, bytes);

        assertThat(server.getInputStream().readAllBytes()).isEqualTo(Arrays.copyOf(bytes, 1_000));
        assertThat(peer.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void aHalfCloseEndsOneDirectionOnly() throws IOException {
        connect(up(ProxyFault.Kind.HALF_CLOSE, 1_000, 0));
        byte[] bytes = bytes(1_001);
        send(peer, bytes);

        assertThat(server.getInputStream().readAllBytes()).isEqualTo(Arrays.copyOf(bytes, 1_000));
        send(server, bytes);
        assertThat(receive(peer, bytes.length)).isEqualTo(bytes);
    }

    @Test
    void aResetResetsBothConnections() throws IOException {
        connect(up(ProxyFault.Kind.RESET, 1_000, 0));
        send(peer, bytes(1_001));

        assertThatThrownBy(() -> peer.getInputStream().read()).isInstanceOf(SocketException.class);
        assertThatThrownBy(() -> server.getInputStream().readAllBytes()).isInstanceOf(SocketException.class);
    }

    @Test
    void aSilenceRelaysNothingAndThenResets() throws IOException {
        connect(up(ProxyFault.Kind.SILENCE, 0, 200));
        send(peer, bytes(10));
        fired.clear();
        send(server, bytes(10));

        assertThatThrownBy(() -> peer.getInputStream().readAllBytes()).isInstanceOf(SocketException.class);
        assertThatThrownBy(() -> server.getInputStream().readAllBytes()).isInstanceOf(SocketException.class);
    }

    @Test
    void aResetOfOneEndIsRelayed() throws IOException {
        connect();
        peer.setSoLinger(true, 0);
        peer.close();

        assertThatThrownBy(() -> server.getInputStream().read()).isInstanceOf(SocketException.class);
    }

    @Test
    void aSilentPeerIsCounted() throws Exception {
        connect();
        assertRelaysBothWays(bytes(1));
        peer.close();
        peer = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        server.close();
        server = listener.accept();
        peer.close();
        server.close();
        proxy.awaitEnd(PATIENCE_MILLIS / 1_000);

        assertThat(proxy.connections()).isEqualTo(2);
        assertThat(proxy.mute()).isEqualTo(1);
    }

    @Test
    void laterConnectionsHaveTheirOwnFaults() throws IOException {
        connect(up(ProxyFault.Kind.RESET, 1, 0));
        peer.close();
        server.close();
        peer = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        server = listener.accept();

        assertRelaysBothWays(bytes(1_000));
        assertThat(fired).isEmpty();
    }
}
