package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The process of a peer is stopped, with SIGSTOP, and goes on. */
@Tag("slow")
@Tag("netty-4.2-only") // long, and the same with any version of Netty
class StoppedPeerIT {

    private static final int FAST = 9;

    /** More than the kernel and the queue of the stopped one have room for. */
    private static final int MESSAGES = 12_000;

    private static final int ROUND = 100;
    private static final String BODY = "b".repeat(1_000);

    private static SocketProcess start(SocketPeerKind kind, Binder binder, ZMTPSocketType theirs, ZMTPSocket ours)
            throws Exception {
        if (binder == Binder.WE) {
            return SocketProcess.connecting(kind, Map.of(theirs, TestSockets.bind(ours, SocketProcess.ANY_PORT)));
        }
        SocketProcess process = SocketProcess.binding(kind, theirs);
        ours.connect(process.endpoint(theirs));
        return process;
    }

    /** T35. */
    @Tag("T35")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void isTakenForDeadAndLivesAgain(SocketPeerKind kind, Binder binder, TestSockets sockets) throws Exception {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        ZMTPSocket dealer = sockets.open(ZMTPSocketConfig.builder(DEALER)
                .codec(codec -> codec.heartbeatInterval(Duration.ofMillis(200)).heartbeatTimeout(Duration.ofSeconds(1)))
                .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new PongSeen(answered)))
                .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(100)));
        try (SocketProcess echo = start(kind, binder, ROUTER, dealer)) {
            askUntilAnswered(dealer);
            get(answered); // a peer of ZMTP 3.0 that has not answered a PING may be one that never does
            TestSockets.Events events = TestSockets.events(dealer);

            echo.stop();
            CompletableFuture<ZMTPMessage> lost =
                    dealer.requestAsync(TestSockets.message("lost"), TestSockets.PATIENCE);
            ZMTPSocketEvent.PeerDown down = events.next(ZMTPSocketEvent.PeerDown.class);

            assertThat(down.cause()).isInstanceOf(ZMTPException.class);
            assertThat(((ZMTPException) down.cause()).code()).isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT);
            assertThat(TestSockets.reason(lost)).isEqualTo(ZMTPSocketException.Reason.PEER_DOWN);

            echo.resume();
            events.next(ZMTPSocketEvent.PeerUp.class);
            askUntilAnswered(dealer);
        }
    }

    /** Sees the answer to a PING. */
    private static final class PongSeen extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Void> seen;

        PongSeen(CompletableFuture<Void> seen) {
            this.seen = seen;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (((ByteBuf) msg).toString(StandardCharsets.ISO_8859_1).contains("PONG")) {
                seen.complete(null);
            }
            ctx.fireChannelRead(msg);
        }
    }

    /** Until a heartbeat that is late on a busy machine does not get in the way. */
    static void askUntilAnswered(ZMTPSocket dealer) throws InterruptedException {
        long deadline = Patience.deadline();
        while (true) {
            try {
                ZMTPMessage answer = dealer.requestAsync(TestSockets.message("question"), Duration.ofSeconds(5))
                        .get();
                assertThat(TestSockets.frames(answer)).containsExactly("question");
                return;
            } catch (ExecutionException e) {
                if (Patience.isOver(deadline)) {
                    throw new AssertionError("answer: none within " + Patience.LIMIT, e);
                }
            }
        }
    }

    /** T31 and T32. */
    @Tag("T31")
    @Tag("T32")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void missesWhatWasDroppedForItAloneAndCatchesUp(SocketPeerKind kind, Binder binder, TestSockets sockets)
            throws Exception {
        ZMTPSocket publisher = sockets.open(
                ZMTPSocketConfig.builder(PUB).reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(100)));
        try (SocketProcess theirs = start(kind, binder, SUB, publisher)) {
            get(publisher.whenPeers(1));
            ZMTPPeer stopped = TestSockets.peer(publisher);
            List<AtomicInteger> fast = new ArrayList<>();
            for (int i = 0; i < FAST; i++) {
                fast.add(subscribe(sockets, publisher, binder));
            }
            get(publisher.whenPeers(1 + FAST));
            TestSockets.Events events = TestSockets.events(publisher);

            theirs.stop();
            publish(publisher, fast, 0, MESSAGES);

            assertThat(stopped.stats().dropped()).isPositive();
            assertThat(publisher.peers())
                    .filteredOn(peer -> peer.stats().dropped() > 0)
                    .containsExactly(stopped);
            List<ZMTPSocketEvent> reported = events.drain();
            assertThat(reported).anyMatch(ZMTPSocketEvent.SlowPeer.class::isInstance);
            assertThat(reported)
                    .filteredOn(ZMTPSocketEvent.Dropped.class::isInstance)
                    .isNotEmpty()
                    .allMatch(dropped -> ((ZMTPSocketEvent.Dropped) dropped).peer() == stopped);

            theirs.resume();
            TestSockets.await(
                    "what waits for the stopped one", () -> stopped.stats().queued() == 0);
            long dropped = stopped.stats().dropped();
            publish(publisher, fast, MESSAGES, MESSAGES + ROUND);

            assertThat(stopped.stats().dropped()).isEqualTo(dropped);
            assertThat(linesOf(theirs, MESSAGES + ROUND - (int) dropped)).isEqualTo(withGap(MESSAGES - (int) dropped));
        }
    }

    /** One of ours that reads; returns how many messages it has received, all that were sent so far. */
    private static AtomicInteger subscribe(TestSockets sockets, ZMTPSocket publisher, Binder binder) {
        AtomicInteger received = new AtomicInteger();
        ZMTPSocket subscriber = sockets.open(SUB);
        subscriber.onMessage((from, message) -> {
            if (TestSockets.frames(message).get(0).equals(Integer.toString(received.get()))) {
                received.getAndIncrement(); // otherwise it has missed one, and stays at this number
            }
        });
        subscriber.subscribe("");
        if (binder == Binder.WE) {
            subscriber.connect(
                    get(publisher.bind(SocketProcess.ANY_PORT).readyFuture()).text());
        } else {
            publisher.connect(TestSockets.bind(subscriber, SocketProcess.ANY_PORT));
        }
        return received;
    }

    /** As fast as the fast ones read: they are not to miss a message because the machine is busy. */
    private static void publish(ZMTPSocket publisher, List<AtomicInteger> fast, int from, int to) {
        for (int i = from; i < to; i++) {
            get(publisher.sendAsync(TestSockets.message(Integer.toString(i), BODY)));
            int sent = i + 1;
            if (sent % ROUND == 0) {
                TestSockets.await(
                        sent + " messages at each that reads",
                        () -> fast.stream().allMatch(received -> received.get() == sent));
            }
        }
    }

    private static List<String> linesOf(SocketProcess theirs, int lines) throws InterruptedException {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            all.add(theirs.next(SUB));
        }
        return all;
    }

    /** The first messages, and the last round. */
    private static List<String> withGap(int first) {
        return IntStream.concat(IntStream.range(0, first), IntStream.range(MESSAGES, MESSAGES + ROUND))
                .mapToObj(i -> i + " #" + BODY.length())
                .toList();
    }
}
