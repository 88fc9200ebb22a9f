package dev.zmtp.codec.hostile;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.RecordingDecoder;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The codec is removed, or the connection ends, in the middle of traffic. */
class EndingTest {

    @Test
    void pendingWritesReachTheTransportWhenTheCodecIsRemoved() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ChannelFuture small = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture big = peer.channel.write(ZMTPMessage.from(Hex.buffer("62*5000")));
            ChannelFuture last = peer.channel.write(ZMTPMessage.fromUTF8("c"));
            peer.channel.pipeline().remove("codec");
            assertThat(last.isDone()).isFalse();
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 02 00*6 13 88 62*5000 / 00 01 63"));
            assertThat(List.of(small, big, last)).allMatch(ChannelFuture::isSuccess);
        }
    }

    /** Removes the codec at the first message. */
    private static final class Remover extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (msg instanceof ZMTPMessage && ctx.pipeline().get(ZMTPCodec.class) != null) {
                ctx.pipeline().remove(ZMTPCodec.class);
            }
            ctx.fireChannelRead(msg);
        }
    }

    @Test
    void theRestOfTheReadIsPassedOnWhenTheCodecIsRemoved() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).after(new Remover()).start()) {
            ByteBuf read = Hex.buffer("00 01 61 / 00 01 62 de ad");
            peer.channel.writeInbound(read);
            assertThat(peer.messages).containsExactly("message 61", "bytes 000162dead");
            assertThat(read.refCnt()).isZero();
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void readsQueuedDuringTheRemovalArePassedOnToo() {
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .after(
                        new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                if (msg instanceof ZMTPMessage) {
                                    ctx.pipeline().fireChannelRead(Hex.buffer("ca fe"));
                                }
                                ctx.fireChannelRead(msg);
                            }
                        },
                        new Remover())
                .start()) {
            peer.send("00 01 61 / be ef");
            peer.send("f0 0d");
            assertThat(peer.messages).containsExactly("message 61", "bytes beef", "bytes cafe", "bytes f00d");
        }
    }

    @Test
    void theCodecsReplacementGetsTheRestOfTheReadAndAllThatFollows() {
        Recorder<String> successor = Recorder.ofDescriptions();
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ctx.pipeline().fireChannelRead(Hex.buffer("ca fe")); // waits until the read in progress is done
                        ctx.pipeline().replace(ZMTPCodec.class, "successor", successor);
                        ctx.fireChannelRead(msg);
                    }
                })
                .start()) {
            ByteBuf read = Hex.buffer("00 01 61 / 00 01 62 de ad");
            peer.channel.writeInbound(read);
            peer.send("f0 0d");
            assertThat(peer.messages).containsExactly("message 61");
            assertThat(successor.messages).containsExactly("bytes 000162dead", "bytes cafe", "bytes f00d");
            assertThat(read.refCnt()).isZero();
            assertThat(peer.failures).isEmpty();
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    /** Takes the codec's place. It must pass bytes on: they are messages that were written before. */
    @Test
    void pendingWritesAreSentThroughTheCodecsReplacement() {
        List<String> passed = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.pipeline().replace(peer.codec(), "successor", new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                    passed.add(Fired.describe(msg));
                    ctx.write(msg, promise);
                }
            });
            peer.channel.flush();
            assertThat(passed).containsExactly("bytes 000161");
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
            assertThat(write.isSuccess()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "00 05 61", "01 01 61", "01 01 61 / 02 00*6 20 00 62*100", "04 0a 04"})
    void partialFramesAreReleasedWhenTheCodecIsRemoved(String partial) {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send(partial);
            peer.channel.pipeline().remove("codec");
            assertThat(peer.messages).isEmpty();
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "00 05 61", "01 01 61", "01 01 61 / 02 00*6 20 00 62*5000", "04 0a 04"})
    void partialFramesAreReleasedAtTheEndOfTheInput(String partial) {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send(partial);
            peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            peer.channel.runPendingTasks();
            assertThat(peer.messages).isEmpty();
            assertThat(peer.failures).hasSize(1);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "00 05 61", "01 01 61", "01 01 61 / 02 00*6 20 00 62*5000", "04 0a 04"})
    void partialFramesAreReleasedWhenThePeerDisconnects(String partial) {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send(partial);
            disconnect(peer);
            assertThat(peer.messages).isEmpty();
            assertThat(peer.failures).hasSize(1);
        }
    }

    private static void disconnect(ScriptedPeer peer) {
        peer.channel.unsafe().close(peer.channel.voidPromise()); // past the pipeline, as the transport does it
        peer.channel.runPendingTasks();
    }

    static List<Arguments> unfinishedInput() {
        return List.of(
                Arguments.of("02 00*3", "frame header: 4 bytes (expected: 9)"),
                Arguments.of("00", "frame header: 1 bytes (expected: 2)"),
                Arguments.of("00 05", "frame: 0 bytes (expected: 5)"),
                Arguments.of("00 05 61 62", "frame: 2 bytes (expected: 5)"),
                Arguments.of("02 00*6 20 00 62*5000", "frame: 5000 bytes (expected: 8192)"),
                Arguments.of("02 00*5 40 00 00 62", "frame: 1 bytes (expected: 4194304)"),
                Arguments.of("04 0a 04", "frame: 1 bytes (expected: 10)"),
                Arguments.of("01 01 61", "message: 1 frames (expected: more)"),
                Arguments.of("01 01 61 / 01 00 / 04 07 04 \"PING\" 00 00", "message: 2 frames (expected: more)"),
                Arguments.of("01 01 61 / 00 03 62", "frame: 1 bytes (expected: 3)"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("unfinishedInput")
    void anEndInTheMiddleOfAMessageIsAFailureThatSaysHowMuchHasArrived(String partial, String unfinished) {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send("00 05 61*5").send(partial);
            disconnect(peer);
            assertThat(peer.failures)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ZMTPException.Code.CLOSED))
                    .extracting(Throwable::getMessage)
                    .isEqualTo("connection with embedded ended in the middle of a " + unfinished);
        }
    }

    @Test
    void anEndInTheMiddleOfAFrameThatADecoderTakesInPartsSaysHowMuchHasArrived() {
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .set(codec -> codec.decoder(session -> new RecordingDecoder()))
                .start()) {
            peer.send("00 05 61").send("62 63");
            disconnect(peer);
            assertThat(peer.failures)
                    .singleElement()
                    .extracting(Throwable::getMessage)
                    .asString()
                    .endsWith("in the middle of a frame: 3 bytes (expected: 5)");
        }
    }

    @Test
    void anEndBetweenTwoMessagesIsNotAFailure() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send("00 05 61")
                    .send("61*4 / 01 01 62 / 00 01")
                    .send("63 / 04 07 04 \"PING\" 00")
                    .send("00");
            disconnect(peer);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void anEndInTheMiddleOfAMessageIsReportedAlsoIfAnotherFailureCameLongBefore() {
        IOException early = new IOException("another handler's, and harmless");
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.channel.pipeline().fireExceptionCaught(early);
            peer.send("00 05 61");
            disconnect(peer);
            assertThat(peer.failures).hasSize(2).first().isSameAs(early);
        }
    }

    @Test
    void aCloseByTheUserInTheMiddleOfAMessageIsNotAFailure() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send("01 01 61 / 00 05 61");
            peer.channel.close();
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void anEndInTheMiddleOfAMessageIsReportedBeforeTheChannelIsInactive() {
        List<String> order = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        order.add("failure");
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        order.add("inactive");
                    }
                })
                .start()) {
            peer.send("00 05 61");
            disconnect(peer);
            assertThat(order).containsExactly("failure", "inactive");
        }
    }

    @Test
    void whatWasWrittenIsSentAlsoIfThePeerEndsItsInputInTheMiddleOfAMessage() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send("00 05 61");
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            peer.channel.runPendingTasks();
            assertThat(write.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo("000161");
            assertThat(peer.failures).hasSize(1);
        }
    }

    @Test
    void theChannelStaysOpenWhenTheCodecIsRemoved() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.channel.pipeline().remove("codec");
            assertThat(peer.channel.isActive()).isTrue();
            peer.send("ca fe");
            assertThat(peer.messages).containsExactly("bytes cafe");
        }
    }

    @Test
    void theEndOfThePeersInputEndsTheConnection() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("last words"));
            peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            peer.channel.runPendingTasks();
            assertThat(write.isSuccess()).isTrue();
            assertThat(peer.channel.isActive()).isFalse();
            assertThat(peer.failures).isEmpty();
            assertThat(peer.events).contains(ChannelInputShutdownEvent.INSTANCE);
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void aCloseDuringAReadDropsTheRest() {
        List<String> heard = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        heard.add(Fired.describe(msg));
                        ReferenceCountUtil.release(msg);
                        ctx.pipeline().fireChannelInactive();
                    }
                })
                .start()) {
            ByteBuf read = Hex.buffer("00 01 61 / 01 01 62 / 00 01 63");
            peer.channel.writeInbound(read);
            assertThat(heard).containsExactly("message 61");
            assertThat(read.refCnt()).isZero();
        }
    }

    @Test
    void otherHandlersEventsPassThrough() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.events.clear();
            peer.channel.pipeline().fireUserEventTriggered("an event");
            assertThat(peer.events).containsExactly("an event");
        }
    }

    @Test
    void otherHandlersExceptionsPassThroughAndEndNothing() {
        RuntimeException foreign = new IllegalStateException("foreign");
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.channel.pipeline().fireExceptionCaught(foreign);
            assertThat(peer.failures).containsExactly(foreign);
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    @Test
    void nothingOfTheSameReadFollowsACloseByTheUser() {
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
}
