package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heartbeats while the peer takes little of what we send, or while we do not read what it sends. */
class HeartbeatBackPressureTest {

    private static void pass(EmbeddedChannel channel, long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
    }

    @Test
    void aPingThatBecomesPossibleDuringAWriteFollowsIt() {
        boolean[] flushes = new boolean[1];
        ChannelOutboundHandlerAdapter eager = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ctx.write(msg, promise);
                if (flushes[0]) {
                    ctx.flush(); // the queue is empty, and the channel writable, during a write
                }
            }
        };
        try (ScriptedPeer peer = InTraffic.as(PUSH)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .before(eager)
                .start()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            peer.channel.write(ZMTPMessage.fromUTF8("x".repeat(8000)));
            pass(peer.channel, 1000);
            assertThat(peer.channel.isWritable()).isFalse(); // so no PING was added to the queue

            flushes[0] = true;
            peer.channel.write(ZMTPMessage.fromUTF8("y".repeat(5000)));

            assertThat(peer.received())
                    .isEqualTo(Hex.of("02 00*6 1f 40 78*8000 / 02 00*6 13 88 79*5000 / 04 07 04 \"PING\" 00 00"));
        }
    }

    @Test
    void aPingThatFoundTheQueueFullIsSentWhenTheQueueHasShrunk() {
        try (ScriptedPeer peer = InTraffic.as(PUSH)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .start()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            peer.channel.write(ZMTPMessage.fromUTF8("x".repeat(8000)));
            assertThat(peer.channel.isWritable()).isFalse();
            pass(peer.channel, 1000);
            peer.channel.flush();
            peer.channel.runPendingTasks();
            assertThat(peer.received()).endsWith(Hex.of("04 07 04 \"PING\" 00 00"));

            pass(peer.channel, 1000);
            assertThat(peer.failures).isEmpty();
        }
    }

    /** A transport that takes as many buffers as a test allows. */
    private static final class SlowChannel extends EmbeddedChannel {
        private int takes = Integer.MAX_VALUE;

        @Override
        protected void doWrite(ChannelOutboundBuffer in) {
            while (in.current() != null && takes-- > 0) {
                in.remove();
            }
        }
    }

    private static SlowChannel pushing(Recorder<Object> recorder) {
        SlowChannel channel = new SlowChannel();
        channel.freezeTime();
        channel.pipeline()
                .addLast(
                        ZMTPCodec.builder()
                                .socketType(PUSH)
                                .heartbeatInterval(Duration.ofSeconds(1))
                                .build(),
                        recorder);
        channel.writeInbound(Hex.buffer(GREETING + ready("PULL")));
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
        return channel;
    }

    private static void push(SlowChannel channel, int messages) {
        for (int i = 0; i < messages; i++) {
            channel.writeAndFlush(ZMTPMessage.fromUTF8("x".repeat(8000)));
        }
    }

    @Test
    void aPeerIsAliveIfItsQueueIsEmptiedAndFilledAgain() {
        Recorder<Object> recorder = Recorder.ofAll();
        SlowChannel channel = pushing(recorder);
        channel.takes = 0;
        push(channel, 4);
        pass(channel, 1000);
        channel.takes = Integer.MAX_VALUE;
        channel.flush();
        channel.runPendingTasks();
        channel.takes = 0;
        push(channel, 5);
        pass(channel, 1000);
        assertThat(recorder.failures).isEmpty();
        channel.finishAndReleaseAll();
    }

    @Test
    void aPeerThatReadsLittleIsAliveAndOneThatReadsNothingIsNot() {
        Recorder<Object> recorder = Recorder.ofAll();
        SlowChannel channel = pushing(recorder);
        channel.takes = 0;
        push(channel, 4);
        pass(channel, 1000);
        channel.takes = 3;
        channel.flush();
        assertThat(channel.isWritable()).isFalse();
        pass(channel, 1000);
        assertThat(recorder.failures).isEmpty();
        pass(channel, 1000);
        pass(channel, 1000);
        assertThat(recorder.failures)
                .singleElement()
                .isInstanceOfSatisfying(
                        ZMTPException.class, e -> assertThat(e.code()).isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT));
        channel.finishAndReleaseAll();
    }

    @Test
    void silenceDoesNotCountWhileWeDoNotRead() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .start()) {
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
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .start()) {
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
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .after(user)
                .start()) {
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
}
