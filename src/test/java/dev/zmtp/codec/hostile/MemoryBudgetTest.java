package dev.zmtp.codec.hostile;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.command;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.HeapAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.RecordingDecoder;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.SlowToClose;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** What all connections of a budget keep for their peers together is counted, and bounded. */
class MemoryBudgetTest {

    private static final int LIMIT = 1_000_000;

    private static final String PLAIN_GREETING = SIGNATURE + "03 01 \"PLAIN\" 00*15 00 00*31 ";

    private final ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(LIMIT);

    private ScriptedPeer traffic() {
        return InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget).maxFrameLength(LIMIT))
                .start();
    }

    /** A codec whose handshake has not begun. */
    private ZMTPCodec codec() {
        return ZMTPCodec.builder().socketType(DEALER).memoryBudget(budget).build();
    }

    /** What the peer of {@link #traffic} costs for what it announced. */
    private long announced() {
        try (ScriptedPeer peer = traffic()) {
            assertThat(peer.channel.isActive()).isTrue();
            return budget.used();
        }
    }

    /** The header of a frame of {@code length} bytes. */
    private static String header(int flags, int length) {
        return "%02x 00*4 %08x ".formatted(flags | 2, length);
    }

    private static ZMTPException only(List<Throwable> failures) {
        assertThat(failures).hasSize(1);
        return (ZMTPException) failures.get(0);
    }

    @Test
    void aConnectionWithoutAnythingUnfinishedKeepsWhatItsPeerAnnounced() {
        try (ScriptedPeer peer = traffic()) {
            long announced = budget.used();
            assertThat(announced).isPositive().isLessThan(1000);
            peer.send("00 01 61 / 01 01 62 / 00 01 63");
            peer.send(header(0, 10_000) + "00*10000");
            assertThat(budget.used()).isEqualTo(announced);
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void thePartOfABodyThatHasArrivedCountsUntilTheMessageIsComplete() {
        long announced = announced();
        try (ScriptedPeer peer = traffic()) {
            peer.send(header(0, 100_000) + "00*1000");
            assertThat(budget.used() - announced).isBetween(1000L, 2000L);
            peer.send("00*59000");
            assertThat(budget.used() - announced).isEqualTo(100_000);
            peer.send("00*40000");
            assertThat(budget.used()).isEqualTo(announced);
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void theFramesOfAnUnfinishedMessageCountWithTheirOverhead() {
        long announced = announced();
        try (ScriptedPeer peer = traffic()) {
            peer.send("01 01 61 ".repeat(8));
            assertThat(budget.used() - announced).isEqualTo(8 * 133 + 48);
            peer.send("01 01 61 ".repeat(992));
            assertThat(budget.used() - announced).isBetween(3_000L, 10_000L);
            peer.send("00 01 61");
            assertThat(budget.used()).isEqualTo(announced);
        }
    }

    @Test
    void theFramesOfTheNextUnfinishedMessageCountAsMuch() {
        long announced = announced();
        try (ScriptedPeer peer = traffic()) {
            for (int message = 1; message <= 3; message++) {
                peer.send("01 01 61 ".repeat(8));
                assertThat(budget.used() - announced).as("message %d", message).isEqualTo(8 * 133 + 48);
                peer.send("00 01 61");
                assertThat(budget.used()).as("after message %d", message).isEqualTo(announced);
            }
        }
    }

    @Test
    void aMessageThatWasFiredCountsNoMore() {
        long announced = announced();
        List<Long> seen = new ArrayList<>();
        ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget))
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        ctx.flush();
                        seen.add(budget.used() - announced);
                        ctx.fireChannelRead(message);
                    }
                })
                .start();
        try (peer) {
            peer.send(header(1, 44_000) + "00*44000").send("00 01 61");
            assertThat(seen).containsExactly(0L);
        }
    }

    @Test
    void everyPropertyCountsForTheLifeOfTheConnection() {
        String[] properties = new String[200];
        long bytes = 160L + "Socket-TypeROUTER".length();
        for (int i = 0; i < properties.length; i++) {
            properties[i] = i % 2 == 0 ? "X-" + i : "value";
            bytes += properties[i].length();
        }
        try (ScriptedPeer peer = new ScriptedPeer(codec()).send(GREETING + ready("ROUTER", properties))) {
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)).isNotNull();
            assertThat(budget.used()).isEqualTo(100 * 160 + bytes);
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void theIdentityCountsForTheLifeOfTheConnection() {
        long anonymous = announced();
        String identity = "i".repeat(200);
        try (ScriptedPeer peer = new ScriptedPeer(codec()).send(GREETING + ready("REP", "Identity", identity))) {
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)).isNotNull();
            assertThat(budget.used() - anonymous).isEqualTo(160 + "Identity".length() + 200 + 200);
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void anUnfinishedHandshakeCommandCounts() {
        try (ScriptedPeer peer = new ScriptedPeer(codec()).send(GREETING)) {
            assertThat(budget.used()).isZero();
            peer.send("06 00*6 1f 40 00*5000");
            assertThat(budget.used()).isBetween(5_000L, 10_000L);
        }
        assertThat(budget.used()).isZero();
    }

    /** The answer of an authenticator may be long in coming, or never come. */
    @Test
    void propertiesAndTheirCommandCountWhileTheAuthenticatorDecides() {
        CompletableFuture<ZMTPAuthDecision> decision = new CompletableFuture<>();
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(budget)
                .authenticator(request -> decision)
                .build();
        String ready = ready("ROUTER", "X-1", "a".repeat(100));
        long announced = 2L * 160 + "Socket-TypeROUTERX-1".length() + 100;
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(GREETING + ready)) {
            assertThat(budget.used()).isEqualTo(announced + Hex.bytes(ready).length - 2);
            decision.complete(ZMTPAuthDecision.accept("someone"));
            peer.channel.runPendingTasks();
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)).isNotNull();
            assertThat(budget.used()).isEqualTo(announced);
        }
        assertThat(budget.used()).isZero();
    }

    /** A mechanism may keep what it received: a password until the decision, a box until it is opened. */
    @Test
    void everyCommandOfAHandshakeCountsUntilItsEnd() {
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(budget)
                .mechanism(ZMTPPlain.server())
                .authenticator(ZMTPAuthenticator.acceptAll())
                .build();
        String hello = command("05 \"HELLO\" ff 61*255 ff 62*255");
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(PLAIN_GREETING + hello)) {
            assertThat(budget.used()).isEqualTo(6 + 2 * 256);
            peer.send(command("08 \"INITIATE\" 0b \"Socket-Type\" 00000006 \"ROUTER\""));
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)).isNotNull();
            assertThat(budget.used()).isEqualTo(160 + "Socket-TypeROUTER".length());
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void topicsCountUntilTheyAreCancelled() {
        try (ScriptedPeer peer = InTraffic.as(PUB)
                .peer(SUB)
                .set(codec -> codec.memoryBudget(budget))
                .start()) {
            long announced = budget.used();
            peer.send(command("09 \"SUBSCRIBE\" \"topic\""));
            assertThat(budget.used()).isGreaterThan(announced + 64);
            peer.send(command("06 \"CANCEL\" \"topic\""));
            assertThat(budget.used()).isEqualTo(announced);
        }
    }

    @Test
    void heldWritesCountUntilTheyAreSent() {
        try (ScriptedPeer peer = new ScriptedPeer(codec())) {
            peer.channel.write(ZMTPMessage.fromUTF8("a".repeat(5000)));
            assertThat(budget.used()).isBetween(5000L, 5200L);
            peer.channel.flush();
            peer.send(GREETING + ready("ROUTER"));
            assertThat(budget.used()).isLessThan(1000);
        }
    }

    /** A transport whose peer reads only when it is told to. */
    private static final class Socket extends ChannelOutboundHandlerAdapter {
        private boolean peerReads;
        private ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
        private ChannelHandlerContext ctx;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            this.ctx = ctx;
            ctx.channel().config().setAllocator(allocator);
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {
            if (peerReads) {
                ctx.flush();
            }
        }
    }

    private ScriptedPeer traffic(Socket socket) {
        return InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget))
                .before(socket)
                .start();
    }

    private static void write(ScriptedPeer peer, int length) {
        peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a".repeat(length)), peer.channel.voidPromise());
    }

    @Test
    void whatTheTransportHasNotSentCounts() {
        Socket socket = new Socket();
        socket.peerReads = true;
        long announced = announced();
        try (ScriptedPeer peer = traffic(socket)) {
            socket.peerReads = false;
            write(peer, 3000);
            assertThat(budget.used() - announced).isBetween(3000L, 3300L);
            socket.ctx.flush();
            peer.channel.runPendingTasks();
            assertThat(budget.used()).isEqualTo(announced);
        }
    }

    @Test
    void theBuffersOfSmallWritesThatWaitCount() {
        Socket socket = new Socket();
        socket.peerReads = true;
        long announced = announced();
        try (ScriptedPeer peer = traffic(socket)) {
            socket.peerReads = false;
            for (int i = 0; i < 100; i++) {
                write(peer, 1);
            }
            assertThat(budget.used() - announced).isBetween(100 * 200L, 100 * 300L);
            socket.ctx.flush();
            peer.channel.runPendingTasks();
            assertThat(budget.used()).isEqualTo(announced);
        }
    }

    @Test
    void thePromisesOfSmallWritesThatWaitTogetherCount() {
        Socket socket = new Socket();
        socket.peerReads = true;
        long announced = announced();
        try (ScriptedPeer peer = traffic(socket)) {
            socket.peerReads = false;
            for (int i = 0; i < 1_000; i++) {
                peer.channel.write(ZMTPMessage.fromUTF8("a"));
            }
            peer.channel.flush();
            assertThat(budget.used() - announced).isBetween(1_000 * 64L, 1_000 * 90L);
            socket.ctx.flush();
            peer.channel.runPendingTasks();
            assertThat(budget.used()).isEqualTo(announced);
        }
    }

    /** A slow peer takes minutes for it, and would look like one that does not read. */
    @Test
    void aPeerThatIsReadingALargeMessageDoesNotPayForAStranger() {
        Socket socket = new Socket();
        socket.peerReads = true;
        int length = 300_000;
        try (ScriptedPeer reader = traffic(socket);
                ScriptedPeer stranger = traffic();
                ScriptedPeer another = traffic()) {
            socket.peerReads = false;
            write(reader, length);
            ChannelOutboundBuffer transport = reader.channel.unsafe().outboundBuffer();
            transport.addFlush();
            transport.removeBytes(length - 10_000);
            assertThat(budget.used())
                    .as("its buffer is there until all has left")
                    .isGreaterThan(length);

            stranger.send(Hex.bytes(header(0, 700_000) + "00*650000"));
            another.send(Hex.bytes(header(0, 700_000) + "00*100000"));
            run(reader, stranger, another);

            assertThat(reader.channel.isOpen()).isTrue();
            assertThat(stranger.channel.isOpen()).isFalse();
            socket.ctx.flush();
            reader.channel.runPendingTasks();
        }
    }

    @Test
    void eachBacklogIsCountedDownWhenItHasLeft() {
        Socket socket = new Socket();
        socket.peerReads = true;
        long announced = announced();
        try (ScriptedPeer peer = traffic(socket)) {
            for (int backlog = 1; backlog <= 3; backlog++) {
                socket.peerReads = false;
                for (int i = 0; i < 100; i++) {
                    write(peer, 1);
                }
                assertThat(budget.used()).as("backlog %d", backlog).isGreaterThan(announced + 100 * 200L);
                socket.peerReads = true;
                socket.ctx.flush();
                peer.channel.runPendingTasks();
                assertThat(budget.used()).as("after backlog %d", backlog).isEqualTo(announced);
            }
        }
    }

    /** A small write that waits must not keep the buffer for a batch of them. */
    @Test
    void aSmallWriteAfterOnesThatWaitTakesOnlyItsBytes() {
        Noting allocator = new Noting();
        Socket socket = new Socket();
        socket.allocator = allocator;
        socket.peerReads = true;
        try (ScriptedPeer peer = traffic(socket)) {
            socket.peerReads = false;
            allocator.taken.clear();
            write(peer, 8);
            assertThat(allocator.taken).containsExactly(512);
            write(peer, 8);
            assertThat(allocator.taken).containsExactly(512, 512, 10);
            write(peer, 445); // with its header of nine bytes, less than an eighth of the buffer is empty
            assertThat(allocator.taken).containsExactly(512, 512, 10, 512);
        }
    }

    @Test
    void aSmallWriteGoesAsItIsIfThereIsNoMemoryForACopy() {
        Socket socket = new Socket();
        socket.allocator = new HeapAllocator() {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                if (!socket.peerReads && initialCapacity == 10) {
                    throw new OutOfMemoryError("full");
                }
                return super.newHeapBuffer(initialCapacity, maxCapacity);
            }
        };
        socket.peerReads = true;
        try (ScriptedPeer peer = traffic(socket)) {
            peer.received();
            socket.peerReads = false;
            write(peer, 8);
            write(peer, 8);
            socket.ctx.flush();
            assertThat(peer.received()).isEqualTo("00086161616161616161".repeat(2));
        }
    }

    @Test
    void aPeerThatDoesNotReadPaysForItsQueueAndOneThatReadsDoesNot() {
        Socket reading = new Socket();
        Socket mute = new Socket();
        reading.peerReads = true;
        mute.peerReads = true;
        try (ScriptedPeer first = traffic(mute);
                ScriptedPeer second = traffic(reading)) {
            mute.peerReads = false;
            write(second, 600_000);
            reading.peerReads = false;
            write(first, 600_000);
            write(second, 500_000);
            run(first, second);
            assertThat(only(first.failures).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            assertThat(second.failures).isEmpty();
        }
    }

    @Test
    void whatAPeerHasTakenCountsForItOnce() {
        Socket often = new Socket();
        Socket seldom = new Socket();
        often.peerReads = true;
        seldom.peerReads = true;
        try (ScriptedPeer little = traffic(often);
                ScriptedPeer much = traffic(seldom)) {
            for (int i = 0; i < 100; i++) {
                write(little, 10_000); // a megabyte, in a hundred parts
                little.channel.runPendingTasks();
            }
            for (int i = 0; i < 4; i++) {
                write(much, 500_000);
            }
            often.peerReads = false;
            seldom.peerReads = false;
            write(little, 500_000);
            write(much, 550_000);
            run(little, much);
            assertThat(only(little.failures).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            assertThat(much.failures).isEmpty();
        }
    }

    /** All that it took counts for it, and not only what it took first or last. */
    @Test
    void aPeerThatHasTakenMuchIsLessABurdenThanOneThatHasSentLess() {
        for (boolean readerFirst : new boolean[] {true, false}) {
            Socket reading = new Socket();
            Socket mute = new Socket();
            reading.peerReads = true;
            mute.peerReads = true;
            ScriptedPeer one = traffic(readerFirst ? reading : mute);
            ScriptedPeer two = traffic(readerFirst ? mute : reading);
            ScriptedPeer reader = readerFirst ? one : two;
            ScriptedPeer sender = readerFirst ? two : one;
            try (one;
                    two) {
                for (int i = 0; i < 10; i++) {
                    write(reader, 500_000);
                    sender.send(header(0, 100_000) + "00*100000");
                }
                reading.peerReads = false;
                mute.peerReads = false;
                write(reader, 550_000);
                write(sender, 500_000);
                run(one, two);
                assertThat(only(sender.failures).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
                assertThat(reader.failures).isEmpty();
            }
        }
    }

    @Test
    void whatWaitsForItsTurnCounts() {
        ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget).maxFramesPerRead(1))
                .start();
        try (peer) {
            peer.channel.config().setAutoRead(false);
            peer.channel.read();
            long announced = budget.used();
            peer.send("00 01 61 ".repeat(1000));
            assertThat(budget.used() - announced).isEqualTo(2997);
        }
        assertThat(budget.used()).isZero();
    }

    /** Bytes that came with the handshake wait in the codec, where they count, and not with the handler. */
    @Test
    void aHandlerThatDoesNotReadAfterTheHandshakeGetsNothing() {
        ChannelInboundHandlerAdapter waits = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof ZMTPHandshakeSuccess) {
                    ctx.channel().config().setAutoRead(false);
                }
                ctx.fireUserEventTriggered(event);
            }
        };
        ZMTPCodec codec =
                ZMTPCodec.builder().socketType(ROUTER).memoryBudget(budget).build();
        try (ScriptedPeer peer = new ScriptedPeer(codec, waits)) {
            peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER) + "00 01 61 ".repeat(1000));

            assertThat(peer.messages).isEmpty();
            assertThat(budget.used()).isGreaterThan(3000);

            peer.channel.config().setAutoRead(true);
            peer.channel.runPendingTasks();
            assertThat(peer.messages).hasSize(1000);
        }
    }

    /** An SslHandler keeps all that it has encrypted for 3 s, until such a peer has taken its close_notify. */
    @Test
    void aConnectionThatIsEndedForItsMemoryIsClosedAtOnce() {
        try (ScriptedPeer one = behindTls();
                ScriptedPeer two = behindTls()) {
            for (ScriptedPeer each : List.of(one, two)) {
                each.send(header(0, LIMIT - 1) + "00*600000");
            }
            one.channel.runPendingTasks();
            two.channel.runPendingTasks();

            assertThat(List.of(one, two))
                    .anyMatch(peer -> !peer.channel.isOpen())
                    .allMatch(peer -> peer.channel.isOpen() == peer.failures.isEmpty());
        }
    }

    private ScriptedPeer behindTls() {
        return InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget).maxFrameLength(LIMIT))
                .before(new SlowToClose())
                .start();
    }

    /** Notes the size of each buffer. */
    private static final class Noting extends HeapAllocator {
        private final List<Integer> taken = new ArrayList<>();

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            taken.add(initialCapacity);
            return super.newHeapBuffer(initialCapacity, maxCapacity);
        }
    }

    @Test
    void theLimitIsCheckedBeforeMemoryIsTakenForABody() {
        Noting allocator = new Noting();
        ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget).maxFrameLength(LIMIT))
                .allocator(allocator)
                .start();
        try (peer;
                ScriptedPeer other = traffic()) {
            other.send(header(0, 600_000) + "00*500000");
            long others = budget.used();
            peer.send(header(0, 700_000) + "00*200000");
            assertThat(peer.failures).isEmpty();
            peer.send("00*160000");
            ZMTPException failure = only(peer.failures);
            assertThat(failure.code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            assertThat(failure)
                    .hasMessageMatching("memory kept: 7\\d{5} bytes for this connection, 6\\d{5} for all others "
                            + "[(]expected: <= 1000000 for all, the memoryBudget[)].*");
            assertThat(peer.channel.isOpen()).isFalse();
            assertThat(allocator.taken).isNotEmpty().allMatch(length -> length < 700_000);
            assertThat(budget.used()).isLessThan(others);
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void aMessageThatCannotFitIsRefusedAtItsHeader() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget).maxFrameLength(4 * LIMIT))
                .start()) {
            peer.send(header(0, LIMIT + 1));
            ZMTPException failure = only(peer.failures);
            assertThat(failure.code()).isEqualTo(ZMTPException.Code.TOO_LARGE);
            assertThat(failure)
                    .hasMessage("message length: 1000001 (expected: <= 1000000, the memoryBudget), peer embedded");
        }
    }

    /** As a decoder takes it: nothing of it is kept. */
    @Test
    void aFrameThatADecoderTakesAsItArrivesMayBeLargerThanTheBudget() {
        RecordingDecoder decoder = new RecordingDecoder();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec ->
                        codec.memoryBudget(budget).maxFrameLength(4 * LIMIT).decoder(session -> decoder))
                .start()) {
            peer.send(header(0, LIMIT + 1) + "00*100");
            assertThat(peer.failures).isEmpty();
        }
    }

    /** One buffer grows, or is copied to a larger one: it is one frame all the same. */
    @Test
    void aFrameIsCountedOnce() {
        try (ScriptedPeer peer = traffic()) {
            peer.send(header(0, LIMIT - 50_000) + "00*470000");
            peer.send("00*470000");
            assertThat(budget.used()).isBetween(LIMIT - 50_000L, (long) LIMIT);
            peer.send("00*10000");
            assertThat(peer.messages).hasSize(1);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void byDefaultTwoOfTheLongestMessagesFitIntoTheBudget() {
        ZMTPConfig config =
                ZMTPConfig.builder().socketType(DEALER).memoryBudget(budget).build();
        assertThat(config.maxFrameLength()).isEqualTo(LIMIT / 2);
        assertThat(config.maxMessageLength()).isEqualTo(LIMIT / 2);
    }

    @Test
    void aLimitThatTheBudgetDoesNotLetThroughIsWarnedOf() {
        ZMTPConfig.Builder settings =
                ZMTPConfig.builder().socketType(DEALER).memoryBudget(budget).maxMessageLength(LIMIT);
        try (CapturedLog log = new CapturedLog(ZMTPConfig.class.getName())) {
            settings.build();
            assertThat(log.lines).isEmpty();
            settings.maxMessageLength(LIMIT + 1).build();
            assertThat(log.lines)
                    .containsExactly("maxMessageLength: 1000001"
                            + " (expected: <= 1000000, the memoryBudget: a longer message ends its connection)");
        }
    }

    /** It keeps as much as a stranger, but has sent much before. */
    @Test
    void aPeerWithAHistoryDoesNotPayForAStranger() {
        try (ScriptedPeer known = traffic();
                ScriptedPeer stranger = traffic()) {
            for (int i = 0; i < 100; i++) {
                known.send(header(0, 50_000) + "00*50000");
            }
            known.send(header(0, 600_000) + "00*300000");
            stranger.send(header(0, 600_000) + "00*300000");
            run(known, stranger);
            assertThat(only(stranger.failures).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            assertThat(known.failures).isEmpty();
            int before = known.messages.size();
            known.send("00*300000");
            assertThat(known.messages).hasSize(before + 1);
            assertThat(budget.endedConnections()).isEqualTo(1);
        }
        assertThat(budget.used()).isZero();
    }

    /** The flooder has moved less than the other, although what it sent was decoded in many turns. */
    @Test
    void whatWaitsForItsTurnHasMovedOnce() {
        ScriptedPeer flooder = InTraffic.as(DEALER)
                .set(codec -> codec.memoryBudget(budget).maxFrameLength(LIMIT).maxFramesPerRead(100))
                .start();
        try (flooder;
                ScriptedPeer other = traffic()) {
            flooder.send("00 00 ".repeat(30_000));
            other.send(header(0, 200_000) + "00*200000");
            flooder.send(header(0, 600_000) + "00*300000");
            other.send(header(0, 600_000) + "00*300000");
            run(flooder, other);
            assertThat(only(flooder.failures).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            assertThat(other.failures).isEmpty();
        }
    }

    @Test
    void strangersWithUnfinishedMessagesEndEachOtherAndNobodyElse() {
        List<ScriptedPeer> strangers = new ArrayList<>();
        try (ScriptedPeer honest = traffic()) {
            for (int i = 0; i < 100; i++) {
                ScriptedPeer stranger = traffic();
                strangers.add(stranger);
                stranger.send(header(0, 60_000) + "00*59000");
                strangers.forEach(peer -> peer.channel.runPendingTasks());
                assertThat(budget.used()).isLessThanOrEqualTo(LIMIT);
                honest.send("00 01 61");
            }
            assertThat(honest.messages).hasSize(100).containsOnly(message("a"));
            assertThat(honest.failures).isEmpty();
            assertThat(strangers).filteredOn(peer -> peer.channel.isOpen()).hasSizeBetween(10, 17);
            assertThat(strangers)
                    .flatExtracting(peer -> peer.failures)
                    .hasSizeBetween(83, 90)
                    .extracting(failure -> ((ZMTPException) failure).code())
                    .containsOnly(ZMTPException.Code.MEMORY_BUDGET);
        } finally {
            strangers.forEach(ScriptedPeer::close);
        }
        assertThat(budget.used()).isZero();
    }

    /** However little they have moved, and however much the others have. */
    @Test
    void idlePeersDoNotPayForThoseThatKeepMuch() {
        ZMTPMemoryBudget small = ZMTPMemoryBudget.of(30_000);
        List<ScriptedPeer> idle = new ArrayList<>();
        List<ScriptedPeer> busy = new ArrayList<>();
        byte[] whole = Hex.bytes(header(0, 20_000) + "00*20000");
        try {
            for (int i = 0; i < 22; i++) {
                (i < 20 ? idle : busy)
                        .add(InTraffic.as(DEALER)
                                .set(codec -> codec.memoryBudget(small).maxFrameLength(30_000))
                                .start());
            }
            for (ScriptedPeer peer : busy) {
                for (int i = 0; i < 300; i++) {
                    peer.send(whole);
                }
                peer.send(header(0, 14_000) + "00*13000");
            }
            idle.forEach(MemoryBudgetTest::run);
            busy.forEach(MemoryBudgetTest::run);
            assertThat(idle).allMatch(peer -> peer.channel.isOpen());
            assertThat(busy).filteredOn(peer -> peer.channel.isOpen()).hasSize(1);
            assertThat(small.endedConnections()).isEqualTo(1);
        } finally {
            idle.forEach(ScriptedPeer::close);
            busy.forEach(ScriptedPeer::close);
        }
    }

    @Test
    void aHandshakeThatIsEndedForTheBudgetFailsWithIt() {
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(ZMTPMemoryBudget.of(1000))
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("a".repeat(5000)));
            peer.channel.runPendingTasks();
            Throwable cause = peer.onlyEvent(ZMTPHandshakeFailure.class).cause();
            assertThat(((ZMTPException) cause).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            assertThat(write.cause()).isSameAs(cause);
        }
    }

    /** The end of the connection may come between two frames that the application is being given. */
    @Test
    void aConnectionThatIsEndedFiresNothingMore() {
        ZMTPMemoryBudget small = ZMTPMemoryBudget.of(50_000);
        List<Object> read = new ArrayList<>();
        UnaryOperator<ZMTPCodec.Builder> settings =
                codec -> codec.memoryBudget(small).maxFrameLength(50_000);
        ScriptedPeer peer = InTraffic.as(DEALER)
                .set(settings)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        read.add(msg);
                        ctx.fireChannelRead(msg);
                    }
                })
                .start();
        try (peer;
                ScriptedPeer known = InTraffic.as(DEALER).set(settings).start()) {
            for (int i = 0; i < 100; i++) {
                known.send(header(0, 20_000) + "00*20000");
            }
            peer.send(header(1, 40_000) + "00*39000");
            known.send(header(0, 24_000) + "00*20000");
            peer.channel.runPendingTasks();
            assertThat(only(peer.failures).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            peer.send("00*1000 00 01 61");
            assertThat(read).isEmpty();
        }
        assertThat(small.used()).isZero();
    }

    @Test
    void theSharedBudgetIsAQuarterOfTheMemory() {
        assertThat(ZMTPMemoryBudget.shared().limit())
                .isPositive()
                .isLessThanOrEqualTo(Runtime.getRuntime().maxMemory() / 4);
        assertThat(ZMTPConfig.builder().socketType(DEALER).build().memoryBudget())
                .isSameAs(ZMTPMemoryBudget.shared());
    }

    @Test
    void aBudgetOfNothingIsRefused() {
        assertThatThrownBy(() -> ZMTPMemoryBudget.of(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("limit: 0 (expected: >= 1)");
    }

    private static void run(ScriptedPeer... peers) {
        for (ScriptedPeer peer : peers) {
            peer.channel.runPendingTasks();
        }
    }
}
