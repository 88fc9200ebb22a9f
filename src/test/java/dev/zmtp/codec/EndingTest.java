package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Recorder;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The codec is removed, or the peer goes, in the midst of traffic. */
class EndingTest {

    @Test
    void whatWasWrittenReachesTheTransportWhenTheCodecIsRemoved() {
        try (InTraffic traffic = InTraffic.as(DEALER).start()) {
            ChannelFuture small = traffic.writeText("a");
            ChannelFuture big = traffic.write(ZMTPMessage.from(Hex.buffer("62*5000")));
            ChannelFuture last = traffic.writeText("c");
            traffic.channel.pipeline().remove("codec");
            assertThat(last.isDone()).isFalse();
            traffic.channel.flush();
            assertThat(traffic.sent()).isEqualTo(Hex.of("00 01 61 / 02 00*6 13 88 62*5000 / 00 01 63"));
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
    void theRestOfTheReadPassesOnWhenTheCodecIsRemoved() {
        try (InTraffic traffic = InTraffic.as(PAIR).behind(new Remover()).start()) {
            ByteBuf read = Hex.buffer("00 01 61 / 00 01 62 de ad");
            traffic.channel.writeInbound(read);
            assertThat(traffic.heard).containsExactly("message 61", "octets 000162dead");
            assertThat(read.refCnt()).isZero();
            assertThat(traffic.failures).isEmpty();
        }
    }

    @Test
    void readsThatWaitBehindTheRemovalPassOnToo() {
        try (InTraffic traffic = InTraffic.as(PAIR)
                .behind(
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
            traffic.receive("00 01 61 / be ef");
            traffic.receive("f0 0d");
            assertThat(traffic.heard).containsExactly("message 61", "octets beef", "octets cafe", "octets f00d");
        }
    }

    @Test
    void whoReplacesTheCodecGetsTheRestOfTheReadAndAllThatFollows() {
        Recorder<String> successor = new Recorder<>(msg -> {
            String octets = InTraffic.describe(msg);
            ReferenceCountUtil.release(msg);
            return octets;
        });
        try (InTraffic traffic = InTraffic.as(PAIR)
                .behind(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ctx.pipeline().fireChannelRead(Hex.buffer("ca fe")); // waits behind what is being read
                        ctx.pipeline().replace(ZMTPCodec.class, "successor", successor);
                        ctx.fireChannelRead(msg);
                    }
                })
                .start()) {
            ByteBuf read = Hex.buffer("00 01 61 / 00 01 62 de ad");
            traffic.channel.writeInbound(read);
            traffic.receive("f0 0d");
            assertThat(traffic.heard).containsExactly("message 61");
            assertThat(successor.messages).containsExactly("octets 000162dead", "octets cafe", "octets f00d");
            assertThat(read.refCnt()).isZero();
            assertThat(traffic.failures).isEmpty();
            assertThat(traffic.channel.isActive()).isTrue();
        }
    }

    /** It stands where the codec stood, so it must let octets pass: they are messages that were written before. */
    @Test
    void whatWasWrittenLeavesThroughWhoeverReplacesTheCodec() {
        List<String> passed = new ArrayList<>();
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            ChannelFuture write = traffic.writeText("a");
            traffic.channel.pipeline().replace(traffic.codec, "successor", new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                    passed.add(InTraffic.describe(msg));
                    ctx.write(msg, promise);
                }
            });
            traffic.channel.flush();
            assertThat(passed).containsExactly("octets 000161");
            assertThat(traffic.sent()).isEqualTo(Hex.of("00 01 61"));
            assertThat(write.isSuccess()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "00 05 61", "01 01 61", "01 01 61 / 02 00*6 20 00 62*100", "04 0a 04"})
    void partialFramesAreReleasedWhenTheCodecIsRemoved(String partial) {
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            traffic.receive(partial);
            traffic.channel.pipeline().remove("codec");
            assertThat(traffic.heard).isEmpty();
            assertThat(traffic.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "00 05 61", "01 01 61", "01 01 61 / 02 00*6 20 00 62*5000", "04 0a 04"})
    void partialFramesAreReleasedAtTheEndOfTheInput(String partial) {
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            traffic.receive(partial);
            traffic.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            traffic.channel.runPendingTasks();
            assertThat(traffic.heard).isEmpty();
            assertThat(traffic.failures).isEmpty();
            assertThat(traffic.channel.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "00 05 61", "01 01 61", "01 01 61 / 02 00*6 20 00 62*5000", "04 0a 04"})
    void partialFramesAreReleasedWhenThePeerIsGone(String partial) {
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            traffic.receive(partial);
            traffic.channel
                    .unsafe()
                    .close(traffic.channel.voidPromise()); // past the pipeline, as the transport does it
            traffic.channel.runPendingTasks();
            assertThat(traffic.heard).isEmpty();
            assertThat(traffic.failures).isEmpty();
        }
    }

    @Test
    void theChannelStaysOpenWhenTheCodecIsRemoved() {
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            traffic.channel.pipeline().remove("codec");
            assertThat(traffic.channel.isActive()).isTrue();
            traffic.receive("ca fe");
            assertThat(traffic.heard).containsExactly("octets cafe");
        }
    }

    @Test
    void theEndOfThePeersInputIsTheEndOfTheConnection() {
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            ChannelFuture write = traffic.writeText("last words");
            traffic.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            traffic.channel.runPendingTasks();
            assertThat(write.isSuccess()).isTrue();
            assertThat(traffic.channel.isActive()).isFalse();
            assertThat(traffic.failures).isEmpty();
            assertThat(traffic.events).contains(ChannelInputShutdownEvent.INSTANCE);
            traffic.channel.releaseOutbound();
        }
    }

    @Test
    void aCloseInMidReadDropsTheRest() {
        List<String> heard = new ArrayList<>();
        try (InTraffic traffic = InTraffic.as(PAIR)
                .behind(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        heard.add(InTraffic.describe(msg));
                        ReferenceCountUtil.release(msg);
                        ctx.pipeline().fireChannelInactive();
                    }
                })
                .start()) {
            ByteBuf read = Hex.buffer("00 01 61 / 01 01 62 / 00 01 63");
            traffic.channel.writeInbound(read);
            assertThat(heard).containsExactly("message 61");
            assertThat(read.refCnt()).isZero();
        }
    }

    @Test
    void eventsOfOthersPassThrough() {
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            traffic.events.clear();
            traffic.channel.pipeline().fireUserEventTriggered("an event");
            assertThat(traffic.events).containsExactly("an event");
        }
    }

    @Test
    void exceptionsOfOthersPassThroughAndEndNothing() {
        RuntimeException foreign = new IllegalStateException("foreign");
        try (InTraffic traffic = InTraffic.as(PAIR).start()) {
            traffic.channel.pipeline().fireExceptionCaught(foreign);
            assertThat(traffic.failures).containsExactly(foreign);
            assertThat(traffic.channel.isActive()).isTrue();
        }
    }
}
