package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.NamedTransport;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What one socket looks up, and nobody answers, keeps nothing else waiting. */
class SilentNamesTest {

    /** More than there are threads. */
    private static final int NAMES = 20;

    private final TestSockets sockets = new TestSockets();
    private final CompletableFuture<Void> answer = new CompletableFuture<>();

    @BeforeEach
    void askForManyNames() {
        ZMTPSocket socket = sockets.open(ClockedSockets.with(sockets.builder(DEALER), new Silent()));
        for (int name = 0; name < NAMES; name++) {
            socket.connect("silent://name" + name);
        }
        TestSockets.settle(socket);
    }

    @AfterEach
    void close() {
        answer.complete(null);
        sockets.close();
    }

    @Test
    void anotherNameIsLookedUp() {
        String port = bind(sockets.open(ROUTER), "tcp://127.0.0.1:*").substring("tcp://127.0.0.1".length());

        connect(sockets.open(DEALER), "tcp://localhost" + port);
    }

    @Test
    void aFileIsBound(@TempDir Path dir) {
        assertThat(bind(sockets.open(ROUTER), "ipc://" + dir.resolve("file"))).startsWith("ipc:");
        assertThat(bind(sockets.open(ROUTER), "shm://" + dir.resolve("memory"))).startsWith("shm:");
    }

    /** An executor for names that never runs anything is that of a program whose name server is silent. */
    @Test
    void aFileAndAnInterfaceNeedNoExecutorForNames(@TempDir Path dir) throws IOException {
        Executor never = lookup -> {};
        String loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress())
                .getName();
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).resolverExecutor(never));

        get(router.bind("ipc://" + dir.resolve("file")).readyFuture());
        assertThat(get(router.bind("tcp://" + loopback + ":*").readyFuture()).text())
                .startsWith("tcp://");
    }

    private final class Silent extends NamedTransport {

        Silent() {
            super("silent");
        }

        @Override
        protected List<? extends SocketAddress> lookUp(String name) throws IOException {
            answer.join();
            throw new IOException(name + ": not known");
        }
    }
}
