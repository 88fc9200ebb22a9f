package dev.zmtp.codec.transports;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.logging.LogLevel;
import io.netty.handler.logging.LoggingHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.ReadTimeoutException;
import io.netty.handler.timeout.ReadTimeoutHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The codec beside Netty's own handlers, and on each of Netty's allocators. */
class NeighboursTest {

    /** Those of this Netty; 4.1 has no adaptive one. */
    static Stream<Named<ByteBufAllocator>> allocators() {
        Stream.Builder<Named<ByteBufAllocator>> all = Stream.builder();
        all.add(Named.of("default", ByteBufAllocator.DEFAULT));
        all.add(Named.of("pooled, direct", new PooledByteBufAllocator(true)));
        all.add(Named.of("pooled, heap", new PooledByteBufAllocator(false)));
        all.add(Named.of("unpooled, direct", new UnpooledByteBufAllocator(true)));
        all.add(Named.of("unpooled, heap", new UnpooledByteBufAllocator(false)));
        try {
            Class<? extends ByteBufAllocator> adaptive =
                    Class.forName("io.netty.buffer.AdaptiveByteBufAllocator").asSubclass(ByteBufAllocator.class);
            all.add(Named.of("adaptive", adaptive.getDeclaredConstructor().newInstance()));
        } catch (ReflectiveOperationException netty41) {
            // There is one allocator less to try.
        }
        return all.build();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("allocators")
    void messagesPassWithEveryAllocator(ByteBufAllocator alloc) {
        String bytes = "01 01 61 / 03 00*6 13 88 62*5000 / 00 01 63 / 02 00*6 01 2c 64*300 / 00 00";
        try (ScriptedPeer peer = InTraffic.as(DEALER).allocator(alloc).start()) {
            ByteBuf read = alloc.buffer().writeBytes(Hex.bytes(bytes));
            peer.channel.writeInbound(read.readRetainedSlice(2000), read.readRetainedSlice(4));
            peer.channel.writeInbound(read);
            assertThat(read.refCnt()).isZero();
            assertThat(peer.messages)
                    .containsExactly(
                            "message 61 " + Hex.of("62*5000") + " 63", "message " + Hex.of("64*300"), "message -");
            ByteBuf big = alloc.buffer().writeBytes(Hex.bytes("62*5000"));
            peer.channel.write(ZMTPMessage.from(Hex.buffer("61"), big, Hex.buffer("63")));
            ByteBuf small = alloc.buffer().writeBytes(Hex.bytes("64*300"));
            peer.channel.write(ZMTPMessage.from(small));
            peer.channel.write(ZMTPMessage.fromUTF8(""));
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of(bytes));
            assertThat(big.refCnt()).isZero();
            assertThat(small.refCnt()).isZero();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("allocators")
    void aReceivedMessageIsNotShared(ByteBufAllocator alloc) {
        List<ZMTPMessage> kept = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .allocator(alloc)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        kept.add((ZMTPMessage) msg);
                    }
                })
                .start()) {
            ByteBuf read = alloc.buffer().writeBytes(Hex.bytes("00 02 61 62 / 01 01 63 00 02 64"));
            peer.channel.writeInbound(read);
            peer.channel.writeInbound(alloc.buffer().writeBytes(Hex.bytes("65")));
        }
        // Both outlive the connection, in any order.
        assertThat(kept).extracting(Fired::describe).containsExactly("message 6162", "message 63 6465");
        kept.get(1).frame(1).setByte(0, 'z');
        kept.get(0).release();
        assertThat(Fired.describe(kept.get(1))).isEqualTo("message 63 7a65");
        kept.get(1).release();
        assertThat(kept).allMatch(message -> message.refCnt() == 0);
    }

    @Test
    void aFlushConsolidationHandlerBeforeTheCodecDelaysFlushes() {
        Gate transport = new Gate();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.consolidateFlushes(false))
                .before(transport, new FlushConsolidationHandler(1000, true))
                .after(new Echo())
                .start()) {
            transport.reset();
            peer.send("00 01 61 / 04 07 04 \"PING\" 00 00 / 00 01 62 / 00 01 63");
            assertThat(transport.flushes).isOne();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 04 05 04 \"PONG\" / 00 01 62 / 00 01 63"));
        }
    }

    @Test
    void aFlushConsolidationHandlerAfterTheCodecDelaysFlushesToo() {
        Gate transport = new Gate();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .before(transport)
                .after(new FlushConsolidationHandler(1000, true), new Echo())
                .start()) {
            transport.reset();
            peer.send("00 01 61 / 00 01 62 / 00 01 63");
            assertThat(transport.flushes).isOne();
            assertThat(transport.writes).containsExactly(9);
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 00 01 62 / 00 01 63"));
        }
    }

    /** Sends each message back. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }

    @Tag("netty-4.2-only") // in 4.1 the handler has a clock of its own
    @Test
    void anIdleStateHandlerAfterTheCodecSeesMessages() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new IdleStateHandler(10, 0, 0, TimeUnit.SECONDS))
                .start()) {
            for (int i = 0; i < 3; i++) {
                peer.channel.advanceTimeBy(9, TimeUnit.SECONDS);
                peer.send("00 01 61");
            }
            assertThat(peer.events).noneMatch(IdleStateEvent.class::isInstance);
            peer.channel.advanceTimeBy(10, TimeUnit.SECONDS);
            peer.channel.runPendingTasks();
            assertThat(peer.events).last().isInstanceOf(IdleStateEvent.class);
        }
    }

    @Tag("netty-4.2-only") // in 4.1 the handler has a clock of its own
    @Test
    void anIdleStateHandlerBeforeTheCodecSeesBytesAndItsEventPasses() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .before(new IdleStateHandler(10, 0, 0, TimeUnit.SECONDS))
                .start()) {
            peer.channel.advanceTimeBy(9, TimeUnit.SECONDS);
            peer.send("04 05 04 \"PONG\"");
            peer.channel.advanceTimeBy(9, TimeUnit.SECONDS);
            peer.channel.runPendingTasks();
            assertThat(peer.events).noneMatch(IdleStateEvent.class::isInstance);
            peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
            peer.channel.runPendingTasks();
            assertThat(peer.events).last().isInstanceOf(IdleStateEvent.class);
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    /** A codec in its handshake, with a frozen clock and these handlers before and after it. */
    private static ScriptedPeer frozen(ChannelHandler front, ChannelHandler behind) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        peer.channel.pipeline().addBefore("recorder", "front", front);
        peer.channel.pipeline().addBefore("recorder", "codec", ZMTPCodec.of(DEALER));
        peer.channel.pipeline().addBefore("recorder", "behind", behind);
        return peer;
    }

    private static void pass(EmbeddedChannel channel, long seconds) {
        channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
        channel.runPendingTasks();
    }

    @Tag("netty-4.2-only") // in 4.1 the handler has a clock of its own
    @Test
    void aReadTimeoutInTheHandshakeIsItsOnlyFailure() {
        try (ScriptedPeer peer = frozen(new ReadTimeoutHandler(10), new ChannelInboundHandlerAdapter())) {
            ChannelFuture held = peer.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("61")));
            pass(peer.channel, 9);
            peer.send(GREETING);
            pass(peer.channel, 9);
            assertThat(peer.all).isEmpty();
            pass(peer.channel, 1);
            Throwable cause = peer.onlyEvent(ZMTPHandshakeFailure.class).cause();
            assertThat(cause).isInstanceOf(ReadTimeoutException.class);
            assertThat(held.cause()).isSameAs(cause);
            assertThat(peer.failures).isEmpty();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    /**
     * It stands after the codec and sees no byte of the handshake, so it fires. The user who added it there gets its
     * event.
     */
    @Tag("netty-4.2-only") // in 4.1 the handler has a clock of its own
    @Test
    void aReadTimeoutAfterTheCodecEndsTheHandshakeLikeAnyClose() {
        try (ScriptedPeer peer = frozen(new ChannelInboundHandlerAdapter(), new ReadTimeoutHandler(10))) {
            ChannelFuture held = peer.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("61")));
            pass(peer.channel, 9);
            peer.send(GREETING);
            pass(peer.channel, 1);
            assertThat(peer.failures).singleElement().isInstanceOf(ReadTimeoutException.class);
            ZMTPException cause =
                    (ZMTPException) peer.onlyEvent(ZMTPHandshakeFailure.class).cause();
            assertThat(cause.code()).isEqualTo(ZMTPException.Code.CLOSED);
            assertThat(held.cause()).isSameAs(cause);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Tag("netty-4.2-only") // in 4.1 the handler has a clock of its own
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aReadTimeoutInTrafficIsReportedOnceAndEndsTheConnection(boolean inFront) {
        ChannelHandler timeout = new ReadTimeoutHandler(10);
        ChannelHandler none = new ChannelInboundHandlerAdapter();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .before(inFront ? timeout : none)
                .after(inFront ? none : timeout)
                .start()) {
            pass(peer.channel, 9);
            peer.send("00 01 61 / 01 01 62 / 02 00*6 20 00 63*5000");
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("never flushed"));
            pass(peer.channel, 9);
            assertThat(peer.failures).isEmpty();
            pass(peer.channel, 1);
            assertThat(peer.failures).singleElement().isInstanceOf(ReadTimeoutException.class);
            assertThat(peer.messages).containsExactly("message 61");
            assertThat(write.isDone()).isTrue();
            assertThat(write.isSuccess()).isFalse();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    /** Closes when nothing happens, as its user's handler does. */
    private static final class Impatient extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            ctx.fireUserEventTriggered(evt);
            if (evt instanceof IdleStateEvent) {
                ctx.close();
            }
        }
    }

    @Tag("netty-4.2-only") // in 4.1 the handler has a clock of its own
    @ParameterizedTest
    @ValueSource(strings = {"", GREETING, "03", "ff 00*8 7f 01 06 00"})
    void closingAnIdleHandshakeFailsItOnce(String theirs) {
        try (ScriptedPeer peer = frozen(new IdleStateHandler(10, 0, 0, TimeUnit.SECONDS), new Impatient())) {
            peer.send(theirs);
            pass(peer.channel, 9);
            assertThat(peer.all).isEmpty();
            pass(peer.channel, 1);
            assertThat(peer.events).hasSize(2).first().isInstanceOf(IdleStateEvent.class);
            assertThat(((ZMTPHandshakeFailure) peer.events.get(1)).cause())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            cause -> assertThat(cause.code()).isEqualTo(ZMTPException.Code.CLOSED));
            assertThat(peer.failures).isEmpty();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Tag("netty-4.2-only") // in 4.1 the handler has a clock of its own
    @Test
    void closingIdleTrafficReportsNoFailure() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .before(new IdleStateHandler(0, 0, 10, TimeUnit.SECONDS))
                .after(new Impatient())
                .start()) {
            peer.send("01 01 61 / 02 00*6 20 00 62*5000");
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("never flushed"));
            pass(peer.channel, 10);
            assertThat(peer.events).last().isInstanceOf(IdleStateEvent.class);
            assertThat(peer.failures).isEmpty();
            assertThat(write.isDone()).isTrue();
            assertThat(peer.channel.isOpen()).isFalse();
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void loggingHandlersOnBothSidesChangeNothing() {
        try (CapturedLog front = new CapturedLog("dev.zmtp.test.front");
                CapturedLog behind = new CapturedLog("dev.zmtp.test.behind");
                ScriptedPeer peer = InTraffic.as(DEALER)
                        .before(new LoggingHandler("dev.zmtp.test.front", LogLevel.TRACE))
                        .after(new LoggingHandler("dev.zmtp.test.behind", LogLevel.TRACE))
                        .start()) {
            front.lines.clear();
            behind.lines.clear();
            ByteBuf read = Hex.buffer("00 01 61 / 01 01 62 / 00 00");
            peer.channel.writeInbound(read);
            ByteBuf body = Hex.buffer("63");
            ChannelFuture write = peer.channel.writeAndFlush(ZMTPMessage.from(body));
            assertThat(peer.messages).containsExactly("message 61", "message 62 -");
            assertThat(write.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 63"));
            assertThat(read.refCnt()).isZero();
            assertThat(body.refCnt()).isZero();
            assertThat(steps(front)).containsExactly("READ: 8B", "READ COMPLETE", "WRITE: 3B", "FLUSH");
            assertThat(steps(behind))
                    .containsExactly(
                            "READ: ZMTPMessage{[\"a\"]}",
                            "READ: ZMTPMessage{[\"b\",\"\"]}",
                            "READ COMPLETE",
                            "WRITE: ZMTPMessage{[\"c\"]}",
                            "FLUSH");
        }
    }

    /** What was logged, without the channel and without the dump of bytes. */
    private static List<String> steps(CapturedLog log) {
        return log.lines.stream()
                .map(line -> line.lines().findFirst().orElseThrow().replaceFirst("^\\[.*?] ", ""))
                .toList();
    }
}
