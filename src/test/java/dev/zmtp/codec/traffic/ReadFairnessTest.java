package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.connection.PacedReads;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.HeapAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.ReadingTransport;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The time that one connection has on its event loop is bounded, and nothing is lost, doubled or reordered for it. */
@SuppressWarnings("deprecation") // the handle of a receive allocator, which has no successor in 4.1
class ReadFairnessTest {

    private static final int PER_TURN = 3;

    /** Records what arrives at the user's handlers, in words. */
    private static final class User extends ChannelInboundHandlerAdapter {
        private final List<String> calls = new ArrayList<>();

        /** What the next message leads to. */
        private @Nullable Runnable then;

        private boolean closesOnFailure;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            calls.add(Fired.describeAndRelease(msg));
            if (then != null) {
                then.run();
                then = null;
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            calls.add("complete");
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            calls.add(evt.getClass().getSimpleName());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            calls.add(cause.getMessage());
            ctx.fireExceptionCaught(cause);
            if (closesOnFailure) {
                ctx.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            calls.add("inactive");
        }

        List<String> take() {
            List<String> taken = List.copyOf(calls);
            calls.clear();
            return taken;
        }
    }

    private final User user = new User();
    private final ReadingTransport transport = new ReadingTransport();

    private ScriptedPeer traffic() {
        ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.maxFramesPerRead(PER_TURN))
                .before(transport)
                .after(user)
                .start();
        user.take();
        return peer;
    }

    /** The bytes of messages of one digit each. */
    private static String numbered(int from, int to) {
        StringBuilder hex = new StringBuilder();
        for (int i = from; i <= to; i++) {
            hex.append("00 01 ").append("%02x ".formatted('0' + i));
        }
        return hex.toString();
    }

    private static String m(int number) {
        return message(Integer.toString(number));
    }

    @Test
    void whatIsMoreThanATurnComesInLaterTurns() {
        try (ScriptedPeer peer = traffic()) {
            peer.send(numbered(1, 8));
            assertThat(user.calls)
                    .containsExactly(
                            m(1), m(2), m(3), "complete", m(4), m(5), m(6), "complete", m(7), m(8), "complete");
        }
    }

    @Test
    void aTurnThatEndsWithTheLastMessageIsTheOnlyOne() {
        try (ScriptedPeer peer = traffic()) {
            peer.send(numbered(1, 3));
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), "complete");
        }
    }

    /** What a transport reads several times in a row is one turn. */
    @Test
    void severalReadsShareATurn() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 2));
            transport.read(numbered(3, 4));
            transport.read(numbered(5, 5));
            assertThat(user.take()).containsExactly(m(1), m(2), m(3));
            transport.readComplete();
            assertThat(user.take()).containsExactly("complete");
            peer.channel.runPendingTasks();
            assertThat(user.calls).containsExactly(m(4), m(5), "complete");
        }
    }

    @Test
    void whatIsLeftOfAReadComesBeforeTheNextRead() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 7));
            transport.read(numbered(8, 9));
            transport.readComplete();
            peer.channel.runPendingTasks();
            user.calls.removeIf("complete"::equals);
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), m(4), m(5), m(6), m(7), m(8), m(9));
        }
    }

    @Test
    void aReadBringsTheNextTurnForward() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 4));
            transport.readComplete();
            transport.read(numbered(5, 5));
            transport.readComplete();
            assertThat(user.take()).containsExactly(m(1), m(2), m(3), "complete", m(4), m(5), "complete");
            peer.channel.runPendingTasks();
            assertThat(user.calls).isEmpty();
        }
    }

    @Test
    void commandsAndTheFramesOfAMessageCount() {
        try (ScriptedPeer peer = traffic()) {
            peer.send("04 07 04 \"PING\" 00 00 / 01 01 61 / 00 01 62 / 00 01 63");
            assertThat(user.calls).containsExactly(message("a", "b"), "complete", message("c"), "complete");
        }
    }

    @Test
    void aFrameThatArrivesInPartsCountsOnce() {
        try (ScriptedPeer peer = traffic()) {
            transport.read("00 04 61");
            transport.read("62");
            transport.read("63 64" + numbered(1, 2));
            assertThat(user.calls).containsExactly(message("abcd"), m(1), m(2));
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void withoutAutoReadTheRestWaitsForTheNextRead() {
        try (ScriptedPeer peer = traffic()) {
            peer.channel.config().setAutoRead(false);
            peer.channel.read();
            peer.send(numbered(1, 5));
            assertThat(user.take()).containsExactly(m(1), m(2), m(3), "complete");
            peer.channel.runPendingTasks();
            assertThat(user.take()).isEmpty();
            peer.channel.read();
            peer.channel.runPendingTasks();
            assertThat(user.calls).containsExactly(m(4), m(5), "complete");
        }
    }

    @Test
    void theRestGoesOnWhenAutoReadIsTurnedOnAgain() {
        try (ScriptedPeer peer = traffic()) {
            peer.channel.config().setAutoRead(false);
            peer.channel.read();
            peer.send(numbered(1, 5));
            user.take();
            peer.channel.config().setAutoRead(true);
            peer.channel.runPendingTasks();
            assertThat(user.calls).containsExactly(m(4), m(5), "complete");
        }
    }

    @Test
    void theEndOfTheInputIsReportedAfterTheRest() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 4));
            transport.readComplete();
            transport.ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            assertThat(peer.channel.isOpen()).isTrue();
            peer.channel.runPendingTasks();
            assertThat(user.calls)
                    .containsExactly(
                            m(1), m(2), m(3), "complete", m(4), "complete", "ChannelInputShutdownEvent", "inactive");
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    /** A close_notify, and then the end of the socket's input. */
    @Test
    void twoEndsOfTheInputAreReportedAfterTheRest() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 4));
            transport.readComplete();
            transport.ctx.fireUserEventTriggered(SslCloseCompletionEvent.SUCCESS);
            transport.ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            peer.channel.runPendingTasks();
            assertThat(user.calls)
                    .contains(m(4), "complete", "SslCloseCompletionEvent", "ChannelInputShutdownEvent", "inactive");
        }
    }

    /** As a handler may report it that another one has told. */
    @Test
    void anEndOfTheInputInAReadIsReportedAfterTheRestOfTheRead() {
        try (ScriptedPeer peer = traffic()) {
            user.then = () -> transport.ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            transport.read(numbered(1, 2));
            transport.readComplete();
            assertThat(user.calls).containsExactly(m(1), m(2), "complete", "ChannelInputShutdownEvent", "inactive");
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void anEndOfTheInputInAReadIsPassedOnIfTheCodecIsRemovedInIt() {
        try (ScriptedPeer peer = traffic()) {
            user.then = () -> {
                transport.ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
                peer.channel.pipeline().remove(ZMTPCodec.class);
            };
            transport.read(numbered(1, 2));
            transport.readComplete();
            assertThat(user.calls).contains(m(1), "ChannelInputShutdownEvent").doesNotContain("inactive");
        }
    }

    /** What comes after it belongs to the next handler. */
    @Test
    void anEndOfTheInputThatWaitsDoesNotCloseTheChannelIfTheCodecIsRemovedBefore() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 4));
            transport.readComplete();
            transport.ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            user.then = () -> peer.channel.pipeline().remove(ZMTPCodec.class);
            peer.channel.runPendingTasks();
            assertThat(user.calls).contains(m(4), "ChannelInputShutdownEvent").doesNotContain("inactive");
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void allThatWasReadIsDeliveredBeforeTheChannelIsInactive() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 8));
            transport.readComplete();
            transport.ctx.fireChannelInactive();
            assertThat(user.calls)
                    .containsExactly(
                            m(1),
                            m(2),
                            m(3),
                            "complete",
                            m(4),
                            m(5),
                            m(6),
                            "complete",
                            m(7),
                            m(8),
                            "complete",
                            "inactive");
            assertThat(peer.failures).isEmpty();
        }
    }

    /** As a transport does when the peer has reset the connection, in the middle of a frame. */
    private void reset(ScriptedPeer peer) {
        transport.read(numbered(1, 4) + "01");
        transport.readComplete();
        transport.ctx.fireExceptionCaught(new IOException("Connection reset"));
        peer.channel.unsafe().close(peer.channel.voidPromise());
        peer.channel.runPendingTasks();
    }

    @Test
    void aFailureOfTheTransportIsReportedOnceAndAfterTheRest() {
        try (ScriptedPeer peer = traffic()) {
            reset(peer);
            user.calls.removeIf("complete"::equals);
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), m(4), "Connection reset", "inactive");
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void theRestReachesAHandlerThatClosesOnAFailureOfTheTransport() {
        try (ScriptedPeer peer = traffic()) {
            user.closesOnFailure = true;
            reset(peer);
            user.calls.removeIf("complete"::equals);
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), m(4), "Connection reset", "inactive");
        }
    }

    @Test
    void theFailureOfAPendingWriteDoesNotOvertakeTheFailureThatCausesIt() {
        try (ScriptedPeer peer = traffic()) {
            user.closesOnFailure = true;
            ignoreFlushes(peer);
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("pending"), peer.channel.voidPromise());
            reset(peer);

            user.calls.removeIf("complete"::equals);
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), m(4), "Connection reset", "inactive");
        }
    }

    /** The peer has sent it before its end, which fails the write. */
    @Test
    void theFailureOfAPendingWriteDoesNotOvertakeWhatWasReadBeforeTheEnd() {
        try (ScriptedPeer peer = traffic()) {
            user.closesOnFailure = true;
            ignoreFlushes(peer);
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("pending"), peer.channel.voidPromise());
            transport.read(numbered(1, 4));
            transport.readComplete();

            peer.channel.unsafe().close(peer.channel.voidPromise());
            peer.channel.runPendingTasks();

            user.calls.removeIf("complete"::equals);
            assertThat(user.calls).startsWith(m(1), m(2), m(3), m(4)).hasSize(6).endsWith("inactive");
        }
    }

    /** Makes the transport fail writes when it closes. */
    private static void ignoreFlushes(ScriptedPeer peer) {
        peer.channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {}
        });
    }

    @Test
    void aFailureOfTheTransportThatWaitsIsPassedOnIfTheCodecIsRemoved() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 4));
            transport.readComplete();
            transport.ctx.fireExceptionCaught(new IOException("Connection reset"));
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(user.calls).endsWith("complete", "Connection reset");
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void theRestIsReleasedWhenTheUserCloses() {
        ByteBuf read = Hex.buffer(numbered(1, 9));
        try (ScriptedPeer peer = traffic()) {
            transport.ctx.fireChannelRead(read);
            assertThat(read.refCnt()).isEqualTo(1);
            peer.channel.close();
            assertThat(read.refCnt()).isZero();
            peer.channel.runPendingTasks();
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), "inactive");
        }
    }

    /** What the transport asks before each read but the first of a row. */
    private static RecvByteBufAllocator.Handle afterARead(ScriptedPeer peer) {
        RecvByteBufAllocator.Handle handle =
                peer.channel.config().getRecvByteBufAllocator().newHandle();
        handle.reset(peer.channel.config());
        handle.incMessagesRead(1);
        handle.attemptedBytesRead(1000);
        handle.lastBytesRead(1000);
        return handle;
    }

    @Test
    void theTransportStopsItsRowOfReadsInTheSecondHalfOfATurn() {
        try (ScriptedPeer peer = traffic()) {
            RecvByteBufAllocator.Handle handle = afterARead(peer);
            transport.read(numbered(1, 1));
            assertThat(handle.continueReading()).isTrue();
            transport.read(numbered(2, 2));
            assertThat(handle.continueReading()).isFalse();
            transport.readComplete();
            assertThat(handle.continueReading()).isTrue();
            transport.read(numbered(1, 4));
            transport.readComplete();
            assertThat(handle.continueReading()).isFalse();
            peer.channel.runPendingTasks();
            assertThat(handle.continueReading()).isTrue();
        }
    }

    @Test
    void theTransportGetsSmallBuffersWhileAnythingWaits() {
        try (ScriptedPeer peer = traffic()) {
            RecvByteBufAllocator.Handle handle = afterARead(peer);
            assertThat(sizeOf(handle.allocate(peer.channel.alloc()))).isGreaterThan(256);
            transport.read(numbered(1, 4));
            // Of no more frames than a turn handles.
            assertThat(sizeOf(handle.allocate(peer.channel.alloc()))).isEqualTo(2 * PER_TURN);
            transport.readComplete();
            peer.channel.runPendingTasks();
            assertThat(sizeOf(handle.allocate(peer.channel.alloc()))).isGreaterThan(256);
        }
    }

    /** A look at the clock after 64 frames, and one after 128: between them, more than a millisecond passes. */
    @Test
    void aTurnIsOverWhenAHandlerHasTakenLong() {
        AtomicInteger handled = new AtomicInteger();
        ChannelInboundHandlerAdapter slow = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ReferenceCountUtil.release(msg);
                if (handled.incrementAndGet() == 100) {
                    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2);
                    while (System.nanoTime() - end < 0) {
                        Thread.onSpinWait();
                    }
                }
            }
        };
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).before(transport).after(slow).start()) {
            transport.read("00 00".repeat(200));
            assertThat(handled).hasValue(128);
            transport.readComplete();
            peer.channel.runPendingTasks();
            assertThat(handled).hasValue(200);
        }
    }

    private static int sizeOf(ByteBuf buffer) {
        try {
            return buffer.capacity();
        } finally {
            buffer.release();
        }
    }

    @Test
    void theCodecTakesItsPacingOfReadsWithIt() {
        try (ScriptedPeer peer = traffic()) {
            assertThat((Object) peer.channel.config().getRecvByteBufAllocator()).isInstanceOf(PacedReads.class);
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat((Object) peer.channel.config().getRecvByteBufAllocator()).isNotInstanceOf(PacedReads.class);
        }
    }

    /** Netty adds the new handler before it removes the old one. */
    @Test
    void aCodecThatReplacesAnotherPacesReadsInItsPlace() {
        try (ScriptedPeer peer = traffic()) {
            RecvByteBufAllocator.Handle handle = afterARead(peer);
            ZMTPCodec second = ZMTPCodec.builder()
                    .socketType(DEALER)
                    .maxFramesPerRead(PER_TURN)
                    .build();
            peer.channel.pipeline().replace(ZMTPCodec.class, "second", second);
            transport.read(GREETING + ready("ROUTER") + numbered(1, 4));
            assertThat(handle.continueReading()).isFalse();
            assertThat(sizeOf(handle.allocate(peer.channel.alloc()))).isEqualTo(2 * PER_TURN);
            transport.readComplete();
            peer.channel.runPendingTasks();

            peer.channel.pipeline().remove(second);
            assertThat((Object) peer.channel.config().getRecvByteBufAllocator()).isNotInstanceOf(PacedReads.class);
        }
    }

    /** The transport keeps the handle of its reads for the life of the channel. */
    @Test
    void afterItsRemovalInTheMiddleOfATurnTheCodecNoLongerPacesReads() {
        try (ScriptedPeer peer = traffic()) {
            RecvByteBufAllocator.Handle handle = afterARead(peer);
            transport.read(numbered(1, 2));
            assertThat(handle.continueReading()).isFalse();
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(handle.continueReading()).isTrue();
            assertThat(sizeOf(handle.allocate(peer.channel.alloc()))).isGreaterThan(256);
        }
    }

    @Test
    void anAllocatorThatWasSetLaterStaysWhenTheCodecIsRemoved() {
        try (ScriptedPeer peer = traffic()) {
            RecvByteBufAllocator later = new FixedRecvByteBufAllocator(1_000);
            peer.channel.config().setRecvByteBufAllocator(later);
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat((Object) peer.channel.config().getRecvByteBufAllocator()).isSameAs(later);
        }
    }

    /** As when a user sets the options of one channel for the next. */
    @Test
    void aChannelThatHasTheAllocatorOfAnotherLeavesThePacingOfThat() {
        try (ScriptedPeer peer = traffic()) {
            RecvByteBufAllocator.Handle handle = afterARead(peer);
            EmbeddedChannel other = new EmbeddedChannel();
            other.config().setRecvByteBufAllocator(peer.channel.config().getRecvByteBufAllocator());
            try (ScriptedPeer second = new ScriptedPeer(other, ZMTPCodec.of(DEALER))) {
                second.send(GREETING + ready("ROUTER")).onlyEvent(ZMTPHandshakeSuccess.class);
                transport.read(numbered(1, 2));
                assertThat(handle.continueReading()).isFalse();
            }
        }
    }

    /** A peer must not be able to make us keep a large buffer for one frame of it. */
    @Test
    void aSmallRestOfALargeReadDoesNotKeepTheReadBuffer() {
        ByteBuf read = Unpooled.buffer(10_000).writeBytes(Hex.bytes(numbered(1, 4)));
        try (ScriptedPeer peer = traffic()) {
            transport.ctx.fireChannelRead(read);
            assertThat(read.refCnt()).isZero();
            transport.readComplete();
            peer.channel.runPendingTasks();
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), "complete", m(4), "complete");
        }
    }

    @Test
    void theConnectionEndsIfThereIsNoMemoryForWhatWaits() {
        ByteBuf read = Unpooled.buffer(10_000).writeBytes(Hex.bytes(numbered(1, 4)));
        try (ScriptedPeer peer = traffic()) {
            FullAllocator full = new FullAllocator();
            full.full = true;
            peer.channel.config().setAllocator(full);
            transport.ctx.fireChannelRead(read);
            assertThat(read.refCnt()).isZero();
            assertThat(peer.failures)
                    .hasSize(1)
                    .first()
                    .satisfies(failure -> assertThat(failure).hasRootCauseInstanceOf(OutOfMemoryError.class));
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void theRestGoesToTheNextHandlerWhenTheCodecIsRemoved() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 4));
            transport.readComplete();
            user.take();
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(user.calls).containsExactly("bytes 000134", "complete");
        }
    }

    @Test
    void anEndOfTheInputThatWaitsGoesToTheNextHandlerAfterTheRest() {
        try (ScriptedPeer peer = traffic()) {
            transport.read(numbered(1, 4));
            transport.readComplete();
            transport.ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            user.take();
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(user.calls).containsExactly("bytes 000134", "complete", "ChannelInputShutdownEvent");
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    /** The handshake reads by itself, and such a read may bring more than the handshake. */
    @Test
    void whatFollowsTheHandshakeWaitsUntilItIsAskedFor() {
        User late = new User();
        try (ScriptedPeer peer = new ScriptedPeer()) {
            peer.channel.config().setAutoRead(false);
            peer.channel.pipeline().addBefore("recorder", "codec", ZMTPCodec.of(DEALER));
            peer.channel.pipeline().addBefore("recorder", "user", late);
            peer.send(GREETING + ready("ROUTER") + numbered(1, 2));
            assertThat(late.take()).containsExactly("ZMTPHandshakeSuccess", "complete");
            peer.channel.read();
            peer.channel.runPendingTasks();
            assertThat(late.calls).containsExactly(m(1), m(2), "complete");
        }
    }

    /** As a transport may that is asked to read from inside a callback, and has nothing more. */
    @Test
    void whatIsReadInsideTheEndOfTheHandshakeIsFollowedByTheEndOfARead() {
        CompletableFuture<ZMTPAuthDecision> decision = new CompletableFuture<>();
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .authenticator(request -> decision)
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(transport, codec, user)) {
            peer.send(GREETING + ready("ROUTER"));
            user.take();
            codec.session().handshakeFuture().addListener(done -> {
                transport.read(numbered(1, 2));
                transport.readComplete();
            });
            decision.complete(ZMTPAuthDecision.accept(""));
            peer.channel.runPendingTasks();
            assertThat(user.calls).endsWith(m(1), m(2), "complete");
        }
    }

    @Test
    void sealedFramesCount() {
        try (CodecPair pair = CodecPair.curve(codec -> codec.maxFramesPerRead(PER_TURN))) {
            pair.right
                    .channel
                    .pipeline()
                    .addAfter(
                            pair.right
                                    .channel
                                    .pipeline()
                                    .context(ZMTPCodec.class)
                                    .name(),
                            "user",
                            user);
            for (int i = 1; i <= 4; i++) {
                pair.left.channel.write(ZMTPMessage.fromUTF8(Integer.toString(i)));
            }
            pair.left.channel.flush();
            pair.exchange();
            assertThat(user.calls).containsExactly(m(1), m(2), m(3), "complete", m(4), "complete");
        }
    }

    /** Each buffer would take fifty times the memory of its bytes. A WebSocket makes one of each message in fragments. */
    @Test
    void manySmallReadsWaitInFewBuffers() {
        AtomicInteger buffers = new AtomicInteger();
        HeapAllocator allocator = new HeapAllocator() {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                buffers.incrementAndGet();
                return super.newHeapBuffer(initialCapacity, maxCapacity);
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.maxFramesPerRead(PER_TURN))
                .allocator(allocator)
                .before(transport)
                .after(user)
                .start()) {
            user.take();
            buffers.set(0);
            int reads = 5_000;
            List<ByteBuf> read = new ArrayList<>();

            for (int i = 0; i < reads; i++) {
                read.add(Hex.buffer(numbered(i % 10, i % 10)));
                transport.ctx.fireChannelRead(read.get(i));
            }
            assertThat(user.take()).containsExactly(m(0), m(1), m(2));
            assertThat(buffers.get()
                            + read.stream().filter(in -> in.refCnt() > 0).count())
                    .isLessThan(10);

            transport.readComplete();
            peer.channel.runPendingTasks();
            List<String> messages = user.take().stream()
                    .filter(call -> !call.equals("complete"))
                    .toList();
            assertThat(messages).hasSize(reads - 3).startsWith(m(3), m(4)).endsWith(m(8), m(9));
        }
    }

    /** Of many tiny frames in one read, a neighbor on the same event loop waits for one turn, not for all. */
    @Test
    void aNeighborIsServedBetweenTheTurnsOfAFlood() throws Exception {
        int flood = 100_000;
        AtomicInteger handled = new AtomicInteger();
        CompletableFuture<Integer> handledBeforeNeighbor = new CompletableFuture<>();
        CompletableFuture<Void> floodHandled = new CompletableFuture<>();
        AtomicBoolean neighborSent = new AtomicBoolean();
        CountDownLatch connected = new CountDownLatch(2);
        EventLoops loops = new EventLoops(1);
        Channel server = new ServerBootstrap()
                .group(loops.group())
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(64 << 10));
                        ch.pipeline().addLast(ZMTPCodec.of(DEALER), new ChannelInboundHandlerAdapter() {
                            @Override
                            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                                connected.countDown();
                            }

                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                boolean ofNeighbor =
                                        ((ZMTPMessage) msg).frame(0).isReadable();
                                ReferenceCountUtil.release(msg);
                                if (ofNeighbor) {
                                    handledBeforeNeighbor.complete(handled.get());
                                } else if (handled.incrementAndGet() == flood) {
                                    floodHandled.complete(null);
                                }
                            }
                        });
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        try (Socket flooder = new Socket(address.getAddress(), address.getPort());
                Socket neighbor = new Socket(address.getAddress(), address.getPort())) {
            for (Socket socket : List.of(flooder, neighbor)) {
                socket.getOutputStream().write(Hex.bytes(GREETING + ready("ROUTER")));
            }
            assertThat(connected.await(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .isTrue();
            // While the loop is busy, both send: then it finds both sockets readable, the flood's first.
            CountDownLatch sent = new CountDownLatch(1);
            loops.group().next().execute(sent::countDown);
            loops.group().next().execute(() -> {
                while (!neighborSent.get()) {} // a loop that is busy, not one that waits
            });
            OutputStream out = flooder.getOutputStream();
            assertThat(sent.await(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            out.write(new byte[2 * flood]);
            neighbor.getOutputStream().write(Hex.bytes("00 01 61"));
            neighborSent.set(true);
            assertThat(handledBeforeNeighbor.get(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .isLessThanOrEqualTo(2 * 2048);
            floodHandled.get(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS);
        } finally {
            loops.close();
        }
    }
}
