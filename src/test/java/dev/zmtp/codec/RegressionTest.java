package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.EncoderException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What once went wrong between the rules, each in the smallest form that showed it. */
class RegressionTest {

    @Test
    void whoClosesGetsNothingMoreOfTheSameRead() {
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ROUTER), new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                ctx.close();
            }
        });
        try (peer) {
            peer.send(GREETING + ready("DEALER") + "00 01 61 00 01 62");
            assertThat(peer.messages).isEmpty();
        }
    }

    /** The answer finds no room, which makes the transport call back, and what is written then leaves room for no answer. */
    @Test
    void whatACallbackOfAnAnswerWritesComesBehindTheAnswer() {
        List<ChannelFuture> writes = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .behind(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                        if (writes.isEmpty()) {
                            writes.add(ctx.write(ZMTPMessage.fromUTF8("m".repeat(486))));
                        }
                        ctx.fireChannelWritabilityChanged();
                    }
                })
                .start()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            for (int i = 0; i < 2; i++) {
                peer.channel.write(ZMTPMessage.fromUTF8("x".repeat(249))); // 502 octets of the first batch's 512
            }
            assertThat(peer.channel.isWritable()).isTrue();

            peer.send("04 16 04 \"PING\" 00 00 61*15");
            peer.channel.flush();

            assertThat(peer.received())
                    .isEqualTo(Hex.of("00 f9 78*249 00 f9 78*249 / 04 14 04 \"PONG\" 61*15 / 02 00*6 01 e6 6d*486"));
            assertThat(writes).hasSize(1).allMatch(ChannelFuture::isSuccess);
        }
    }

    @Test
    void aPingThatBecomesPossibleDuringAWriteLeavesBehindIt() {
        boolean[] flushes = new boolean[1];
        ChannelOutboundHandlerAdapter eager = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ctx.write(msg, promise);
                if (flushes[0]) {
                    ctx.flush(); // the queue is empty, and the channel writable, in the midst of a write
                }
            }
        };
        try (ScriptedPeer peer = InTraffic.as(PUSH)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .front(eager)
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
    void aSubscriptionForWhichThereIsNoMemoryFails() {
        FullAllocator alloc = new FullAllocator();
        try (ScriptedPeer peer = InTraffic.as(SUB).allocator(alloc).start()) {
            alloc.full = true;
            ChannelFuture written = peer.channel.write(ZMTPSubscription.subscribe("topic"));
            alloc.full = false;

            assertThat(written.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasRootCauseInstanceOf(OutOfMemoryError.class);
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void aPeerThatTakesWhatIsQueuedIsAliveAndIsPingedWhenTheQueueHasShrunk() {
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

    private static void pass(EmbeddedChannel channel, long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
    }

    /** A transport that takes as many buffers as it is told to. */
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
    void aPeerWhoseQueueIsEmptiedAndFilledAgainIsAlive() {
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
    void aPeerThatTakesLittleIsAliveAndOneThatTakesNothingIsNot() {
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
        assertThat(recorder.failures).hasSize(1);
        channel.finishAndReleaseAll();
    }

    @Test
    void aHeldMessageThatWasReleasedTooOftenStrandsNoOther() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(DEALER))) {
            ZMTPMessage bad = ZMTPMessage.fromUTF8("bad");
            ChannelFuture first = peer.channel.write(bad);
            ChannelFuture second = peer.channel.write(ZMTPMessage.fromUTF8("good"));
            bad.release();
            peer.send("\"GET\" 20 2f");
            assertThat(first.isDone()).isTrue();
            assertThat(second.isDone()).isTrue();
            assertThat(peer.channel.isOpen()).isFalse();
            peer.onlyEvent(ZMTPHandshakeFailure.class);
        }
    }

    @Test
    void aBadHeldWriteWithAVoidPromiseDoesNotEndTheHandshake() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(DEALER))) {
            peer.channel.write("no message", peer.channel.voidPromise());
            ChannelFuture good = peer.channel.write(ZMTPMessage.fromUTF8("good"));
            peer.send(GREETING + ready("ROUTER"));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(peer.failures).hasSize(1);
            peer.channel.flush();
            assertThat(good.isSuccess()).isTrue();
        }
    }

    @Test
    void theBoundOfHeldWritesDoesNotBindWritesOfCallbacks() {
        List<ChannelFuture> written = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.maxHeldLength(0))
                .behind(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                        if (written.isEmpty()) {
                            written.add(ctx.writeAndFlush(ZMTPMessage.fromUTF8("from a callback")));
                        }
                    }
                })
                .start()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("x".repeat(8000)));
            assertThat(written).singleElement().matches(ChannelFuture::isSuccess);
        }
    }

    @Test
    void anEncoderThatClosesTheChannelKeepsNoPromise() {
        ChannelFuture[] written = new ChannelFuture[1];
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> new ZMTPEncoder() {
                    @Override
                    public void estimate(Object message, ZMTPEstimator estimator) {
                        estimator.frame(1);
                    }

                    @Override
                    public void encode(Object message, ZMTPWriter writer) {
                        writer.frame(1, false).writeByte('a');
                        ((Runnable) message).run();
                    }

                    @Override
                    public void close() {}
                }))
                .start()) {
            Runnable close = peer.channel::close;
            written[0] = peer.channel.write(close);
            assertThat(written[0].cause()).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void smallFramesOfAnUnfinishedMessageKeepNoReadBuffer() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ByteBuf read = peer.channel.alloc().buffer(65536);
            read.writeBytes(Hex.octets("01 01 61 / 01 00 / 01 02 62 63"));
            peer.channel.writeInbound(read);
            assertThat(read.refCnt()).isZero();
            peer.send("00 01 64");
            assertThat(peer.messages).containsExactly("message 61 - 6263 64");
        }
    }

    @Test
    void framesOfAnUnfinishedMessageKeepNoBufferOfWhichTheReadIsASlice() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ByteBuf large = peer.channel.alloc().buffer(65536);
            large.writeBytes(Hex.octets("03 00*6 07 d0 61*2000"));
            peer.channel.writeInbound(large.readRetainedSlice(2009));
            assertThat(large.release()).isTrue();
        }
    }

    @Test
    void aLargeFrameOfAnUnfinishedMessageIsNotCopied() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ByteBuf read = peer.channel.alloc().buffer(4096);
            read.writeBytes(Hex.octets("03 00*6 07 d2 61*2002"));
            ByteBuf large = peer.channel.alloc().buffer(4096);
            large.writeBytes(Hex.octets("03 00*6 08 00 61*2048"));
            peer.channel.writeInbound(read, large);
            assertThat(read.refCnt()).isZero();
            assertThat(large.refCnt()).isOne();
        }
    }

    /** A mechanism that has only its own commands to send, the last of them when it is told to. */
    private static class Late implements ZMTPMechanism {
        private final List<String> log = new ArrayList<>();
        private boolean ready;
        private @Nullable RuntimeException failure;
        private @Nullable Context context;

        List<String> log() {
            return log;
        }

        Late in(Context context) {
            this.context = context;
            return this;
        }

        @Override
        public String name() {
            return "NULL";
        }

        @Override
        public @Nullable ByteBuf poll() {
            log.add("poll");
            if (failure != null) {
                throw failure;
            }
            return null;
        }

        @Override
        public void receive(ByteBuf command) {}

        @Override
        public boolean isReady() {
            return ready;
        }

        @Override
        public ZMTPMetadata peerMetadata() {
            return ZMTPMetadata.EMPTY;
        }

        @Override
        public @Nullable ByteBuf refuse(ZMTPException cause) {
            return Unpooled.wrappedBuffer(Hex.octets("05 \"ERROR\" 02 \"no\""));
        }

        @Override
        public void close() {
            log.add("close");
        }

        void resume(ScriptedPeer peer) {
            if (context != null) {
                context.resume();
            }
            peer.channel.runPendingTasks();
        }
    }

    @Test
    void aMechanismThatRefusesLaterIsAskedWhatToSay() {
        Late mechanism = new Late();
        ZMTPCodec codec =
                ZMTPCodec.builder().socketType(DEALER).mechanism(mechanism::in).build();
        try (ScriptedPeer peer = new ScriptedPeer(codec).send(GREETING)) {
            peer.received();
            mechanism.failure = new ZMTPException(ZMTPException.Code.PEER_ERROR, "denied");
            mechanism.resume(peer);
            assertThat(peer.received()).isEqualTo(Hex.of("04 09 05 \"ERROR\" 02 \"no\""));
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasToString("dev.zmtp.ZMTPException: denied, peer embedded");
            assertThat(mechanism.log).containsExactly("poll", "poll", "close");
        }
    }

    @Test
    void aMechanismThatHasEndedTheConnectionIsNotAskedWhatToSay() {
        ScriptedPeer[] self = new ScriptedPeer[1];
        Late mechanism = new Late() {
            @Override
            public void receive(ByteBuf command) {
                self[0].channel.close();
                throw new ZMTPException(ZMTPException.Code.PEER_ERROR, "denied");
            }

            @Override
            public @Nullable ByteBuf refuse(ZMTPException cause) {
                log().add("refuse");
                return super.refuse(cause);
            }
        };
        ZMTPCodec codec =
                ZMTPCodec.builder().socketType(DEALER).mechanism(mechanism::in).build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            self[0] = peer;
            peer.send(GREETING + "04 01 00");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(mechanism.log).containsExactly("poll", "close");
        }
    }

    @Test
    void noMessageComesBeforeTheEventWhenAMechanismEndsByResume() {
        Late mechanism = new Late();
        ZMTPCodec codec =
                ZMTPCodec.builder().socketType(DEALER).mechanism(mechanism::in).build();
        try (ScriptedPeer peer = new ScriptedPeer(
                new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void flush(ChannelHandlerContext ctx) {
                        ctx.flush();
                        if (mechanism.ready) {
                            ctx.fireChannelRead(Hex.buffer("00 01 41"));
                        }
                    }
                },
                codec)) {
            peer.send(GREETING);
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("held"));
            mechanism.ready = true;
            mechanism.resume(peer);
            mechanism.ready = false;
            assertThat(peer.all).first().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peer.messages).containsExactly(message("A"));
        }
    }

    @Test
    void aPropertySetAgainReplacesTheOldOne() {
        ZMTPConfig config = ZMTPConfig.builder().socketType(DEALER).property("X-a", "1").build().toBuilder()
                .property("x-A", "2")
                .build();
        assertThat(config.properties().size()).isOne();
        assertThat(config.properties().text("X-a")).isEqualTo("2");
    }

    @Test
    void theSilenceOfATimeInWhichWeDidNotReadDoesNotCount() {
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
    void aPauseThatBeginsWithoutAMessageIsNotTheSilenceOfThePeer() {
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
    void autoReadStartsTheSilenceOfThePeerAnew(boolean atRest) {
        ChannelInboundHandlerAdapter user = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.channel().config().setAutoRead(false);
                ctx.fireChannelRead(msg);
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .behind(user)
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

    /** What auto-read had asked for is not asked for any more when it is off, if no message has come since. */
    @Test
    void nothingIsReadUnaskedWhenAutoReadEndsWithTheHandshake() {
        List<String> reads = new ArrayList<>();
        ChannelOutboundHandlerAdapter transport = new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads.add("read");
                ctx.read();
            }
        };
        ChannelInboundHandlerAdapter user = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                ctx.channel().config().setAutoRead(false);
                reads.clear();
            }
        };
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).front(transport).behind(user).start()) {
            assertThat(reads).isEmpty();
            peer.send("04 07 04 \"PING\" 00 00"); // was on its way
            assertThat(reads).isEmpty();
            peer.channel.read();
            peer.send("04 07 04 \"PING\" 00 00");
            assertThat(reads).hasSize(2); // the one that was asked for, and on to a message
        }
    }

    /** As the local transport does, whose peer may have said all there is to a handshake. */
    @Test
    void aTransportThatAnswersAReadAtOnceTellsNobodyBeforeHeIsThere() {
        ChannelOutboundHandlerAdapter transport = new ChannelOutboundHandlerAdapter() {
            private ByteBuf answer = Hex.buffer(GREETING + ready("DEALER"));

            @Override
            public void read(ChannelHandlerContext ctx) {
                if (answer != null) {
                    ByteBuf octets = answer;
                    answer = null;
                    ctx.fireChannelRead(octets);
                }
            }
        };
        Recorder<Object> recorder = Recorder.ofAll();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAutoRead(false);
        channel.pipeline().addLast(transport, ZMTPCodec.of(ROUTER), recorder);
        channel.runPendingTasks();
        assertThat(recorder.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
        channel.finishAndReleaseAll();
    }
}
