package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.MaxMessagesRecvByteBufAllocator;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The options of a socket's channels. */
class OptionsTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    @Test
    void theBacklogIsThatOfTheListenersAndConnectionsDoNotKnowIt(TestSockets sockets) {
        AtomicReference<NioServerSocketChannel> listener = new AtomicReference<>();
        try (CapturedLog clients = new CapturedLog("io.netty.bootstrap.Bootstrap");
                CapturedLog servers = new CapturedLog("io.netty.bootstrap.ServerBootstrap")) {
            ZMTPSocket pull = sockets.open(withBacklog(sockets, PULL, listener));
            ZMTPSocket push = sockets.open(withBacklog(sockets, PUSH, new AtomicReference<>()));

            connect(push, bind(pull, ANY_PORT));

            assertThat(listener.get().config().getBacklog()).isEqualTo(7);
            assertThat(clients.lines).isEmpty();
            assertThat(servers.lines).isEmpty();
        }
    }

    @Test
    void theTimeToConnectIsThatOfTheConfig(TestSockets sockets) {
        AtomicInteger millis = new AtomicInteger();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                .connectTimeout(Duration.ofMillis(1_234))
                .pipelineInitializer((endpoint, pipeline) ->
                        millis.set(pipeline.channel().config().getConnectTimeoutMillis())));

        connect(push, bind(pull, ANY_PORT));

        assertThat(millis).hasValue(1_234);
    }

    @Test
    void anOptionOfConnectionsIsThatOfThoseThatAreMadeAndOfThoseThatAreAccepted(TestSockets sockets) {
        Queue<Boolean> found = new ConcurrentLinkedQueue<>();
        Consumer<SocketChannel> look = channel -> found.add(channel.config().isKeepAlive());
        ZMTPSocket pull = sockets.open(watched(sockets.builder(PULL), look).option(ChannelOption.SO_KEEPALIVE, true));
        ZMTPSocket push = sockets.open(watched(sockets.builder(PUSH), look).option(ChannelOption.SO_KEEPALIVE, true));

        connect(push, bind(pull, ANY_PORT));
        TestSockets.peer(pull);

        assertThat(found).containsExactly(true, true);
    }

    @Test
    void theHeartbeatsOfAnEndpointAreThoseOfItsKeepAlive(TestSockets sockets) {
        Queue<Boolean> found = new ConcurrentLinkedQueue<>();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(watched(
                sockets.builder(PUSH), channel -> found.add(channel.config().isKeepAlive())));

        connect(push, bind(pull, ANY_PORT));
        push.connect(bind(pull, ANY_PORT), codec -> codec.heartbeatInterval(Duration.ZERO));
        get(pull.whenPeers(2));

        assertThat(found).containsExactly(true, false);
    }

    /** What one peer sends as fast as it can must not keep the others waiting. */
    @SuppressWarnings("deprecation") // the name that Netty 4.1 knows, too
    @Test
    void eachConnectionReadsOneBufferInTurnUnlessThereIsAnotherAllocator(TestSockets sockets) {
        Queue<Integer> found = new ConcurrentLinkedQueue<>();
        Consumer<SocketChannel> look = channel -> found.add(
                ((MaxMessagesRecvByteBufAllocator) channel.config().getRecvByteBufAllocator()).maxMessagesPerRead());
        ZMTPSocket pull = sockets.open(watched(sockets.builder(PULL), look));
        ZMTPSocket push = sockets.open(watched(sockets.builder(PUSH), look));
        ZMTPSocket other = sockets.open(watched(sockets.builder(PUSH), look)
                .option(ChannelOption.RCVBUF_ALLOCATOR, new AdaptiveRecvByteBufAllocator().maxMessagesPerRead(3)));
        String endpoint = bind(pull, ANY_PORT);

        connect(push, endpoint);
        TestSockets.peer(pull);
        assertThat(found).containsExactly(1, 1);

        connect(other, endpoint);
        assertThat(found).contains(3);
    }

    /** Its last connection may not be over, for the kernel. */
    @Test
    void aConnectionFromAGivenPortMayUseItAgain(TestSockets sockets) throws IOException {
        Queue<Boolean> found = new ConcurrentLinkedQueue<>();
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = bind(pull, ANY_PORT);
        ZMTPSocket push = sockets.open(watched(
                sockets.builder(PUSH), channel -> found.add(channel.config().isReuseAddress())));

        connect(push, endpoint);
        connect(push, endpoint.replace("tcp://", "tcp://127.0.0.1:*;"));

        assertThat(found).containsExactly(false, true);
    }

    @Test
    void aCloseThatFailsIsLoggedAtMost() {
        IOException thrown = new IOException("of the test");
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.Sockets")) {
            AtomicInteger closed = new AtomicInteger();

            Sockets.closeQuietly(closed::incrementAndGet);
            Sockets.closeQuietly(() -> {
                throw thrown;
            });

            assertThat(closed).hasValue(1);
            assertThat(log.traces).containsExactly(thrown);
        }
    }

    private static ZMTPSocketConfig.Builder watched(ZMTPSocketConfig.Builder config, Consumer<SocketChannel> look) {
        return config.pipelineInitializer((endpoint, pipeline) -> look.accept((SocketChannel) pipeline.channel()));
    }

    private static ZMTPSocketConfig.Builder withBacklog(
            TestSockets sockets, ZMTPSocketType type, AtomicReference<NioServerSocketChannel> listener) {
        return sockets.builder(type).option(ChannelOption.SO_BACKLOG, 7).tcpChannels(NioSocketChannel::new, () -> {
            listener.set(new NioServerSocketChannel());
            return listener.get();
        });
    }
}
