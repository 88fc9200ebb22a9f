package dev.zmtp.internal.connection;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.EncoderException;
import java.lang.reflect.Field;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Writes before the end of the handshake: they wait, count, leave in order, and are all accounted for. */
class HeldWritesTest {

    private static final String HANDSHAKE = GREETING + ready("ROUTER");

    private static ScriptedPeer greeted() {
        return greeted(ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER));
    }

    private static ScriptedPeer greeted(ZMTPConfig.Builder config) {
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build())).send(GREETING);
        peer.received();
        return peer;
    }

    private static ZMTPMessage message(ScriptedPeer peer, int length) {
        return ZMTPMessage.from(peer.channel.alloc().buffer(length).writeZero(length));
    }

    @Test
    void heldWritesAreSentInOrder() {
        try (ScriptedPeer peer = greeted()) {
            for (String text : List.of("a", "b", "c")) {
                peer.channel.writeAndFlush(ZMTPMessage.fromUTF8(text));
            }
            assertThat(peer.received()).isEmpty();
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 00 01 62 00 01 63"));
        }
    }

    @Test
    void heldWritesAreSentInTheNegotiatedVersion() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a"));
            peer.received();
            peer.send("01 00");
            assertThat(peer.received()).isEqualTo(Hex.of("02 00 61"));
        }
    }

    @Test
    void promisesOfHeldWritesCompleteWhenTheyAreSent() {
        try (ScriptedPeer peer = greeted()) {
            ChannelFuture first = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture second = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("b"));
            assertThat(first.isDone()).isFalse();
            peer.send(ready("ROUTER"));
            assertThat(first.isSuccess()).isTrue();
            assertThat(second.isSuccess()).isTrue();
        }
    }

    @Test
    void aFlushIsRemembered() {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.flush();
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
        }
    }

    @Test
    void nothingIsFlushedUnasked() {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.flush();
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEmpty();
            assertThat(write.isDone()).isFalse();
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
        }
    }

    @Test
    void aFlushOfNothingWritesNothing() {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.flush();
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void onlyTheHeldWriteOfTheWrongTypeFailsWhenItsTurnComes() {
        try (ScriptedPeer peer = greeted()) {
            ChannelFuture first = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a"));
            ByteBuf wrong = peer.channel.alloc().buffer().writeByte(1);
            ChannelFuture second = peer.channel.writeAndFlush(wrong);
            ChannelFuture third = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("c"));
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 00 01 63"));
            assertThat(first.isSuccess()).isTrue();
            assertThat(second.cause()).isInstanceOf(EncoderException.class);
            assertThat(third.isSuccess()).isTrue();
            assertThat(wrong.refCnt()).isZero();
        }
    }

    @Test
    void aHeldWriteMayBeCancelled() {
        try (ScriptedPeer peer = greeted()) {
            ZMTPMessage message = message(peer, 1);
            ChannelFuture write = peer.channel.write(message);
            assertThat(write.cancel(false)).isTrue();
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("b"));
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 62"));
            assertThat(message.refCnt()).isZero();
        }
    }

    @Test
    void writesFromAListenerFollowTheOtherHeldWrites() {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.write("wrong").addListener(failed -> peer.channel.write(ZMTPMessage.fromUTF8("c")));
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("b"));
            peer.send(ready("ROUTER"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 62 00 01 63"));
        }
    }

    @ParameterizedTest
    @CsvSource({"936, true", "937, false"})
    void writesOverTheLimitAreRefused(int length, boolean accepted) {
        ZMTPConfig.Builder config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).maxHeldWritesLength(1000 + 64 + 1);
        try (ScriptedPeer peer = greeted(config)) {
            peer.channel.write(message(peer, 1));
            ZMTPMessage last = message(peer, length);
            ChannelFuture write = peer.channel.write(last);
            assertThat(write.isDone()).isEqualTo(!accepted);
            if (!accepted) {
                assertThat(write.cause())
                        .isInstanceOf(EncoderException.class)
                        .hasMessage("held writes: 1066 bytes (expected: <= 1065)");
                assertThat(last.refCnt()).isZero();
            }
            peer.send(ready("ROUTER"));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void emptyFramesCountTowardsTheLimit() {
        ZMTPConfig.Builder config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).maxHeldWritesLength(639);
        try (ScriptedPeer peer = greeted(config)) {
            String[] empty = new String[10];
            java.util.Arrays.fill(empty, "");
            assertThat(peer.channel.write(ZMTPMessage.fromUTF8(empty)).cause()).isInstanceOf(EncoderException.class);
        }
    }

    @Test
    void aRefusedWriteWithAVoidPromiseIsReportedAndEndsNothing() {
        ZMTPConfig.Builder config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).maxHeldWritesLength(0);
        try (ScriptedPeer peer = greeted(config)) {
            peer.channel.write(message(peer, 1), peer.channel.voidPromise());
            assertThat(peer.failures).singleElement().isInstanceOf(EncoderException.class);
            peer.send(ready("ROUTER"));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void heldWritesMakeTheChannelUnwritableUntilTheyAreSent() {
        List<Boolean> changes = new ArrayList<>();
        try (ScriptedPeer peer = greeted()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(500, 1000));
            peer.channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                    changes.add(ctx.channel().isWritable());
                }
            });
            for (int i = 0; i < 15; i++) {
                peer.channel.write(message(peer, 1));
                assertThat(peer.channel.isWritable()).isTrue();
            }
            peer.channel.write(message(peer, 1));
            peer.channel.runPendingTasks();
            assertThat(peer.channel.isWritable()).isFalse();
            assertThat(changes).containsExactly(false);
            peer.channel.flush();
            peer.send(ready("ROUTER"));
            peer.channel.runPendingTasks();
            assertThat(peer.channel.isWritable()).isTrue();
            assertThat(changes).containsExactly(false, true);
        }
    }

    /** The listener of each held write makes another write. Writability must not change with each of them. */
    @Test
    void heldWritesAroundTheHighWaterMarkChangeWritabilityOnce() {
        List<Boolean> changes = new ArrayList<>();
        try (ScriptedPeer peer = greeted()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(500, 1000));
            peer.channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                    changes.add(ctx.channel().isWritable());
                }
            });
            for (int i = 0; i < 14; i++) { // of 72 bytes each: the last one is one too many
                boolean again = i < 8;
                peer.channel.write("no message").addListener(failed -> {
                    if (again) {
                        peer.channel.write("no message");
                    }
                });
            }
            peer.channel.runPendingTasks();
            assertThat(peer.channel.isWritable()).isFalse();
            peer.send(ready("ROUTER"));
            peer.channel.runPendingTasks();
            assertThat(changes).containsExactly(false, true);
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"a low mark, 512, 1000", "no low mark, 0, 1000", "one mark, 1000, 1000"})
    void theChannelIsWritableAfterAllHeldWritesAreSent(String marks, int low, int high) {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(low, high));
            for (int i = 0; i < 16; i++) {
                peer.channel.write("no message");
            }
            assertThat(peer.channel.isWritable()).isFalse();
            peer.send(ready("ROUTER"));
            assertThat(peer.channel.isWritable()).isTrue();
        }
    }

    @Test
    void heldWritesUpToTheHighWaterMarkLeaveTheChannelWritable() {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(144, 144));
            peer.channel.write("no message"); // of 72 bytes each
            peer.channel.write("no message");
            assertThat(peer.channel.isWritable()).isTrue();
            peer.channel.write("no message");
            assertThat(peer.channel.isWritable()).isFalse();
        }
    }

    @Test
    void aRemovedCodecLeavesTheChannelWritable() {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(500, 1000));
            peer.channel.write(message(peer, 2000));
            assertThat(peer.channel.isWritable()).isFalse();
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(peer.channel.isWritable()).isTrue();
        }
    }

    @Test
    void aFailureFailsHeldWritesWithItsCauseAndReleasesThem() {
        try (ScriptedPeer peer = greeted()) {
            ZMTPMessage message = message(peer, 1);
            ChannelFuture write = peer.channel.write(message);
            peer.send("00 00");
            assertThat(write.cause())
                    .isInstanceOf(ZMTPException.class)
                    .isSameAs(peer.onlyEvent(ZMTPHandshakeFailure.class).cause());
            assertThat(message.refCnt()).isZero();
        }
    }

    @Test
    void aCloseFailsAndReleasesHeldWrites() {
        try (ScriptedPeer peer = greeted()) {
            ZMTPMessage message = message(peer, 1);
            ChannelFuture write = peer.channel.writeAndFlush(message);
            peer.channel.close();
            assertThat(write.cause()).isInstanceOf(ZMTPException.class);
            assertThat(message.refCnt()).isZero();
        }
    }

    @Test
    void aRemovalFailsAndReleasesHeldWrites() {
        try (ScriptedPeer peer = greeted()) {
            ZMTPMessage message = message(peer, 1);
            ChannelFuture write = peer.channel.writeAndFlush(message);
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(write.cause()).isInstanceOf(ZMTPException.class);
            assertThat(message.refCnt()).isZero();
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void heldVoidPromisesDisturbNoFailure() {
        try (ScriptedPeer peer = greeted()) {
            peer.channel.write(message(peer, 1), peer.channel.voidPromise());
            peer.send("00 00");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void heldVoidPromisesDisturbNoRemoval() {
        try (ScriptedPeer peer = greeted()) {
            for (int i = 0; i < 5; i++) {
                peer.channel.write(message(peer, 1), peer.channel.voidPromise());
            }
            peer.channel.pipeline().remove(ZMTPCodec.class);
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void aWriteFromTheListenerOfAFailedWriteFailsToo() {
        try (ScriptedPeer peer = greeted()) {
            ZMTPMessage second = message(peer, 1);
            ChannelPromise promise = peer.channel.newPromise();
            peer.channel.write(message(peer, 1)).addListener(failed -> peer.channel.write(second, promise));
            peer.send("00 00");
            assertThat(promise.cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(second.refCnt()).isZero();
        }
    }

    @Test
    void aWriteAfterAFailureFailsWithTheFailureAsItsCause() {
        try (ScriptedPeer peer =
                new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER), new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                        ChannelFuture late = ctx.write(ZMTPMessage.fromUTF8("late"));
                        assertThat(late.cause())
                                .isInstanceOf(ClosedChannelException.class)
                                .hasCause(((ZMTPHandshakeFailure) evt).cause());
                        ctx.fireUserEventTriggered(evt);
                    }
                })) {
            peer.send("00 00");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void heldWritesFollowOurReadyWhenTheHandshakeArrivesInOneRead() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("hi"));
            peer.send(HANDSHAKE);
            assertThat(peer.received()).endsWith(Hex.of("08 \"Identity\" 00000000 / 00 02 \"hi\""));
        }
    }

    @Test
    void aHeldMessageReleasedTooOftenDoesNotStrandTheNext() {
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
    void nothingOfALongQueueStaysWhenItIsEmpty() throws ReflectiveOperationException {
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        HeldWrites held = new HeldWrites(channel.pipeline().firstContext());
        for (int i = 0; i < 1000; i++) {
            held.add("a write", channel.newPromise(), Long.MAX_VALUE);
        }
        for (int i = 0; i < 1000; i++) {
            assertThat(held.isEmpty()).isFalse();
            assertThat(held.poll()).isNotNull();
        }
        assertThat(held.isEmpty()).isTrue();
        assertThat(held.poll()).isNull();
        for (Field field : HeldWrites.class.getDeclaredFields()) {
            field.setAccessible(true);
            assertThat(field.get(held) instanceof Collection)
                    .as(field.getName())
                    .isFalse();
        }
    }

    /** Traffic shapers of Netty use the low flags, from 1 on. */
    @Test
    void theFlagOfHeldWritesIsTheLastSoThatTrafficShapersKeepTheirs() {
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
        HeldWrites held = new HeldWrites(channel.pipeline().firstContext());
        held.add("a write", channel.newPromise(), Long.MAX_VALUE);
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        assertThat(IntStream.rangeClosed(1, 31).filter(index -> !buffer.getUserDefinedWritability(index)))
                .containsExactly(31);
    }

    @Test
    void theLimitOfHeldWritesDoesNotApplyToWritesFromCallbacks() {
        List<ChannelFuture> written = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.maxHeldWritesLength(0))
                .after(new ChannelInboundHandlerAdapter() {
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
}
