package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.SlowToClose;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heartbeats while the peer takes little of what we send, or while we do not read what it sends. */
public class HeartbeatBackPressureTest {

    private static final String PING = Hex.of("04 07 04 \"PING\" 00 00");
    private static final String PONG = Hex.of("04 05 04 \"PONG\"");

    private static void pass(EmbeddedChannel channel, long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
    }

    private static void passSeconds(EmbeddedChannel channel, int seconds) {
        for (int i = 0; i < seconds; i++) {
            pass(channel, 1000);
        }
    }

    /** As far as it matters here. */
    public record PeerTcpInfo(long lastAckRecv, int probes, long unacked, int retransmits) {}

    /** A transport that takes as much as a test allows. */
    public static final class SlowChannel extends EmbeddedChannel {
        private PeerTcpInfo tcp = new PeerTcpInfo(0, 0, 0, 0);

        private int takes = Integer.MAX_VALUE;
        private final StringBuilder taken = new StringBuilder();

        /** What the channels of epoll and io_uring have. */
        public PeerTcpInfo tcpInfo() {
            return tcp;
        }

        @Override
        protected void doWrite(ChannelOutboundBuffer in) {
            while (in.current() != null && takes-- > 0) {
                taken.append(ByteBufUtil.hexDump((ByteBuf) in.current()));
                in.remove();
            }
        }

        /** Takes this many buffers of the queue. */
        private void take(int buffers) {
            takes = buffers;
            flush();
            takes = 0;
        }

        /** Takes some bytes of the first buffer, and not the rest of it. */
        private void takePart(int bytes) {
            unsafe().outboundBuffer().removeBytes(bytes);
        }

        private int pings() {
            return taken.toString().split(PING, -1).length - 1;
        }
    }

    private final Recorder<Object> recorder = Recorder.ofAll();
    private final List<SlowChannel> channels = new ArrayList<>();

    @AfterEach
    void release() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    private SlowChannel pushing(ChannelHandler... before) {
        return pushing(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)), before);
    }

    /** Its transport takes nothing until it is to. */
    private SlowChannel pushingInVain() {
        SlowChannel channel = pushing();
        channel.takes = 0;
        return channel;
    }

    private SlowChannel pushing(UnaryOperator<ZMTPCodec.Builder> settings, ChannelHandler... before) {
        SlowChannel channel = new SlowChannel();
        channels.add(channel);
        channel.freezeTime();
        channel.pipeline()
                .addLast(before)
                .addLast(settings.apply(ZMTPCodec.builder().socketType(PUSH)).build(), recorder);
        channel.writeInbound(Hex.buffer(GREETING + ready("PULL")));
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
        return channel;
    }

    /** An SslHandler waits for 3 s until such a peer has taken its close_notify. */
    @Test
    void aDeadPeerIsNotWaitedForAtTheEnd() {
        SlowChannel channel = pushing(new SlowToClose());

        passSeconds(channel, 10);

        assertThat(channel.isOpen()).isFalse();
    }

    private static void push(SlowChannel channel, int messages) {
        for (int i = 0; i < messages; i++) {
            channel.writeAndFlush(ZMTPMessage.fromUTF8("x".repeat(4000)));
        }
    }

    private static InTraffic pingingEachSecond() {
        return InTraffic.as(DEALER).set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)));
    }

    private void assertDead(String text) {
        assertThat(recorder.failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .hasMessageContaining(text)
                        .asInstanceOf(type(ZMTPException.class))
                        .extracting(ZMTPException::code)
                        .isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT));
    }

    // What our own side takes

    @Test
    void bytesThatOurOwnKernelTakesAreNotASignOfLife() {
        SlowChannel channel = pushing();
        pass(channel, 1000);
        for (int millis = 1000; millis < 1900; millis += 100) {
            push(channel, 1);
            pass(channel, 100);
        }
        assertThat(recorder.failures).isEmpty();
        push(channel, 1);
        pass(channel, 100);
        assertDead("1000 ms after our PING");
    }

    @Test
    void aWritabilityFlagOfTheUserIsNotASignOfLife() {
        SlowChannel channel = pushing();
        for (int i = 1; i <= 20; i++) {
            channel.unsafe().outboundBuffer().setUserDefinedWritability(3, i % 2 == 0);
            pass(channel, 100);
        }
        assertDead("1000 ms after our PING");
    }

    @Test
    void aTransportThatWritesShortlyAfterTheFlushIsNotASignOfLife() {
        SlowChannel channel = pushingInVain();
        pass(channel, 1000);
        pass(channel, 1);
        channel.take(Integer.MAX_VALUE);
        pass(channel, 999);
        channel.take(Integer.MAX_VALUE);
        assertThat(recorder.failures).isEmpty();
        pass(channel, 1);
        assertDead("1000 ms after our PING");
    }

    // PINGs in the queue

    @Test
    void aPingIsQueuedThoughTheChannelIsUnwritable() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        assertThat(channel.isWritable()).isFalse();
        pass(channel, 1000);
        channel.take(5);
        assertThat(channel.pings()).isOne();
    }

    @Test
    void atMostOnePingIsInTheQueue() {
        SlowChannel channel =
                pushing(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTimeout(Duration.ZERO));
        channel.takes = 0;
        push(channel, 1);
        for (int second = 0; second < 10; second++) {
            pass(channel, 1000);
        }
        channel.take(Integer.MAX_VALUE);
        assertThat(channel.pings()).isOne();

        channel.takes = Integer.MAX_VALUE;
        pass(channel, 1000);
        assertThat(channel.pings()).isEqualTo(2);
    }

    /** A kernel makes room in steps, and a peer that is slow may take minutes for one of them. */
    @Test
    void aPingThatHasNotLeftIsNoProof() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        passSeconds(channel, 100);
        assertThat(recorder.failures).isEmpty();
        assertThat(channel.isOpen()).isTrue();
    }

    /** The kernels of both sides may hold megabytes that were written before it. */
    @Test
    void aPingThatHasLeftAfterMuchElseIsNoProof() {
        SlowChannel channel = pushing();
        push(channel, 4);
        passSeconds(channel, 100);
        assertThat(recorder.failures).isEmpty();
        assertThat(channel.pings()).isOne();

        channel.writeInbound(Hex.buffer(PONG)); // it has read all of that
        passSeconds(channel, 1);
        assertThat(channel.pings()).isEqualTo(2);
        assertThat(recorder.failures).isEmpty();
        passSeconds(channel, 1);
        assertDead("1000 ms after our PING");
    }

    /** Longer timeouts give a peer the time to read more. */
    @ParameterizedTest(name = "{0} s, {1} bytes before the PING: dead: {2}")
    @CsvSource({"1, 200, true", "1, 300, false", "45, 5700, true", "45, 5800, false"})
    void aPeerThatReadsVeryLittleMayBeTakenForOneThatReadsNothing(int timeout, int bytes, boolean dead) {
        SlowChannel channel = pushing(
                codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTimeout(Duration.ofSeconds(timeout)));
        channel.writeAndFlush(ZMTPMessage.fromUTF8("x".repeat(bytes)));
        passSeconds(channel, 1 + 2 * timeout);
        assertThat(recorder.failures).hasSize(dead ? 1 : 0);
    }

    // What the kernel knows

    @Test
    void aPeerWhoseKernelAcknowledgesNothingIsDead() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        passSeconds(channel, 10);
        assertThat(recorder.failures).isEmpty();
        channel.tcp = new PeerTcpInfo(999, 0, 7, 2);
        passSeconds(channel, 2);
        assertThat(recorder.failures).isEmpty();
        channel.tcp = new PeerTcpInfo(1000, 0, 7, 2);
        passSeconds(channel, 2);
        assertDead("1000 ms without an acknowledgement of what we sent");
    }

    /** Its window is closed, and its kernel says so whenever ours asks. */
    @Test
    void aPeerThatTakesNothingForTenMinutesIsAliveIfItsKernelIs() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        channel.tcp = new PeerTcpInfo(120_000, 1, 0, 0);
        passSeconds(channel, 600);
        assertThat(recorder.failures).isEmpty();
    }

    @Test
    void silenceOfAKernelDoesNotCountWhileWeDoNotRead() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        channel.config().setAutoRead(false);
        channel.tcp = new PeerTcpInfo(120_000, 2, 1, 1);
        passSeconds(channel, 600);
        assertThat(recorder.failures).isEmpty();
    }

    // PINGs while we do not read

    /**
     * A PUSH of libzmq that has written its last messages and closed answers a PING with a reset, which drops what its
     * kernel has not sent yet.
     */
    @Test
    void aPeerThatSendsNoPingsGetsNoneWhileWeDoNotRead() {
        SlowChannel channel = pushing();
        passSeconds(channel, 1);
        channel.writeInbound(Hex.buffer(PONG));
        channel.config().setAutoRead(false);
        passSeconds(channel, 100);
        assertThat(channel.pings()).isOne();

        channel.config().setAutoRead(true);
        passSeconds(channel, 1);
        assertThat(channel.pings()).isEqualTo(2);
        assertThat(recorder.failures).isEmpty();
    }

    @Test
    void aPeerThatSendsPingsGetsThemWhileWeDoNotRead() {
        SlowChannel channel = pushing();
        channel.writeInbound(Hex.buffer(PING));
        channel.config().setAutoRead(false);
        passSeconds(channel, 5);
        assertThat(channel.taken.toString().split(Hex.of("\"PING\" 00 00"), -1)).hasSize(6);
    }

    /** It would end the connection otherwise. */
    @Test
    void aTtlIsKeptWhileWeDoNotRead() {
        SlowChannel channel =
                pushing(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofSeconds(3)));
        channel.config().setAutoRead(false);
        passSeconds(channel, 10);
        assertThat(channel.taken.toString().split(Hex.of("\"PING\" 00 1e"), -1)).hasSize(11);
    }

    /** The answers of a slow peer to the PINGs of a TTL do not show that it has read what was written since. */
    @Test
    void theAnswerToAPingThatAsksAgainIsNotThatToALaterOne() {
        SlowChannel channel =
                pushing(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofSeconds(3)));
        passSeconds(channel, 1);
        channel.writeInbound(Hex.buffer(PONG));
        push(channel, 1);
        passSeconds(channel, 2);
        channel.writeInbound(Hex.buffer(PONG));
        push(channel, 1);
        passSeconds(channel, 1);
        channel.writeInbound(Hex.buffer("04 06 04 \"PONG\" \"a\"")); // what was written before the last is unread
        passSeconds(channel, 100);
        assertThat(recorder.failures).isEmpty();
    }

    @Test
    void theTimeoutIsCountedFromWhenThePingHasLeft() {
        PausableHandler shaper = new PausableHandler();
        SlowChannel channel = pushing(
                codec -> codec.heartbeatInterval(Duration.ofSeconds(10)).heartbeatTimeout(Duration.ofSeconds(2)),
                shaper);
        shaper.pause();
        pass(channel, 10_000);
        pass(channel, 1900);
        shaper.resume();
        pass(channel, 1999);
        assertThat(recorder.failures).isEmpty();
        pass(channel, 1);
        assertDead("2000 ms after our PING");
    }

    @Test
    void aPeerWhoseBytesAHandlerOfOursHoldsBackIsAliveWhileTheyFlow() {
        PausableHandler shaper = new PausableHandler();
        SlowChannel channel = pushing(shaper);
        pass(channel, 1000);
        channel.writeInbound(Hex.buffer("04 05 04 \"PONG\"")); // to a PING of another interval
        shaper.pause();
        push(channel, 20);
        for (int i = 0; i < 20; i++) {
            pass(channel, 500);
            shaper.release(1);
        }
        assertThat(channel.pings()).isOne();
        assertThat(recorder.failures).isEmpty();
        shaper.resume();
        assertThat(channel.pings()).isEqualTo(2);
    }

    @Test
    void aPingThatFailsLeavesNothingBehind() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        pass(channel, 1000);
        channel.pipeline().close();
        channel.runPendingTasks();
        assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1);
        assertThat(recorder.failures).isEmpty();
    }

    /** Keeps writes back, as a traffic shaper does. */
    private static final class PausableHandler extends ChannelOutboundHandlerAdapter {
        private final Queue<Runnable> kept = new ArrayDeque<>();
        private boolean paused;
        private @Nullable ChannelHandlerContext ctx;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (paused) {
                kept.add(() -> ctx.write(msg, promise));
            } else {
                ctx.write(msg, promise);
            }
        }

        private void pause() {
            paused = true;
        }

        private void release(int writes) {
            for (int i = 0; i < writes; i++) {
                kept.remove().run();
            }
            ctx.flush();
        }

        private void resume() {
            paused = false;
            release(kept.size());
        }
    }

    // A peer that reads slowly

    @Test
    void aPeerThatReadsSlowlyIsAliveThoughTheQueueNeverGetsShort() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        for (int i = 0; i < 100; i++) {
            pass(channel, 400);
            push(channel, 1);
            channel.take(1);
            assertThat(channel.isWritable()).isFalse();
        }
        assertThat(recorder.failures).isEmpty();
        assertThat(channel.pings()).isOne();
    }

    @Test
    void aPeerThatReadsALargeMessageSlowlyIsAlive() {
        SlowChannel channel = pushingInVain();
        channel.writeAndFlush(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[1 << 20])));
        channel.take(1); // the header
        for (int i = 0; i < 100; i++) {
            pass(channel, 900);
            channel.takePart(1000);
        }
        assertThat(recorder.failures).isEmpty();
    }

    @Test
    void aPeerThatStopsReadingIsFoundWithinIntervalAndTimeout() {
        SlowChannel channel = pushing(
                codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTimeout(Duration.ofSeconds(5)));
        channel.takes = 0;
        push(channel, 100);
        for (int i = 0; i < 50; i++) {
            pass(channel, 700);
            channel.take(1);
        }
        assertThat(recorder.failures).isEmpty();
        for (int millis = 0; millis < 6200; millis += 100) { // in steps, which make it late
            channel.tcp = new PeerTcpInfo(millis, 0, 3, 1);
            pass(channel, 100);
        }
        assertThat(recorder.failures).hasSize(1);
    }

    @Test
    void aPeerThatStopsReadingAfterOurPingHasLeftIsFoundToo() {
        SlowChannel channel = pushingInVain();
        pass(channel, 900);
        pass(channel, 100);
        pass(channel, 100);
        channel.take(Integer.MAX_VALUE); // the peer's last bytes, our PING among them
        channel.takes = Integer.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            assertThat(recorder.failures).isEmpty();
            push(channel, 1);
            pass(channel, 100);
        }
        assertDead("1000 ms after our PING");
    }

    @Test
    void aPeerIsAliveIfItsQueueIsEmptiedAndFilledAgain() {
        SlowChannel channel = pushingInVain();
        push(channel, 4);
        pass(channel, 1000);
        channel.takes = Integer.MAX_VALUE;
        channel.flush();
        channel.runPendingTasks();
        channel.takes = 0;
        push(channel, 5);
        pass(channel, 1000);
        assertThat(recorder.failures).isEmpty();
    }

    @Test
    void silenceDoesNotCountWhileWeDoNotRead() {
        try (ScriptedPeer peer = pingingEachSecond().start()) {
            peer.channel.config().setAutoRead(false);
            peer.send("00 01 61"); // all that was asked for
            pass(peer.channel, 1000);
            pass(peer.channel, 900);
            peer.channel.read();
            pass(peer.channel, 200);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void aReadPauseThatBeginsWithoutAMessageDoesNotCountAsSilence() {
        try (ScriptedPeer peer = pingingEachSecond().start()) {
            peer.send("04 07 04 \"PING\" 00 05"); // a TTL of half a second
            peer.channel.config().setAutoRead(false);
            for (int second = 0; second < 5; second++) {
                pass(peer.channel, 1000);
            }
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest(name = "off at rest: {0}")
    @ValueSource(booleans = {true, false})
    void turningAutoReadOnRestartsTheTimeout(boolean atRest) {
        ChannelInboundHandlerAdapter user = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.channel().config().setAutoRead(false);
                ctx.fireChannelRead(msg);
            }
        };
        try (ScriptedPeer peer = pingingEachSecond().after(user).start()) {
            if (atRest) {
                peer.channel.config().setAutoRead(false);
            } else {
                peer.send("00 01 61");
            }
            pass(peer.channel, 1000);
            pass(peer.channel, 900);
            peer.channel.config().setAutoRead(true);
            pass(peer.channel, 200);
            assertThat(peer.failures).isEmpty();
            pass(peer.channel, 1000);
            pass(peer.channel, 1000);
            assertThat(peer.failures).hasSize(1);
        }
    }

    @Test
    void turningAutoReadOnRestartsTheTimeoutIfItWasTurnedOffAtTheEndOfARead() {
        ChannelInboundHandlerAdapter user = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                ctx.channel().config().setAutoRead(false);
                ctx.fireChannelReadComplete();
            }
        };
        try (ScriptedPeer peer = pingingEachSecond().after(user).start()) {
            peer.channel.config().setAutoRead(true);
            peer.send("00 01 61");
            pass(peer.channel, 1000);
            pass(peer.channel, 900);
            peer.channel.config().setAutoRead(true);
            pass(peer.channel, 200);
            assertThat(peer.failures).isEmpty();
        }
    }
}
