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
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.SharedInproc;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.Turns;
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

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private int begun;
    private int ended;
    private @Nullable Turns turns;
    private Runnable reads = () -> {};

    @AfterEach
    void close() {
        loop.close();
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
                turns = turns == null ? Turns.of(loop.eventLoop(), () -> ended) : turns;
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

    /** A socket that reaches those of another loop. */
    private static ZMTPSocketConfig.Builder shared(ZMTPSocketType type) {
        return ClockedSockets.with(ZMTPSocketConfig.builder(type), new SharedInproc());
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
    private static void read(ZMTPTestLoop its, ZMTPSocket reader) {
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
        try (ZMTPTestLoop others = ZMTPTestLoop.create()) {
            ZMTPSocket push = loop.open(withFastReader(ofOne(shared(PUSH))));
            push.connect("shared://again");
            loop.run();
            window(() -> push.sendAsync(message("m")));
            ZMTPSocket pull = others.open(shared(PULL));
            pull.onMessage((from, message) -> message.release());
            pull.bind("shared://again");
            reads = () -> read(others, pull);

            for (int i = 0; i < 100; i++) {
                loop.run();
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
        ZMTPSocket push = loop.open(ofOne(ZMTPSocketConfig.builder(PUSH))
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2)));
        push.connect("test://again");
        loop.run();
        window(() -> push.sendAsync(message("m".repeat(10_000))));
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> message.release());
        pull.bind("test://again");

        loop.advance(Duration.ofSeconds(1));

        assertBounded();
        assertThat(push.stats().written()).isEqualTo(MANY);
    }

    /** Then there is nobody to wait for. */
    @Test
    void byAPublisherThatWaitsAndWhoseSubscriberLeaves() {
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(10, 1 << 20));
        pub.bind("inproc://again");
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.subscribe("");
        sub.connect("inproc://again");
        loop.run();
        sub.peers().iterator().next().pauseReading();
        loop.run();
        window(() -> pub.sendAsync(message("m")));
        loop.run();
        assertThat(ended).as("until it is full").isPositive().isLessThan(MANY);

        sub.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofSeconds(1));

        assertBounded();
    }

    /** These complete when they are queued, which may be at once. */
    @ParameterizedTest
    @EnumSource(names = {"PUB", "XSUB"})
    void byOneThatNobodyWaitsFor(ZMTPSocketType type) {
        ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type));
        socket.bind("inproc://again");
        loop.run();

        window(() -> socket.sendAsync(message("m")));
        loop.run();

        assertBounded();
    }

    @ParameterizedTest
    @EnumSource(
            value = OverflowPolicy.class,
            names = {"WAIT", "DROP_NEW", "DROP_OLD", "KEEP_LATEST"})
    void toAPeerThatIsFull(OverflowPolicy policy) {
        ZMTPSocket router = loop.open(
                ZMTPSocketConfig.builder(ROUTER).overflowPolicy(policy).sendQueueLimit(4, 1 << 20));
        router.bind("inproc://again");
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect("inproc://again");
        loop.run();
        dealer.peers().iterator().next().pauseReading();
        loop.run();
        ZMTPPeer peer = router.peers().iterator().next();
        while (peer.stats().dropped() == 0) {
            peer.sendOrDrop(message("fills"));
            loop.run();
        }
        long before = router.stats().dropped();

        window(() -> peer.sendAsync(message("m")));
        loop.run();

        assertBounded();
        assertThat(router.stats().dropped() - before).isEqualTo(begun);
    }

    @Test
    void whenThePlaceInTheLineIsRefused() {
        ZMTPSocket push = loop.open(ofOne(ZMTPSocketConfig.builder(PUSH)).maxWaitingSends(2));
        push.connect("inproc://nobody");
        loop.run();

        window(() -> push.sendAsync(message("m")));
        loop.run();

        assertBounded();
        assertThat(push.stats().dropped()).isEqualTo(ended);
    }

    /** All that the peer was asked fails together. */
    @Test
    void byRequestsWhosePeerLeaves() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER).receiveQueueLimit(MANY, 1 << 30));
        router.bind("inproc://again");
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER).maxOutstandingRequests(MANY));
        dealer.connect("inproc://again");
        loop.run();
        for (int i = 0; i < MANY / 2; i++) {
            sendAgain(() ->
                    dealer.requestAsync(message("?"), TestSockets.PATIENCE).thenAccept(ZMTPMessage::release));
            loop.run();
        }
        assertThat(ended).isZero();

        router.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(ended).isGreaterThanOrEqualTo(MANY / 2);
        assertBounded(turns);
    }

    /** What waits may be more than what one task writes, also if nobody sends again. */
    @ParameterizedTest
    @EnumSource(names = {"PUSH", "ROUTER"})
    void aLongQueueLeavesInSeveralTasks(ZMTPSocketType type) {
        try (ZMTPTestLoop others = ZMTPTestLoop.create()) {
            ZMTPSocket socket = loop.open(withFastReader(shared(type)).sendQueueLimit(2 * MANY, 1 << 30));
            socket.bind("shared://again");
            ZMTPSocket reader = others.open(
                    (type == PUSH ? shared(PULL) : shared(DEALER).codec(codec -> codec.localIdentity("r"))));
            reader.onMessage((from, message) -> message.release());
            reader.connect("shared://again");
            for (int i = 0; i < 10; i++) {
                loop.run();
                others.run();
            }
            reader.peers().iterator().next().pauseReading();
            others.run();
            while (socket.stats().queued() < MANY) {
                socket.sendOrDrop(type == PUSH ? message("m") : message("r", "m"));
                loop.run();
            }
            long before = socket.stats().written();
            reader.peers().iterator().next().resumeReading();
            reads = () -> read(others, reader);
            Turns turns = Turns.of(loop.eventLoop(), () -> socket.stats().written());

            for (int i = 0; i < 100; i++) {
                others.run();
                loop.run();
            }

            assertThat(socket.stats().written() - before).isGreaterThanOrEqualTo(MANY);
            assertBounded(turns);
        }
    }

    /** One that finds no room, and makes some in the same call. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aListenerForRoomIsNotCalledInsideOfItself(int listeners) {
        ZMTPSocket push = loop.open(shared(PUSH));
        push.connect("inproc://nobody");
        loop.run();
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

        loop.run();

        assertThat(deepest[0]).isEqualTo(1);
        assertThat(calls[0]).isGreaterThanOrEqualTo(MANY);
    }
}
