package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.FailureKind;
import dev.zmtp.testing.NamedTransport;
import dev.zmtp.testing.TestSockets;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers that leave and come back, at the same address or another one. */
class ReconnectTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    @TempDir
    private Path directory;

    /** A path is in the test's directory. */
    private String endpoint(String any) {
        return any.endsWith("//") ? any + directory.resolve("socket") : any;
    }

    private static List<CompletableFuture<Void>> send(ZMTPSocket socket, int messages) {
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 1; i <= messages; i++) {
            sent.add(socket.sendAsync(message("message", Integer.toString(i))));
        }
        return sent;
    }

    private static void assertReceives(ZMTPSocket socket, int messages) {
        for (int i = 1; i <= messages; i++) {
            assertThat(receive(socket)).containsExactly("message", Integer.toString(i));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {ANY_PORT, "ipc://", "shm://", "inproc://closed"})
    void anEndpointIsFreeOnceItsSocketIsClosed(String any, TestSockets sockets) {
        String endpoint = endpoint(any);
        for (int i = 0; i < 50; i++) {
            ZMTPSocket pull = sockets.open(PULL);
            endpoint = bind(pull, endpoint);
            get(pull.closeAsync(Duration.ZERO));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {ANY_PORT, "ipc://", "shm://", "inproc://unbound"})
    void anEndpointIsFreeOnceItIsUnbound(String any, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket other = sockets.open(PULL);
        String endpoint = endpoint(any);
        for (int i = 0; i < 20; i++) {
            ZMTPEndpoint binding =
                    get((i % 2 == 0 ? pull : other).bind(endpoint).readyFuture());
            endpoint = binding.text();
            TestSockets.unbind(binding);
        }
    }

    /** T40. */
    @Tag("T40")
    @ParameterizedTest
    @ValueSource(strings = {ANY_PORT, "ipc://", "shm://", "inproc://away"})
    void whatIsSentWhileThePeerIsAwayArrivesOnceInOrderWhenItIsBack(String any, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = bind(pull, endpoint(any));
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(20)));
        TestSockets.Events events = TestSockets.events(push);
        TestSockets.connect(push, endpoint);
        get(pull.closeAsync(Duration.ZERO));
        events.next(ZMTPSocketEvent.PeerDown.class);

        List<CompletableFuture<Void>> sent = send(push, 5);
        events.next(ZMTPSocketEvent.Retrying.class);
        assertThat(sent).noneMatch(CompletableFuture::isDone);
        ZMTPSocket back = sockets.open(PULL);
        bind(back, endpoint);

        assertReceives(back, 5);
        sent.forEach(TestSockets::get);
        get(push.sendAsync(message("last")));
        assertThat(receive(back)).containsExactly("last");
    }

    /** T40: before the first connection, too. */
    @Tag("T40")
    @Test
    void whatIsSentBeforeThePeerWasEverThereArrives(TestSockets sockets) throws IOException {
        String endpoint = "tcp://127.0.0.1:" + TestSockets.freePort();
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(20)));
        push.connect(endpoint);
        send(push, 5);
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, endpoint);

        assertReceives(pull, 5);
    }

    /** The scheme {@code named}, whose names have the addresses that the test gives. */
    private static final class Names extends NamedTransport {
        private final AtomicInteger lookups = new AtomicInteger();
        private final List<Thread> threads = new ArrayList<>();
        private volatile List<InetSocketAddress> addresses = List.of();

        Names() {
            super("named");
        }

        @Override
        protected List<? extends SocketAddress> lookUp(String name) throws IOException {
            lookups.getAndIncrement();
            threads.add(Thread.currentThread());
            if (addresses.isEmpty()) {
                throw new IOException(name + ": not known");
            }
            return addresses;
        }
    }

    private static InetSocketAddress address(String endpoint) {
        return new InetSocketAddress(
                InetAddress.getLoopbackAddress(), Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1)));
    }

    /** T45. */
    @Tag("T45")
    @Test
    void eachAttemptLooksTheNameUpAnew(TestSockets sockets) {
        Names names = new Names();
        ZMTPSocket first = sockets.open(PULL);
        names.addresses = List.of(address(bind(first, ANY_PORT)));
        ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), names)
                .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(20)));
        TestSockets.Events events = TestSockets.events(push);
        TestSockets.connect(push, "named://service");

        ZMTPSocket second = sockets.open(PULL);
        names.addresses = List.of(address(bind(second, ANY_PORT)));
        get(first.closeAsync(Duration.ZERO));
        events.next(ZMTPSocketEvent.PeerDown.class);
        push.sendOrDrop(message("moved"));

        assertThat(receive(second)).containsExactly("moved");
    }

    /** T45. */
    @Tag("T45")
    @Test
    void theNextAddressIsTriedIfOneRefuses(TestSockets sockets) throws IOException {
        Names names = new Names();
        ZMTPSocket pull = sockets.open(PULL);
        InetSocketAddress refuses = new InetSocketAddress(InetAddress.getLoopbackAddress(), TestSockets.freePort());
        names.addresses = List.of(refuses, refuses, address(bind(pull, ANY_PORT)));
        ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), names));
        TestSockets.Events events = TestSockets.events(push);

        TestSockets.connect(push, "named://service");

        assertThat(events.drain())
                .as("one attempt")
                .hasExactlyElementsOfTypes(ZMTPSocketEvent.Connecting.class, ZMTPSocketEvent.PeerUp.class);
        assertThat(names.lookups).hasValue(1);
    }

    /** The name has two addresses. At the first one, this handler accepts. */
    private static void assertTriesTheNextAfter(ChannelHandler accepting, TestSockets sockets) {
        Names names = new Names();
        ZMTPSocket pull = sockets.open(PULL);
        Channel first = new ServerBootstrap()
                .group(sockets.group())
                .channel(NioServerSocketChannel.class)
                .childHandler(accepting)
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
        names.addresses = List.of((InetSocketAddress) first.localAddress(), address(bind(pull, ANY_PORT)));
        ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), names));
        TestSockets.Events events = TestSockets.events(push);

        TestSockets.connect(push, "named://service");

        assertThat(events.drain())
                .as("one attempt")
                .hasExactlyElementsOfTypes(
                        ZMTPSocketEvent.Connecting.class,
                        ZMTPSocketEvent.HandshakeFailed.class,
                        ZMTPSocketEvent.PeerUp.class);
    }

    /** As a balancer does whose service is down. */
    @Tag("T45")
    @Test
    void theNextAddressIsTriedIfOneAcceptsAndCloses(TestSockets sockets) {
        assertTriesTheNextAfter(
                new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel accepted) {
                        accepted.close();
                    }
                },
                sockets);
    }

    /** As one does that has an error of its own for a service that is away. */
    @Tag("T45")
    @Test
    void theNextAddressIsTriedIfOneAnswersWithAnotherProtocol(TestSockets sockets) {
        assertTriesTheNextAfter(
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }

                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        ctx.writeAndFlush(ByteBufUtil.writeAscii(ctx.alloc(), "HTTP/1.1 503 Service Unavailable\r\n"));
                    }
                },
                sockets);
    }

    /** One that is gone would take all of the time that it has. */
    @Tag("T45")
    @Test
    void anAddressHasASecondWhileThereAreOthers(TestSockets sockets) {
        Names names = new Names();
        ZMTPSocket pull = sockets.open(PULL);
        List<Integer> timeouts = new CopyOnWriteArrayList<>();
        names.addresses =
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), address(bind(pull, ANY_PORT)));
        ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), names)
                .pipelineInitializer((endpoint, pipeline) ->
                        timeouts.add(pipeline.channel().config().getConnectTimeoutMillis())));

        TestSockets.connect(push, "named://service");

        assertThat(timeouts).containsExactly(1_000, 10_000);
    }

    @Tag("T45")
    @Test
    void theNextAddressIsNotTriedIfThePeerOfOneDoesNotFit(TestSockets sockets) {
        Names names = new Names();
        ZMTPSocket unfit = sockets.open(ROUTER);
        ZMTPSocket pull = sockets.open(PULL);
        names.addresses = List.of(address(bind(unfit, ANY_PORT)), address(bind(pull, ANY_PORT)));
        ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), names));
        TestSockets.Events events = TestSockets.events(push);

        push.connect("named://service");

        assertThat(events.next(ZMTPSocketEvent.Retrying.class).kind()).isEqualTo(FailureKind.INCOMPATIBLE);
    }

    /** T45. */
    @Tag("T45")
    @Test
    void namesAreLookedUpOnTheExecutorForItAndMayBeUnknownForATime(TestSockets sockets) {
        Names names = new Names();
        ZMTPSocket pull = sockets.open(PULL);
        Thread[] resolver = new Thread[1];
        ZMTPSocket push = sockets.open(ClockedSockets.with(sockets.builder(PUSH), names)
                .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(20))
                .resolverExecutor(task -> {
                    resolver[0] = new Thread(task, "resolver");
                    resolver[0].start();
                }));
        TestSockets.Events events = TestSockets.events(push);
        ZMTPEndpoint connector = push.connect("named://service");
        assertThat(events.next(ZMTPSocketEvent.Retrying.class).cause()).hasMessage("service: not known");
        names.addresses = List.of(address(bind(pull, ANY_PORT)));

        get(connector.readyFuture());

        assertThat(names.threads).allMatch(thread -> thread.getName().equals("resolver"));
    }

    /** T47. */
    @Tag("T47")
    @Test
    void aConnectionToItselfIsClosedAndRetried(TestSockets sockets) throws IOException {
        int port = TestSockets.freePort();
        String itself = "127.0.0.1:" + port;
        ZMTPSocket dealer =
                sockets.open(sockets.builder(DEALER).reconnectDelay(Duration.ofMillis(20), Duration.ofMillis(20)));
        TestSockets.Events events = TestSockets.events(dealer);
        ZMTPEndpoint connector = dealer.connect("tcp://" + itself + ";" + itself);
        CompletableFuture<Void> sent = dealer.sendAsync(message("not for itself"));

        ZMTPSocketEvent.Retrying retry = events.next(ZMTPSocketEvent.Retrying.class);
        assertThat(retry.cause()).hasMessageContaining("connected to itself");
        assertThat(events.next(ZMTPSocketEvent.Connecting.class).attempt()).isEqualTo(2);

        assertThat(connector.readyFuture()).isNotDone();
        assertThat(dealer.receiveAsync()).isNotDone();
        assertThat(sent).isNotDone();
        assertThat(dealer.stats().queued()).isEqualTo(1);
    }

    /** T49. */
    @Tag("T49")
    @Test
    void oneThatComesBackAtOnceWithItsNameLosesNoFirstMessage(TestSockets sockets) {
        int rounds = 200;
        ZMTPSocketConfig.Builder named = ZMTPSocketConfig.builder(
                ZMTPConfig.builder().socketType(DEALER).localIdentity("A").build());
        ZMTPSocket router = sockets.open(ROUTER);
        List<String> received = Collections.synchronizedList(new ArrayList<>());
        router.onMessage((from, message) ->
                received.add(from.routingIdUTF8() + " " + String.join(" ", TestSockets.frames(message))));
        String endpoint = bind(router, ANY_PORT);
        for (int round = 1; round <= rounds; round++) {
            ZMTPSocket dealer = sockets.open(named);
            dealer.connect(endpoint);
            get(dealer.sendAsync(message(Integer.toString(round))));
            dealer.close();
        }

        TestSockets.await("all first messages", () -> received.size() >= rounds);
        assertThat(received).hasSize(rounds).startsWith("A 1").endsWith("A " + rounds);
    }
}
