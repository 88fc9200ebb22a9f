package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.zmtp.internal.transport.Transport;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** T59: what is before the address, real ports, and transports of the application. */
@Tag("T59")
class EndpointsTest {

    @ParameterizedTest
    @ValueSource(strings = {"tcp://*:*", "tcp://*:0", "tcp://127.0.0.1:*", "tcp://localhost:*", "tcp://[::1]:*"})
    void whatIsBoundSaysItsRealPortAndMayBeConnectedTo(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        String bound = bind(pull, endpoint);
        assertThat(bound).matches("tcp://.*:[1-9][0-9]*").doesNotContain("*");

        ZMTPSocket push = sockets.open(PUSH);
        push.connect(bound);

        get(push.sendAsync(message("m")));
        assertThat(receive(pull)).containsExactly("m");
    }

    @Test
    void aConnectorHasOnePeerAndWhatIsBoundHasNone(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPEndpoint bound = router.bind("inproc://peers");
        ZMTPEndpoint connected = sockets.open(DEALER).connect("inproc://peers");
        ZMTPPeer peer = connected.peer();
        assertThat(peer).as("before it is there").isNotNull();
        get(connected.readyFuture());

        assertThat(connected.peer()).isSameAs(peer);
        assertThat(peer.endpoint()).isSameAs(connected);
        assertThat(peer.socketType()).isEqualTo(ROUTER);
        assertThat(bound.peer()).isNull();
    }

    @Test
    void aConnectorHasTheTextThatWasGiven(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);

        ZMTPEndpoint connector = push.connect("tcp://127.0.0.1:1");

        assertThat(connector.text()).isEqualTo("tcp://127.0.0.1:1");
        assertThat(push.connect("tcp://127.0.0.1:1")).isSameAs(connector);
        assertThat(push.connect("tcp://localhost:1")).isNotSameAs(connector);
    }

    @Test
    void anEndpointThatWasClosedCanBeConnectedToAgainWhileItLingers(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPEndpoint closed = push.connect("inproc://again");
        push.sendOrDrop(message("waits"));

        closed.close();
        ZMTPEndpoint again = push.connect("inproc://again");

        assertThat(again).isNotSameAs(closed);
        assertThat(push.connect("inproc://again")).isSameAs(again);
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, "inproc://again");
        assertThat(receive(pull)).containsExactly("waits");
        await("the first has ended", () -> closed.state() == ZMTPEndpoint.State.STOPPED);
        get(push.sendAsync(message("comes later")));
        assertThat(receive(pull)).containsExactly("comes later");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "tcp", "tcp:", "tcp:/127.0.0.1:1", "tcp://", "://127.0.0.1:1", "127.0.0.1:1"})
    void anEndpointHasASchemeAndAnAddress(String text, TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> push.connect(text))
                .withMessage(
                        "endpoint: " + text + " (expected: a scheme, ://, and an address, as tcp://127.0.0.1:5555)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TCP", "udp", "http", "tcp "})
    void aSchemeIsOneOfThoseWithATransport(String scheme, TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> push.bind(scheme + "://127.0.0.1:1"))
                .withMessage("endpoint: " + scheme
                        + "://127.0.0.1:1 (expected: one of the schemes tcp, ws, wss, ipc, shm, inproc)");
    }

    @ParameterizedTest
    @CsvSource({
        "shm://@name, endpoint: shm://@name (expected: the path of a file)",
        "shm://@, endpoint: shm://@ (expected: the path of a file)"
    })
    void sharedMemoryHasNoAbstractNames(String text, String message, TestSockets sockets) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sockets.open(PUSH).connect(text))
                .withMessage(message);
    }

    @ParameterizedTest
    @EnumSource(names = {"NIO_UNIX", "EPOLL_UNIX"})
    void theChannelsForUnixDomainSocketsAreThoseOfSharedMemoryToo(TestTransport transport, @TempDir Path directory) {
        assumeTrue(transport.isRequired() || transport.refusal() == null);
        Function<String, SocketAddress> addresses =
                transport == TestTransport.NIO_UNIX ? UnixDomainSocketAddress::of : DomainSocketAddress::new;
        TestTransport.Kit kit = transport.kit();
        try (TestSockets sockets = new TestSockets(new EventLoops(kit.group()))) {
            ZMTPSocket pull = sockets.open(sockets.builder(PULL).ipcChannels(kit.channel(), kit.server(), addresses));
            ZMTPSocket push = sockets.open(sockets.builder(PUSH).ipcChannels(kit.channel(), kit.server(), addresses));

            push.connect(bind(pull, "shm://" + directory.resolve("shared")));

            get(push.sendAsync(message("m")));
            assertThat(receive(pull)).containsExactly("m");
        }
    }

    @Test
    void aPortInUseIsRefused(TestSockets sockets) {
        String endpoint = bind(sockets.open(PULL), "tcp://127.0.0.1:*");
        ZMTPSocket second = sockets.open(PULL);

        assertThat(failure(second.bind(endpoint).readyFuture()))
                .hasCauseInstanceOf(java.net.BindException.class)
                .hasMessageStartingWith("BIND_FAILED: " + endpoint + ": ");
    }

    @ParameterizedTest
    @EnumSource(names = {"NIO", "EPOLL"})
    void aPortInUseIsRefusedAlikeByAllChannels(TestTransport transport) {
        assumeTrue(transport.isRequired() || transport.refusal() == null);
        TestTransport.Kit kit = transport.kit();
        try (TestSockets sockets = new TestSockets(new EventLoops(kit.group()))) {
            String endpoint = bind(
                    sockets.open(sockets.builder(PULL).tcpChannels(kit.channel(), kit.server())), "tcp://127.0.0.1:*");
            ZMTPSocket second = sockets.open(sockets.builder(PULL).tcpChannels(kit.channel(), kit.server()));

            assertThat(failure(second.bind(endpoint).readyFuture()))
                    .hasCauseInstanceOf(java.net.BindException.class)
                    .hasMessageStartingWith("BIND_FAILED: " + endpoint + ": ")
                    .hasMessageContaining("Address already in use");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "file/socket", "missing/socket"})
    void aPathThatCannotBeBoundIsRefusedAsAPortIs(String path, @TempDir Path directory, TestSockets sockets)
            throws IOException {
        Files.createFile(directory.resolve("file"));

        assertThat(failure(sockets.open(PULL)
                        .bind("ipc://" + directory.resolve(path))
                        .readyFuture()))
                .hasCauseInstanceOf(java.net.BindException.class)
                .hasMessageStartingWith("BIND_FAILED: ");
    }

    @Test
    void aHostThatIsNotKnownIsAskedForAgain(TestSockets sockets) {
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
        TestSockets.Events events = TestSockets.events(push);

        push.connect("tcp://not-there.invalid:1");

        assertThat(events.next(ZMTPSocketEvent.Retrying.class).cause())
                .isInstanceOf(java.net.UnknownHostException.class);
        events.next(ZMTPSocketEvent.Retrying.class);
        assertThat(failure(push.bind("tcp://not-there.invalid:*").readyFuture()))
                .hasCauseInstanceOf(java.net.UnknownHostException.class);
    }

    @Test
    void aTransportOfTheApplicationIsUsedForItsScheme(TestSockets sockets) {
        AtomicInteger bound = new AtomicInteger();
        AtomicInteger unbound = new AtomicInteger();
        Transport transport = new Own() {
            @Override
            public Address address(String text, boolean bind) {
                return new Loopback(text) {
                    @Override
                    public void bound(@Nullable Set<PosixFilePermission> permissions) {
                        bound.getAndIncrement();
                    }

                    @Override
                    public void unbound() {
                        unbound.getAndIncrement();
                    }

                    @Override
                    public String boundTo(SocketAddress local) {
                        return String.valueOf(((java.net.InetSocketAddress) local).getPort());
                    }
                };
            }
        };
        ZMTPSocket pull = sockets.open(ClockedSockets.with(sockets.builder(PULL), transport));
        ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), transport));
        ZMTPEndpoint binding = get(pull.bind("own://0").readyFuture());
        assertThat(binding.text()).matches("own://[1-9][0-9]*");

        push.connect(binding.text());

        get(push.sendAsync(message("m")));
        assertThat(receive(pull)).containsExactly("m");
        TestSockets.unbind(binding);
        assertThat(bound).hasValue(1);
        assertThat(unbound).hasValue(1);
    }

    @Test
    void aTransportWithoutAnAddressFailsTheBindAndTheAttempt() {
        Transport nowhere = new Own() {
            @Override
            public Address address(String text, boolean bind) {
                return List::of;
            }
        };

        assertThat(bindFailure(nowhere))
                .hasCauseInstanceOf(IOException.class)
                .hasMessageEndingWith("the name has no address");
        assertThat(attemptFailure(nowhere)).hasMessageEndingWith("the name has no address");
    }

    @Test
    void aTransportThatThrowsFailsTheBindAndTheAttempt() {
        Transport broken = new Own() {
            @Override
            public Address address(String text, boolean bind) {
                return () -> {
                    throw new NoClassDefFoundError("of the test");
                };
            }
        };

        assertThat(bindFailure(broken)).hasMessageEndingWith("of the test");
        assertThat(attemptFailure(broken)).hasMessageEndingWith("of the test");
    }

    @Test
    void aTransportThatFailsAfterTheBindEndsIt() {
        Transport broken = new Own() {
            @Override
            public Address address(String text, boolean bind) {
                return new Loopback(text) {
                    @Override
                    public void bound(@Nullable Set<PosixFilePermission> permissions) {
                        throw new IllegalStateException("of the test");
                    }

                    @Override
                    public void unbound() {
                        throw new IllegalStateException("of the test");
                    }
                };
            }
        };

        assertThat(bindFailure(broken)).hasMessageEndingWith("of the test");
    }

    private static Throwable bindFailure(Transport transport) {
        try (TestSockets sockets = new TestSockets()) {
            return failure(sockets.open(ClockedSockets.with(sockets.builder(PULL), transport))
                    .bind("own://0")
                    .readyFuture());
        }
    }

    private static Throwable attemptFailure(Transport transport) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(
                    ClockedSockets.with(sockets.builder(PUSH), transport).reconnectDelay(Duration.ZERO, Duration.ZERO));
            return failure(push.connect("own://0").readyFuture());
        }
    }

    /** As when the process has no more files. */
    @Test
    void aChannelThatCannotBeMadeIsRetriedOnTheEventLoop() {
        Transport poor = new Own() {
            @Override
            public Address address(String text, boolean bind) {
                return new Loopback(text);
            }

            @Override
            public Channel channel() {
                throw new IllegalStateException("too many open files");
            }

            @Override
            public ServerChannel serverChannel() {
                throw new IllegalStateException("too many open files");
            }
        };
        BlockingQueue<Thread> asked = new LinkedBlockingQueue<>();
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), poor)
                    .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
            push.onEvent(Runnable::run, event -> {
                if (event instanceof ZMTPSocketEvent.Retrying) {
                    asked.add(Thread.currentThread());
                }
            });
            CompletableFuture<Thread> loop = new CompletableFuture<>();
            sockets.group().next().execute(() -> loop.complete(Thread.currentThread()));

            push.connect("own://1");

            for (int i = 0; i < 3; i++) {
                assertThat(asked.poll(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isSameAs(get(loop));
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(bindFailure(poor).toString()).contains("too many open files");
    }

    /** It may encrypt one side and not the other. */
    @Test
    void aUserPipelineKnowsWhatWasBoundOrConnected(TestSockets sockets) {
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        ZMTPSocket pull = sockets.open(sockets.builder(PULL)
                .pipelineInitializer((endpoint, pipeline) -> seen.add("accepted at " + endpoint.text())));
        String bound = bind(pull, "tcp://127.0.0.1:*");
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .pipelineInitializer((endpoint, pipeline) -> seen.add("connects to " + endpoint.text())));

        TestSockets.connect(push, bound);

        await("both", () -> seen.size() == 2);
        assertThat(seen).containsExactlyInAnyOrder("accepted at " + bound, "connects to " + bound);
    }

    @Test
    void aUserPipelineThatThrowsFailsTheAttemptAndNotTheSocket(TestSockets sockets) {
        AtomicInteger attempts = new AtomicInteger();
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = bind(pull, "tcp://127.0.0.1:*");
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1))
                .pipelineInitializer((at, pipeline) -> {
                    if (attempts.getAndIncrement() < 2) {
                        throw new IllegalStateException("of the test");
                    }
                }));

        push.connect(endpoint);

        get(push.sendAsync(message("m")));
        assertThat(receive(pull)).containsExactly("m");
        await("it was tried again", () -> attempts.get() == 3);
    }

    /** TCP under another name. */
    @ParameterizedTest
    @ValueSource(strings = {"inproc://one", "tcp://127.0.0.1:*"})
    void theProtocolMayHaveOtherSettingsForOneEndpoint(String endpoint, TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(DEALER);

        dealer.connect(bind(router, endpoint), codec -> codec.localIdentity("here"));

        assertThat(TestSockets.peer(router).routingIdUTF8()).isEqualTo("here");
    }

    @Test
    void anEndpointHasOneSetOfSettings(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        dealer.connect("inproc://twice");

        assertThatIllegalStateException()
                .isThrownBy(() -> dealer.connect("inproc://twice", codec -> codec.localIdentity("other")))
                .withMessage("already connected to inproc://twice, with settings that cannot change");
    }

    @Test
    void theSettingsOfAnEndpointLeaveTheTypeAsItIs(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> dealer.connect("inproc://type", codec -> codec.socketType(ROUTER)))
                .withMessage("socketType: ROUTER (expected: DEALER)");
    }

    private abstract static class Own implements Transport {
        @Override
        public String scheme() {
            return "own";
        }

        @Override
        public Channel channel() {
            return new NioSocketChannel();
        }

        @Override
        public ServerChannel serverChannel() {
            return new NioServerSocketChannel();
        }
    }

    private static class Loopback implements Transport.Address {
        private final String port;

        Loopback(String port) {
            this.port = port;
        }

        @Override
        public List<? extends SocketAddress> resolve() {
            return List.of(
                    new java.net.InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), Integer.parseInt(port)));
        }

        @Override
        public String toString() {
            return port;
        }
    }

    @Test
    void anEndpointSaysWhatItDoes(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint bound = pull.bind("tcp://127.0.0.1:*").sync();
        assertThat(bound.state()).isEqualTo(ZMTPEndpoint.State.LISTENING);
        ZMTPEndpoint connected = sockets.open(PUSH).connect(bound.text()).sync(TestSockets.PATIENCE);
        assertThat(connected.state()).isEqualTo(ZMTPEndpoint.State.UP);
        assertThat(TestSockets.peer(pull).endpoint()).isSameAs(bound);

        TestSockets.unbind(bound);
        assertThat(bound.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        get(TestSockets.disconnect(connected));
        assertThat(connected.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
    }

    @Test
    void theWaitForAnAbsentPeerEndsWithTheLastFailure(TestSockets sockets) {
        ZMTPEndpoint absent = sockets.open(PUSH).connect("tcp://127.0.0.1:1");
        await("a failure", () -> absent.state() == ZMTPEndpoint.State.RETRYING);

        assertThatThrownBy(() -> absent.sync(Duration.ofMillis(1)))
                .isInstanceOf(ZMTPSocketException.class)
                .hasMessageStartingWith("TIMEOUT: tcp://127.0.0.1:1: ")
                .hasCauseInstanceOf(java.net.ConnectException.class);

        absent.close();
        assertThatThrownBy(absent::sync)
                .isInstanceOf(ZMTPSocketException.class)
                .hasMessageStartingWith("CLOSED: ")
                .satisfies(e -> assertThat(e.getStackTrace()).as("the caller's").isNotEmpty());
    }
}
