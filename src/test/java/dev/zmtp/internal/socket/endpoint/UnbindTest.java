package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a binding, which is not that of its peers. */
class UnbindTest {

    /** T62. */
    @Tag("T62")
    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*", "shm://*", "inproc://unbound"})
    void newPeersAreRefusedAndOldOnesStay(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint binding = get(pull.bind(endpoint).readyFuture());
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

    @ParameterizedTest
    @ValueSource(
            strings = {"tcp://127.0.0.1:*", "ipc://{directory}/again", "shm://{directory}/again", "inproc://again"})
    void itsAddressCanBeBoundToAgainAtOnce(String endpoint, @TempDir Path directory, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint first = get(
                pull.bind(endpoint.replace("{directory}", directory.toString())).readyFuture());

        first.close();
        ZMTPEndpoint second = pull.bind(first.text());

        assertThat(get(second.readyFuture()).text()).isEqualTo(first.text());
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, second.text());
        get(push.sendAsync(message("to the second")));
        assertThat(receive(pull)).containsExactly("to the second");
    }

    /** As the port of all interfaces, the text of a bound endpoint is not that to which it was bound. */
    @Test
    void theSameEndpointCanBeBoundToAgainAtOnce(TestSockets sockets) throws IOException {
        String endpoint = "tcp://*:" + TestSockets.freePort();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint first = get(pull.bind(endpoint).readyFuture());
        CountDownLatch held = TestSockets.hold(pull);

        first.close();
        ZMTPEndpoint second = pull.bind(endpoint);
        held.countDown();

        assertThat(get(second.readyFuture()).text()).isEqualTo(first.text());
    }

    @Test
    void aPortThatWasChosenCanBeBoundToAgainAtOnce(TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint first = get(pull.bind("tcp://*:*").readyFuture());
        CountDownLatch held = TestSockets.hold(pull);

        first.close();
        ZMTPEndpoint second = pull.bind(first.text().replace("0.0.0.0", "*"));
        held.countDown();

        assertThat(get(second.readyFuture()).text()).isEqualTo(first.text());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"tcp://127.0.0.1:*", "ipc://{directory}/again", "shm://{directory}/again", "inproc://again"})
    void aHandlerCanBindToItsAddressAgainAtOnce(String endpoint, @TempDir Path directory, TestSockets sockets)
            throws Exception {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint first = get(
                pull.bind(endpoint.replace("{directory}", directory.toString())).readyFuture());

        ZMTPEndpoint second = pull.eventLoop()
                .submit(() -> {
                    first.close();
                    return pull.bind(first.text());
                })
                .get();

        assertThat(get(second.readyFuture()).text()).isEqualTo(first.text());
    }

    @Test
    void itsAddressCanBeBoundToAgainIfItWasClosedWhileItWasBound(TestSockets sockets) throws IOException {
        String endpoint = "tcp://127.0.0.1:" + TestSockets.freePort();
        ZMTPSocket pull = sockets.open(PULL);
        CountDownLatch held = TestSockets.hold(pull);

        pull.bind(endpoint).close();
        ZMTPEndpoint second = pull.bind(endpoint);
        held.countDown();

        assertThat(get(second.readyFuture()).text()).isEqualTo(endpoint);
    }

    @Test
    void theEndOfASocketThatWasAboutToBindIsReportedWhenTheAddressIsFree(TestSockets sockets) throws Exception {
        int port = TestSockets.freePort();
        BlockingQueue<Runnable> lookups = new LinkedBlockingQueue<>();
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).resolverExecutor(lookups::add));
        EventLoop loop = ClockedSockets.core(pull).context().eventLoop();
        pull.bind("tcp://localhost:" + port);
        Runnable lookup = lookups.take();
        CountDownLatch held = TestSockets.hold(pull);

        lookup.run();
        CompletableFuture<Void> boundByAnother =
                pull.closeAsync(Duration.ZERO).thenAcceptAsync(stats -> bindAndClose(port), loop);
        held.countDown();

        get(boundByAnother);
    }

    private static void bindAndClose(int port) {
        try {
            new ServerSocket(port).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
