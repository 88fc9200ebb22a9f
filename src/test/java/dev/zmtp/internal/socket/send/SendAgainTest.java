package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.Turns;
import dev.zmtp.testing.VirtualTime;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Applications that send the next message when they hear of the last one: the event loop still does other things. */
@Tag("netty-4.2-only")
class SendAgainTest {

    /** So many messages are sent, each by one that has ended before. */
    private static final int MANY = 5_000;

    /** How many messages are on their way at a time. */
    private static final int WINDOW = 8;

    private final VirtualTime time = new VirtualTime();
    private int begun;
    private int ended;
    private @Nullable Turns turns;
    private Runnable reads = () -> {};

    @AfterEach
    void close() {
        time.close();
    }

    /** Begins so many sends, each of which sends again when it has ended, however it does. */
    private void window(Supplier<CompletableFuture<Void>> send) {
        for (int i = 0; i < WINDOW; i++) {
            sendAgain(send);
        }
    }

    private void sendAgain(Supplier<CompletableFuture<Void>> send) {
        if (begun < MANY) {
            begun++;
            send.get().whenComplete((done, failure) -> {
                turns = turns == null ? Turns.of(time.loop(), () -> ended) : turns;
                ended++;
                sendAgain(send);
            });
        }
    }

    private void assertBounded() {
        assertThat(ended).isGreaterThan(MANY - 2 * WINDOW); // the last ones may wait for room
        assertBounded(turns);
    }

    private static void assertBounded(@Nullable Turns turns) {
        assertThat(turns).isNotNull();
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }

    private static ZMTPSocketConfig.Builder ofOne(ZMTPSocketConfig.Builder config) {
        return config.sendQueueLimit(1, 1);
    }

    /** Each write is flushed, and before the next one {@link #reads} runs: a reader that is as fast as the writer. */
    private ZMTPSocketConfig.Builder withFastReader(ZMTPSocketConfig.Builder config) {
        return config.option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2))
                .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                        reads.run();
                        ctx.write(message, promise);
                    }
                }));
    }

    /** The socket of another event loop reads what there is, as one that is awake. */
    private static void read(VirtualTime its, ZMTPSocket reader) {
        for (ZMTPPeer peer : reader.peers()) {
            PeerHandler link = ((Peer) peer).link();
            if (link != null) {
                link.channel().read();
            }
        }
        its.run();
    }

    @Test
    void toAReaderOfThisProcess() {
        try (VirtualTime others = new VirtualTime()) {
            ZMTPSocket push = time.open(withFastReader(ofOne(ZMTPSocketConfig.builder(PUSH))));
            push.connect("inproc://again");
            time.run();
            window(() -> push.sendAsync(message("m")));
            ZMTPSocket pull = others.open(ZMTPSocketConfig.builder(PULL));
            pull.onMessage((from, message) -> message.release());
            pull.bind("inproc://again");
            reads = () -> read(others, pull);

            for (int i = 0; i < 100; i++) {
                time.run();
                others.run();
            }

            assertBounded();
            assertThat(push.stats().sent()).isEqualTo(MANY);
            assertThat(push.stats().written()).isEqualTo(MANY);
        }
    }

    /** With these water marks each write is flushed, and the reader has it, before the write returns. */
    @Test
    void toAReaderThatMakesRoomInTheMiddleOfAWrite() {
        ZMTPSocket push = time.open(ofOne(ZMTPSocketConfig.builder(PUSH))
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2)));
        push.connect("local://again");
        time.run();
        window(() -> push.sendAsync(message("m".repeat(10_000))));
        ZMTPSocket pull = time.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> message.release());
        pull.bind("local://again");

        time.pass(Duration.ofSeconds(1));

        assertBounded();
        assertThat(push.stats().written()).isEqualTo(MANY);
    }

    /** Then there is nobody to wait for. */
    @Test
    void byAPublisherThatWaitsAndWhoseSubscriberLeaves() {
        ZMTPSocket pub = time.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(10, 1 << 20));
        pub.bind("inproc://again");
        ZMTPSocket sub = time.open(ZMTPSocketConfig.builder(SUB));
        sub.subscribe("");
        sub.connect("inproc://again");
        time.run();
        sub.peers().iterator().next().pauseReading();
        time.run();
        window(() -> pub.sendAsync(message("m")));
        time.run();
        assertThat(ended).as("until it is full").isPositive().isLessThan(MANY);

        sub.closeAsync(Duration.ZERO);
        time.pass(Duration.ofSeconds(1));

        assertBounded();
    }

    /** These complete when they are queued, which may be at once. */
    @ParameterizedTest
    @EnumSource(names = {"PUB", "XSUB"})
    void byOneThatNobodyWaitsFor(ZMTPSocketType type) {
        ZMTPSocket socket = time.open(ZMTPSocketConfig.builder(type));
        socket.bind("inproc://again");
        time.run();

        window(() -> socket.sendAsync(message("m")));
        time.run();

        assertBounded();
    }

    @ParameterizedTest
    @EnumSource(
            value = OverflowPolicy.class,
            names = {"WAIT", "DROP_NEW", "DROP_OLD", "KEEP_LATEST"})
    void toAPeerThatIsFull(OverflowPolicy policy) {
        ZMTPSocket router = time.open(
                ZMTPSocketConfig.builder(ROUTER).overflowPolicy(policy).sendQueueLimit(4, 1 << 20));
        router.bind("inproc://again");
        ZMTPSocket dealer = time.open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect("inproc://again");
        time.run();
        dealer.peers().iterator().next().pauseReading();
        time.run();
        ZMTPPeer peer = router.peers().iterator().next();
        while (peer.stats().dropped() == 0) {
            peer.sendOrDrop(message("fills"));
            time.run();
        }
        long before = router.stats().dropped();

        window(() -> peer.sendAsync(message("m")));
        time.run();

        assertBounded();
        assertThat(router.stats().dropped() - before).isEqualTo(begun);
    }

    @Test
    void whenThePlaceInTheLineIsRefused() {
        ZMTPSocket push = time.open(ofOne(ZMTPSocketConfig.builder(PUSH)).maxWaitingSends(2));
        push.connect("inproc://nobody");
        time.run();

        window(() -> push.sendAsync(message("m")));
        time.run();

        assertBounded();
        assertThat(push.stats().dropped()).isEqualTo(ended);
    }

    /** All that the peer was asked fails together. */
    @Test
    void byRequestsWhosePeerLeaves() {
        ZMTPSocket router = time.open(ZMTPSocketConfig.builder(ROUTER).receiveQueueLimit(MANY, 1 << 30));
        router.bind("inproc://again");
        ZMTPSocket dealer = time.open(ZMTPSocketConfig.builder(DEALER).maxOutstandingRequests(MANY));
        dealer.connect("inproc://again");
        time.run();
        for (int i = 0; i < MANY / 2; i++) {
            sendAgain(() ->
                    dealer.requestAsync(message("?"), TestSockets.PATIENCE).thenAccept(ZMTPMessage::release));
            time.run();
        }
        assertThat(ended).isZero();

        router.closeAsync(Duration.ZERO);
        time.run();

        assertThat(ended).isGreaterThanOrEqualTo(MANY / 2);
        assertBounded(turns);
    }

    /** What waits may be more than what one task writes, also if nobody sends again. */
    @ParameterizedTest
    @EnumSource(names = {"PUSH", "ROUTER"})
    void aLongQueueLeavesInSeveralTasks(ZMTPSocketType type) {
        try (VirtualTime others = new VirtualTime()) {
            ZMTPSocket socket =
                    time.open(withFastReader(ZMTPSocketConfig.builder(type)).sendQueueLimit(2 * MANY, 1 << 30));
            socket.bind("inproc://again");
            ZMTPSocket reader = others.open(
                    (type == PUSH
                            ? ZMTPSocketConfig.builder(PULL)
                            : ZMTPSocketConfig.builder(DEALER).codec(codec -> codec.localIdentity("r"))));
            reader.onMessage((from, message) -> message.release());
            reader.connect("inproc://again");
            for (int i = 0; i < 10; i++) {
                time.run();
                others.run();
            }
            reader.peers().iterator().next().pauseReading();
            others.run();
            while (socket.stats().queued() < MANY) {
                socket.sendOrDrop(type == PUSH ? message("m") : message("r", "m"));
                time.run();
            }
            long before = socket.stats().written();
            reader.peers().iterator().next().resumeReading();
            reads = () -> read(others, reader);
            Turns turns = Turns.of(time.loop(), () -> socket.stats().written());

            for (int i = 0; i < 100; i++) {
                others.run();
                time.run();
            }

            assertThat(socket.stats().written() - before).isGreaterThanOrEqualTo(MANY);
            assertBounded(turns);
        }
    }

    /** One that finds no room, and makes some in the same call. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aListenerForRoomIsNotCalledInsideOfItself(int listeners) {
        ZMTPSocket push = time.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://nobody");
        time.run();
        Senders senders = ClockedSockets.core(push).senders();
        int[] depth = {0};
        int[] deepest = {0};
        int[] calls = {0};
        for (int i = 0; i < listeners; i++) {
            push.onWritable(() -> {
                depth[0]++;
                deepest[0] = Math.max(deepest[0], depth[0]);
                if (++calls[0] < MANY) {
                    senders.writability().missed();
                    senders.capacityFreed();
                }
                depth[0]--;
            });
        }

        time.run();

        assertThat(deepest[0]).isEqualTo(1);
        assertThat(calls[0]).isGreaterThanOrEqualTo(MANY);
    }
}
