package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a socket that is closed ends, in virtual time: as soon as nothing waits, and not before. */
@Tag("netty-4.2-only")
class CloseTimesTest {

    private static final String ENDPOINT = "inproc://close-times";
    private static final Duration LINGER = Duration.ofMillis(500);
    private static final Duration LESS = Duration.ofMillis(499);
    private static final Duration MILLISECOND = Duration.ofMillis(1);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<String> received = new ArrayList<>();

    @AfterEach
    void end() {
        loop.close();
    }

    private ZMTPSocket push() {
        return loop.open(ZMTPSocketConfig.builder(PUSH).reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(10)));
    }

    private ZMTPSocket bindPull(String endpoint) {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> received.addAll(TestSockets.frames(message)));
        pull.bind(endpoint);
        loop.run();
        return pull;
    }

    @Test
    void afterTheCallNothingIsAccepted() {
        ZMTPSocket push = push();
        push.connect(ENDPOINT);
        loop.run();
        ZMTPMessage message = message("tried");

        push.closeAsync(LINGER);

        assertThat(push.isWritable()).isFalse();
        assertThat(push.trySend(message)).isFalse();
        assertThat(reason(push.sendAsync(message("late")))).isEqualTo(CLOSED);
        assertThatThrownBy(() -> push.connect("inproc://late")).hasMessage("CLOSED: the socket is closed");
        message.release();
    }

    @ParameterizedTest
    @ValueSource(strings = {"inproc://nothing-waits", "test://nothing-waits"})
    void itEndsAtOnceIfNothingWaits(String endpoint) {
        bindPull(endpoint);
        ZMTPSocket push = push();
        push.connect(endpoint);
        loop.run();
        push.sendAsync(message("sent"));
        loop.run();

        CompletableFuture<ZMTPStats> closed = push.closeAsync(LINGER);
        loop.run();

        assertThat(closed).isCompleted();
        assertThat(received).containsExactly("sent");
    }

    /** NIO frees it in its next select. */
    @Test
    void itEndsWhenTheAddressThatItWasBoundToIsFree() {
        ZMTPSocket pull = bindPull(ENDPOINT);

        CompletableFuture<ZMTPStats> closed = pull.closeAsync(LINGER);
        loop.run();
        assertThat(closed).isNotDone();
        loop.advance(Duration.ofMillis(10));

        assertThat(closed).isCompleted();
    }

    @Test
    void whatIsQueuedForAnyPeerHasTheLinger() {
        ZMTPSocket push = push();
        push.connect(ENDPOINT);
        loop.run();
        CompletableFuture<Void> sent = push.sendAsync(message("queued"));

        assertHasTheLinger(push, sent);
    }

    @Test
    void whatIsQueuedForOnePeerHasTheLinger() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        CompletableFuture<Void> sent =
                TestSockets.peerOf(router.connect(ENDPOINT)).sendAsync(message("queued"));
        loop.run();

        assertHasTheLinger(router, sent);
    }

    private void assertHasTheLinger(ZMTPSocket socket, CompletableFuture<Void> sent) {
        CompletableFuture<ZMTPStats> closed = socket.closeAsync(LINGER);
        loop.run();
        loop.advance(LESS);
        assertThat(sent).isNotDone();
        assertThat(closed).isNotDone();
        loop.advance(MILLISECOND);

        assertThat(reason(sent)).isEqualTo(CLOSED);
        assertThat(TestSockets.get(closed).dropped()).isEqualTo(1);
    }

    @Test
    void itEndsAsSoonAsWhatWasQueuedHasLeft() {
        ZMTPSocket push = push();
        push.connect(ENDPOINT);
        loop.run();
        CompletableFuture<Void> sent = push.sendAsync(message("queued"));
        CompletableFuture<ZMTPStats> closed = push.closeAsync(LINGER);
        loop.advance(Duration.ofMillis(100));
        assertThat(closed).isNotDone();

        bindPull(ENDPOINT);
        loop.advance(Duration.ofMillis(50));

        assertThat(sent).isCompleted();
        assertThat(closed).isCompleted();
        assertThat(received).containsExactly("queued");
    }

    @Test
    void itEndsAsSoonAsItsTransportHasWrittenAll() {
        WriteGate gate = new WriteGate();
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).pipelineInitializer(gate));
        bindPull("test://written");
        push.connect("test://written");
        loop.run();
        gate.close();
        push.sendAsync(message("in the transport"));
        loop.run();

        CompletableFuture<ZMTPStats> closed = push.closeAsync(LINGER);
        loop.advance(Duration.ofMillis(100));
        assertThat(closed).isNotDone();
        gate.open();
        loop.run();

        assertThat(closed).isCompleted();
        assertThat(TestSockets.get(closed).outcomeUnknown()).isZero();
        assertThat(received).containsExactly("in the transport");
    }

    /** As a WebSocket waits for the close frame of its peer. */
    @Test
    void aConnectionThatWaitsToCloseIsClosedAtTheEndOfTheLinger() {
        List<Channel> waiting = new ArrayList<>();
        ChannelOutboundHandlerAdapter patient = new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                waiting.add(ctx.channel());
            }
        };
        ZMTPSocket push = loop.open(
                ZMTPSocketConfig.builder(PUSH).pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(patient)));
        bindPull("test://patient");
        push.connect("test://patient");
        loop.run();

        CompletableFuture<ZMTPStats> closed = push.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(20));

        assertThat(closed).isCompleted();
        assertThat(waiting).isNotEmpty().noneMatch(Channel::isOpen);
    }

    @Test
    void aSecondCloseDoesNotShortenTheLinger() {
        ZMTPSocket push = push();
        push.connect(ENDPOINT);
        loop.run();
        push.sendAsync(message("queued"));
        push.closeAsync(LINGER);
        loop.run();

        CompletableFuture<ZMTPStats> second = push.closeAsync(Duration.ZERO);
        loop.advance(LESS);
        assertThat(second).isNotDone();
        loop.advance(MILLISECOND);

        assertThat(second).isCompleted();
    }

    @Test
    void aFutureOfTheEndThatIsCancelledChangesNothing() {
        ZMTPSocket push = push();
        push.closeFuture().cancel(false);
        push.closeAsync(Duration.ZERO).cancel(false);

        loop.run();

        assertThat(push.closeFuture()).isCompleted();
    }

    @Test
    void nobodyJoinsASocketThatIsClosed() {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER).pipelineInitializer(gate));
        router.bind("test://closing");
        loop.run();
        ZMTPSocket first = loop.open(ZMTPSocketConfig.builder(DEALER));
        first.connect("test://closing");
        loop.run();
        gate.close();
        router.peers().iterator().next().sendAsync(message("in the transport"));
        loop.run();
        ZMTPSocket second = loop.open(ZMTPSocketConfig.builder(DEALER));
        second.connect("test://closing");

        CompletableFuture<ZMTPStats> closed = router.closeAsync(LINGER);
        loop.advance(Duration.ofMillis(100));

        assertThat(closed).isNotDone();
        assertThat(router.peers()).hasSize(1);
        gate.open();
        loop.run();
        assertThat(closed).isCompleted();
    }
}
