package dev.zmtp.internal.write;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.reset;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.CodecClock;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ReadingTransport;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The flushes of one turn of the event loop leave together, the first one at once, and none is forgotten. */
class FlushWindowTest {

    /** Sends what is flushed. */
    private static final class Transport extends ReadingTransport {
        /** What left with each flush, but for empty ones. */
        private final List<String> sent = new ArrayList<>();

        private final List<ChannelPromise> promises = new ArrayList<>();
        private final StringBuilder unflushed = new StringBuilder();

        /** As with a real channel, a close is not complete when it returns. */
        private boolean isSlowToClose;

        /** What a handler does that hears of writability, once. */
        private Runnable afterFlush = () -> {};

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ByteBuf bytes = (ByteBuf) msg;
            unflushed.append(Hex.dump(bytes)); // which releases them
            promises.add(promise);
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {
            flush();
        }

        @Override
        public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
            if (!isSlowToClose) {
                ctx.close(promise);
            }
        }

        void flush() {
            if (!unflushed.isEmpty()) {
                sent.add(unflushed.toString());
                unflushed.setLength(0);
            }
            List<ChannelPromise> done = List.copyOf(promises);
            promises.clear();
            done.forEach(ChannelPromise::setSuccess);
            Runnable callback = afterFlush;
            afterFlush = () -> {};
            callback.run();
        }

        /** The lengths of what left with each flush, in bytes. */
        List<Integer> lengths() {
            return sent.stream().map(hex -> hex.length() / 2).toList();
        }
    }

    /** Sends back what it receives, and flushes each. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }

    private final Transport transport = new Transport();

    // Of a turn by itself.
    private final TrafficWriter writer = mock(TrafficWriter.class);
    private final EventExecutor executor = mock(EventExecutor.class);
    private long nanos = Long.MAX_VALUE - 600_000; // the clock overflows in the middle of a test

    private ScriptedPeer traffic() {
        return started(connection());
    }

    private InTraffic connection() {
        return InTraffic.as(DEALER).set(this::clock);
    }

    private ZMTPCodec.Builder clock(ZMTPCodec.Builder codec) {
        return CodecClock.set(codec, () -> nanos);
    }

    private ScriptedPeer started(InTraffic connection) {
        ScriptedPeer peer = connection.before(transport).start();
        peer.channel.runPendingTasks();
        transport.sent.clear();
        return peer;
    }

    private static ChannelFuture send(ScriptedPeer peer, String message) {
        return peer.channel.pipeline().writeAndFlush(ZMTPMessage.fromUTF8(message));
    }

    private static ChannelFuture send(ScriptedPeer peer, int length) {
        return peer.channel.pipeline().writeAndFlush(ZMTPMessage.from(Hex.buffer("61*" + length)));
    }

    /** The bytes of messages of one character each. */
    private static String m(String messages) {
        StringBuilder hex = new StringBuilder();
        messages.chars().forEach(each -> hex.append("0001%02x".formatted(each)));
        return hex.toString();
    }

    @Test
    void theFirstFlushLeavesAtOnce() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            assertThat(transport.sent).containsExactly(m("a"));
        }
    }

    @Test
    void thoseAfterItLeaveTogether() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            send(peer, "b");
            send(peer, "c");
            send(peer, "d");
            assertThat(transport.sent).containsExactly(m("a"));
            peer.channel.runPendingTasks();
            assertThat(transport.sent).containsExactly(m("a"), m("bcd"));
        }
    }

    @Test
    void messagesThatAreEncodedOnceLeaveTogetherToo() {
        try (ScriptedPeer peer = traffic()) {
            for (int i = 0; i < 4; i++) {
                peer.channel.pipeline().writeAndFlush(ZMTPMessage.fromUTF8("a").encodeOnce());
            }
            assertThat(transport.sent).containsExactly(m("a"));
            peer.channel.runPendingTasks();
            assertThat(transport.sent).containsExactly(m("a"), m("aaa"));
        }
    }

    @Test
    void theFirstFlushOfTheNextTurnLeavesAtOnceAgain() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            send(peer, "b");
            peer.channel.runPendingTasks();
            send(peer, "c");
            assertThat(transport.sent).containsExactly(m("a"), m("b"), m("c"));
        }
    }

    @Test
    void aPromiseCompletesWhenItsMessageHasLeft() {
        try (ScriptedPeer peer = traffic()) {
            ChannelFuture first = send(peer, "a");
            ChannelFuture second = send(peer, "b");
            assertThat(first.isSuccess()).isTrue();
            assertThat(second.isDone()).isFalse();
            peer.channel.runPendingTasks();
            assertThat(second.isSuccess()).isTrue();
        }
    }

    @Test
    void whatWaitsLeavesWhenWhatWasReadIsDecoded() {
        try (ScriptedPeer peer = started(connection().after(new Echo()))) {
            transport.read(m("abc"));
            assertThat(transport.sent).containsExactly(m("a"), m("bc"));
            transport.read(m("de"));
            assertThat(transport.sent).containsExactly(m("a"), m("bc"), m("de"));
            assertThat(peer.failures).isEmpty();
        }
    }

    /** Takes its time with each message; answers as long as there are {@code answers} left. */
    private final class SlowHandler extends ChannelInboundHandlerAdapter {
        private final long takes;
        private int answers;
        private int slowAfter = Integer.MAX_VALUE;

        SlowHandler(long nanos, int answers) {
            this.takes = nanos;
            this.answers = answers;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (answers > 0) {
                answers--;
                ctx.writeAndFlush(msg);
            } else {
                ((ZMTPMessage) msg).release();
            }
            atNextMessage.add(List.copyOf(transport.sent));
            nanos += atNextMessage.size() > slowAfter ? 10_000_000 : takes;
        }
    }

    /** What had left when a message was handled. */
    private final List<List<String>> atNextMessage = new ArrayList<>();

    @Test
    void anAnswerHalfAMillisecondAfterTheOneBeforeLeavesAtOnce() {
        try (ScriptedPeer peer = started(connection().after(new SlowHandler(500_001, 5)))) {
            transport.read(m("abcde"));
            assertThat(atNextMessage.get(4)).containsExactly(m("a"), m("b"), m("c"), m("d"), m("e"));
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void answersWithinHalfAMillisecondLeaveTogether() {
        try (ScriptedPeer peer = started(connection().after(new SlowHandler(100_000, 5)))) {
            transport.read(m("abcde"));
            assertThat(atNextMessage.get(4)).containsExactly(m("a"));
            assertThat(transport.sent).containsExactly(m("a"), m("bcde"));
            assertThat(peer.failures).isEmpty();
        }
    }

    /** The flush fails, or what it tells a handler has it close: the rest of a message is not another one. */
    @Test
    void aFlushBetweenTheFramesOfAMessageMayEndTheConnection() {
        ChannelInboundHandlerAdapter closesSoon = new ChannelInboundHandlerAdapter() {
            private int handled;

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                handled++;
                if (handled < 3) {
                    ctx.writeAndFlush(msg);
                    transport.afterFlush = ctx::close;
                } else {
                    ctx.fireChannelRead(msg);
                }
            }
        };
        InTraffic connection = InTraffic.as(DEALER)
                .set(codec -> CodecClock.set(codec, () -> nanos += 300_000))
                .after(closesSoon);
        try (ScriptedPeer peer = started(connection)) {
            transport.isSlowToClose = true;
            transport.read(m("ab") + "01 01 63 / 00 01 64");
            assertThat(transport.sent).containsExactly(m("a"), m("b"));
            assertThat(peer.messages).isEmpty();
            transport.isSlowToClose = false;
        }
    }

    @Test
    void anAnswerWaitsForSevenMoreAtMostIfTheHandlerBecomesSlow() {
        SlowHandler handler = new SlowHandler(0, 100);
        try (ScriptedPeer peer = started(connection().after(handler))) {
            handler.slowAfter = 10;
            transport.read(m("abcdefghijklmnopqrst"));
            int left = IntStream.range(0, 20)
                    .filter(i -> atNextMessage.get(i).size() > 1)
                    .findFirst()
                    .orElseThrow();
            assertThat(left).isBetween(10, 17);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void anAnswerThatWaitsDoesNotWaitForAllThatIsHandledAfterIt() {
        try (ScriptedPeer peer = started(connection().after(new SlowHandler(200_000, 2)))) {
            transport.read(m("abcdef"));
            // c begins 0.4 ms after the flush of a, d begins after 0.6 ms.
            assertThat(atNextMessage.get(2)).containsExactly(m("a"));
            assertThat(atNextMessage.get(3)).containsExactly(m("a"), m("b"));
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void whatWaitsLeavesBeforeAFailure() {
        try (ScriptedPeer peer = started(connection().after(new Echo()))) {
            transport.read(m("ab") + "0500");
            assertThat(peer.failures).hasSize(1);
            assertThat(transport.sent).containsExactly(m("a"), m("b"));
        }
    }

    @Test
    void aFullBatchLeavesAtOnceIfAFlushWaits() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            for (int i = 0; i < 300; i++) {
                send(peer, 1_000); // 1,009 with its header
            }
            assertThat(transport.lengths().get(0)).isEqualTo(3);
            assertThat(transport.lengths()).hasSizeLessThan(20).endsWith(64 * 1_009);
            peer.channel.runPendingTasks();
            assertThat(String.join("", transport.sent))
                    .isEqualTo(m("a") + Hex.of("02 00*6 03 e8 61*1000 ".repeat(300)));
        }
    }

    @Test
    void aFullBatchDoesNotLeaveBeforeAFlush() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            for (int i = 0; i < 300; i++) {
                peer.channel.pipeline().write(ZMTPMessage.from(Hex.buffer("61*1000")));
            }
            assertThat(transport.lengths()).containsExactly(3);
        }
    }

    @Test
    void aLargeBodyLeavesAtOnce() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            send(peer, 100_000);
            assertThat(transport.lengths()).containsExactly(3, 100_009);
        }
    }

    @Test
    void whatWaitsLeavesBeforeTheHeaderOfALargeBody() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            send(peer, "b");
            peer.channel.pipeline().write(ZMTPMessage.from(Hex.buffer("61*100000")));
            assertThat(transport.sent).containsExactly(m("a"), Hex.of(m("b") + "02 00*5 01 86 a0"));
        }
    }

    @Test
    void aBarrierLeavesAtOnce() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            send(peer, "b");
            ChannelFuture barrier = peer.channel.pipeline().writeAndFlush(Unpooled.EMPTY_BUFFER);
            assertThat(barrier.isSuccess()).isTrue();
            assertThat(transport.sent).containsExactly(m("a"), m("b"));
        }
    }

    @Test
    void aReadThatIsCompleteInTheMiddleOfAMessageSendsAfterIt() {
        ZMTPEncoder encoder = new ZMTPEncoder() {
            @Override
            public void estimate(Object message, ZMTPEstimator estimator) {
                estimator.frame(1);
            }

            @Override
            public void encode(Object message, ZMTPWriter writer) {
                ByteBuf out = writer.frame(1, false);
                transport.readComplete();
                out.writeByte((char) message);
            }

            @Override
            public void close() {}
        };
        try (ScriptedPeer peer =
                started(InTraffic.as(DEALER).set(codec -> clock(codec).encoder(session -> encoder)))) {
            peer.channel.pipeline().writeAndFlush('a');
            peer.channel.pipeline().writeAndFlush('b');
            peer.channel.pipeline().write('c');
            peer.channel.runPendingTasks();
            assertThat(transport.sent).containsExactly(m("a"), m("bc"));
        }
    }

    @Test
    void whatWaitsLeavesBeforeTheChannelIsClosed() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            ChannelFuture second = send(peer, "b");
            peer.channel.pipeline().close();
            assertThat(transport.sent).containsExactly(m("a"), m("b"));
            assertThat(second.isSuccess()).isTrue();
        }
    }

    @Test
    void whatWasNotFlushedDoesNotLeaveWhenTheChannelIsClosed() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            peer.channel.pipeline().write(ZMTPMessage.fromUTF8("b"));
            peer.channel.pipeline().close();
            assertThat(transport.sent).containsExactly(m("a"));
            transport.flush();
        }
    }

    /** As a sender does that goes on when the channel is writable again: Netty tells it from inside the flush. */
    @Test
    void whatIsWrittenAndFlushedFromInsideADeferredFlushLeaves() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            send(peer, "b");
            transport.afterFlush = () -> send(peer, "c");
            peer.channel.runPendingTasks();
            assertThat(transport.sent).containsExactly(m("a"), m("b"), m("c"));
        }
    }

    @Test
    void whatWaitsLeavesWhenTheCodecIsRemoved() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            send(peer, "b");
            peer.channel.pipeline().remove("codec");
            assertThat(transport.sent).containsExactly(m("a"), m("b"));
        }
    }

    @Test
    void eachFlushLeavesAtOnceIfTheyAreNotConsolidated() {
        try (ScriptedPeer peer = started(InTraffic.as(DEALER).set(codec -> codec.consolidateFlushes(false)))) {
            send(peer, "a");
            send(peer, "b");
            send(peer, "c");
            assertThat(transport.sent).containsExactly(m("a"), m("b"), m("c"));
            assertThat(peer.channel.hasPendingTasks()).isFalse();
        }
    }

    @Test
    void anIdleConnectionHasNoTask() {
        try (ScriptedPeer peer = traffic()) {
            send(peer, "a");
            peer.channel.runPendingTasks();
            assertThat(peer.channel.hasPendingTasks()).isFalse();
        }
    }

    /** A turn in which a flush waits, and more is written in each round. */
    private FlushWindow waiting() {
        FlushWindow turn = new FlushWindow(writer, executor, true, () -> nanos);
        turn.flushed();
        assertThat(turn.defer()).isTrue();
        AtomicInteger length = new AtomicInteger();
        when(writer.length()).thenAnswer(call -> length.incrementAndGet());
        return turn;
    }

    @Test
    void aFlushWaitsForSixteenRoundsInWhichMoreIsWritten() {
        assertFlushesTwice(waiting(), 16);
    }

    @Test
    void aFlushDoesNotWaitAfterARoundInWhichNothingIsWritten() {
        FlushWindow turn = waiting();
        reset(writer);
        when(writer.length()).thenReturn(100);
        assertFlushesTwice(turn, 1);
    }

    private void assertFlushesTwice(FlushWindow turn, int roundsOfWaiting) {
        for (int flush = 0; flush < 2; flush++) {
            for (int i = 0; i < roundsOfWaiting; i++) {
                turn.run();
            }
            verify(writer, times(flush)).flushWaiting();
            turn.run();
            verify(writer, times(flush + 1)).flushWaiting();
            turn.flushed();
            turn.defer();
        }
    }

    @Test
    void aFlushWaitsForNoRoundThatBeginsHalfAMillisecondAfterTheOneBefore() {
        FlushWindow turn = waiting();
        nanos += 500_000;
        turn.run();
        verify(writer, never()).flushWaiting();
        nanos++;
        turn.run();
        verify(writer).flushWaiting();
    }

    @Test
    void theHalfMillisecondBeginsAgainWithAFlushThatLeavesInAnOpenTurn() {
        FlushWindow turn = waiting();
        nanos += 400_000;
        turn.flushed(); // a full batch
        assertThat(turn.defer()).isTrue();
        nanos += 400_000;
        turn.run();
        verify(writer, never()).flushWaiting();
    }

    @Test
    void aLongRoundEndsTheTurn() {
        FlushWindow turn = new FlushWindow(writer, executor, true, () -> nanos);
        turn.flushed();
        nanos += 500_001;
        turn.run();
        assertThat(turn.defer()).isFalse();
    }

    @Test
    void aTurnLastsForARoundWithoutAFlushAfterTheLastOneWithOne() {
        FlushWindow turn = new FlushWindow(writer, executor, true, () -> nanos);
        turn.flushed();
        turn.run();
        assertThat(turn.isOpen()).isTrue();
        turn.run();
        assertThat(turn.isOpen()).isFalse();
        verify(executor, times(2)).execute(turn);
    }

    @Test
    void whatWaitsLeavesIfTheEventLoopTakesNoMoreTasks() {
        FlushWindow turn = waiting();
        doThrow(new RejectedExecutionException()).when(executor).execute(turn);
        turn.run();
        verify(writer).flushWaiting();
    }
}
