package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every promise completes exactly once, with the transport's result for its bytes. */
class PromisesTest {

    private final Gate gate = new Gate();

    private ScriptedPeer dealer() {
        return gate.start(InTraffic.as(DEALER));
    }

    private static ZMTPMessage message(int length) {
        return ZMTPMessage.from(Hex.buffer("61*" + length));
    }

    @Test
    void promisesOfABatchCompleteInOrder() {
        try (ScriptedPeer peer = dealer()) {
            List<Integer> completed = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                int number = i;
                peer.channel.write(message(i % 7 == 0 ? 5000 : i)).addListener(done -> completed.add(number));
            }
            peer.channel.flush();
            assertThat(completed).isEqualTo(IntStream.range(0, 1000).boxed().toList());
            peer.channel.releaseOutbound();
        }
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {0, 10, 4096, 4097, 100_000})
    void noPromiseCompletesBeforeTheTransportHasTheBytes(int length) {
        try (ScriptedPeer peer = dealer()) {
            gate.holds = true;
            ChannelFuture write = peer.channel.writeAndFlush(message(length));
            assertThat(write.isDone()).isFalse();
            gate.open();
            assertThat(write.isDone()).isFalse();
            peer.channel.flush();
            assertThat(write.isSuccess()).isTrue();
            peer.channel.releaseOutbound();
        }
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {10, 5000})
    void voidPromisesAreAccepted(int length) {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(length), peer.channel.voidPromise());
            ChannelFuture other = peer.channel.write(message(10));
            peer.channel.write(message(length), peer.channel.voidPromise());
            peer.channel.flush();
            assertThat(other.isSuccess()).isTrue();
            assertThat(peer.failures).isEmpty();
            peer.channel.releaseOutbound();
        }
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {10, 5000})
    void theFailureOfAVoidPromiseReachesExceptionCaughtOnce(int length) {
        try (ScriptedPeer peer = dealer()) {
            gate.remaining = 0;
            peer.channel.write(message(length), peer.channel.voidPromise());
            peer.channel.flush();
            assertThat(peer.failures).containsExactly(gate.broken);
        }
    }

    @Test
    void theFailureOfAVoidPromiseByACloseReachesExceptionCaught() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(10), peer.channel.voidPromise());
            peer.channel.close();
            assertThat(peer.failures).singleElement().isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void aFailureOfManyBuffersWithVoidPromisesReachesExceptionCaughtOnce() {
        DyingTransport transport = new DyingTransport();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start()) {
            transport.takes = false;
            for (int i = 0; i < 3; i++) {
                peer.channel.writeAndFlush(message(10), peer.channel.voidPromise());
                peer.channel.write(message(5000), peer.channel.voidPromise());
            }
            transport.die(peer.channel);
            assertThat(peer.failures).containsExactly(transport.reset);
        }
    }

    @Test
    void aFailureOfAWriteWithAPromiseIsNotReportedForAVoidOneBeforeIt() {
        DyingTransport transport = new DyingTransport();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start()) {
            peer.channel.writeAndFlush(message(10), peer.channel.voidPromise());
            peer.channel.releaseOutbound();
            transport.takes = false;
            ChannelFuture write = peer.channel.writeAndFlush(message(10));
            transport.die(peer.channel);
            assertThat(write.cause()).isSameAs(transport.reset);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void aFailureThatTheTransportHasReportedIsNotRepeatedForVoidPromises() {
        DyingTransport transport = new DyingTransport();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start()) {
            transport.takes = false;
            peer.channel.writeAndFlush(message(10), peer.channel.voidPromise());
            peer.channel.pipeline().fireExceptionCaught(transport.reset);
            transport.die(peer.channel);
            assertThat(peer.failures).containsExactly(transport.reset);
        }
    }

    @Test
    void aFailureOfVoidPromisesThatTheTransportReportsTooReachesExceptionCaughtOnce() {
        DyingTransport transport = new DyingTransport();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start()) {
            transport.takes = false;
            transport.reports = true;
            peer.channel.writeAndFlush(message(10), peer.channel.voidPromise());
            transport.die(peer.channel);
            assertThat(peer.failures).containsExactly(transport.reset);
        }
    }

    @Test
    void aFailureOfVoidPromisesIsTheOnlyReportAlsoOfAnEndInTheMiddleOfAMessage() {
        DyingTransport transport = new DyingTransport();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start()) {
            transport.takes = false;
            peer.channel.writeAndFlush(message(10), peer.channel.voidPromise());
            peer.send("00 05 61");
            transport.die(peer.channel);
            assertThat(peer.failures).containsExactly(transport.reset);
        }
    }

    @Test
    void writesWithVoidPromisesAfterTheEndReachExceptionCaughtOnce() {
        AtomicReference<ChannelFuture> other = new AtomicReference<>();
        ChannelInboundHandlerAdapter writer = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                for (int i = 0; i < 3; i++) {
                    ctx.writeAndFlush(message(10), ctx.voidPromise());
                }
                other.set(ctx.write(message(10)));
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER).after(writer).start()) {
            peer.channel.unsafe().close(peer.channel.voidPromise()); // past the pipeline, as the transport does it
            peer.channel.runPendingTasks();
            assertThat(peer.failures).singleElement().isInstanceOf(ClosedChannelException.class);
            assertThat(other.get().cause()).isInstanceOf(ClosedChannelException.class);
        }
    }

    /** Keeps what is written until the connection is lost. Then fails all of it with one exception, as Netty does. */
    private static final class DyingTransport extends ChannelDuplexHandler {
        private final IOException reset = new IOException("Connection reset by peer");
        private final List<ChannelPromise> writes = new ArrayList<>();
        private boolean takes = true;
        private boolean reports;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (takes) {
                ctx.write(msg, promise);
            } else {
                ReferenceCountUtil.release(msg);
                writes.add(promise);
            }
        }

        private void die(EmbeddedChannel channel) {
            channel.unsafe().close(channel.voidPromise());
            channel.runPendingTasks();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            writes.forEach(write -> write.tryFailure(reset));
            if (reports) {
                ctx.fireExceptionCaught(reset);
            }
            ctx.fireChannelInactive();
        }
    }

    @Test
    void aRefusedMessageWithAVoidPromiseReachesExceptionCaught() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write("no message", peer.channel.voidPromise());
            assertThat(peer.failures).singleElement().isInstanceOf(EncoderException.class);
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    /** Cancels each promise where the codec could not know of it yet. */
    private static final class Cancels extends ChannelOutboundHandlerAdapter {
        private ChannelHandlerContext codec;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            codec = ctx.pipeline().context("codec");
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) throws Exception {
            promise.cancel(false);
            ((ZMTPCodec) codec.handler()).write(codec, msg, promise);
        }
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {10, 5000})
    void aCancelledMessageIsReleasedAndNotWritten(int length) {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).before(gate).after(new Cancels()).start()) {
            ByteBuf body = Hex.buffer("61*" + length);
            ChannelFuture cancelled = peer.channel.write(ZMTPMessage.from(body));
            peer.channel.flush();
            assertThat(cancelled.isCancelled()).isTrue();
            assertThat(body.refCnt()).isZero();
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void aCancelledSubscriptionIsNotWritten() {
        try (ScriptedPeer peer = InTraffic.as(SUB).after(new Cancels()).start()) {
            peer.channel.writeAndFlush(ZMTPSubscription.subscribe("a"));
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void aMessageCancelledDuringTheHandshakeIsNotWritten() {
        EmbeddedChannel channel = new EmbeddedChannel(ZMTPCodec.of(DEALER));
        ByteBuf body = Hex.buffer("61");
        ChannelFuture cancelled = channel.write(ZMTPMessage.from(body));
        ChannelFuture other = channel.writeAndFlush(ZMTPMessage.fromUTF8("b"));
        assertThat(cancelled.cancel(false)).isTrue();
        channel.releaseOutbound();
        channel.writeInbound(Hex.buffer(ScriptedPeer.greeting(ZMTPVersion.ZMTP10, DEALER)));
        assertThat(body.refCnt()).isZero();
        assertThat(other.isSuccess()).isTrue();
        assertThat(Hex.dump(channel.readOutbound())).isEqualTo(Hex.of("02 00 62"));
        channel.finishAndReleaseAll();
    }

    @Test
    void anEncodedMessageCannotBeCancelled() {
        try (ScriptedPeer peer = dealer()) {
            ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            assertThat(write.cancel(false)).isFalse();
            peer.channel.flush();
            assertThat(write.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
        }
    }

    @ParameterizedTest(name = "write {0} fails")
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void aWriteThatTheTransportRefusesFailsAllThatFollows(int good) {
        try (ScriptedPeer peer = dealer()) {
            gate.remaining = good;
            List<ChannelFuture> writes = new ArrayList<>();
            List<Integer> completions = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                int number = i;
                // Every tenth fills the buffer, and every tenth goes by reference.
                int length = i % 10 == 0 ? 4096 : i % 10 == 5 ? 6000 : 10;
                ChannelFuture write = peer.channel.write(
                        i % 9 == 0
                                ? ZMTPMessage.from(Hex.buffer("62"), Hex.buffer("63*5000"), Hex.buffer("64*" + length))
                                : message(length));
                write.addListener(done -> completions.add(number));
                writes.add(write);
            }
            peer.channel.flush();
            peer.channel.runPendingTasks();
            assertThat(writes).allMatch(ChannelFuture::isDone);
            assertThat(completions).hasSize(40).doesNotHaveDuplicates();
            assertThat(peer.failures).containsExactly(gate.broken);
            assertThat(peer.channel.isActive()).isFalse();
            assertThat(writes).noneMatch(ChannelFuture::isSuccess); // nothing was flushed before the failure
        }
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {10, 5000})
    void nothingIsWrittenAfterMissingBytesByTheListenerOfAFailedWrite(int length) {
        try (ScriptedPeer peer = dealer()) {
            List<ChannelFuture> late = new ArrayList<>();
            gate.remaining = 0;
            peer.channel.write(message(length)).addListener(failed -> {
                gate.remaining = Integer.MAX_VALUE;
                late.add(peer.channel.writeAndFlush(message(5000)));
            });
            peer.channel.flush();
            assertThat(late)
                    .singleElement()
                    .satisfies(write -> assertThat(write.cause()).isInstanceOf(ClosedChannelException.class));
            assertThat(peer.failures).containsExactly(gate.broken);
            assertThat(gate.writes).hasSize(1);
        }
    }

    @Test
    void writesTheTransportTookBeforeAFailureHaveSucceeded() {
        try (ScriptedPeer peer = dealer()) {
            ChannelFuture good = peer.channel.writeAndFlush(message(10));
            gate.remaining = 0;
            ChannelFuture bad = peer.channel.writeAndFlush(message(10));
            ChannelFuture late = peer.channel.writeAndFlush(message(10));
            assertThat(good.isSuccess()).isTrue();
            assertThat(bad.cause()).isSameAs(gate.broken);
            assertThat(late.cause()).isInstanceOf(ClosedChannelException.class);
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void aMessageFailsIfAPartOfItCannotBeSent() {
        try (ScriptedPeer peer = dealer()) {
            gate.remaining = 1; // the header of the big frame
            ChannelFuture write = peer.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("62*5000"), Hex.buffer("63")));
            assertThat(write.isDone()).isTrue();
            assertThat(write.isSuccess()).isFalse();
            assertThat(peer.failures).containsExactly(gate.broken);
        }
    }

    /** Writes when the connection has ended and the codec is still there to answer. */
    private static final class LateWriter extends ChannelInboundHandlerAdapter {
        private final ByteBuf body = Hex.buffer("61*5000");
        private ChannelFuture write;

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            write = ctx.writeAndFlush(ZMTPMessage.from(body));
            ctx.fireChannelInactive();
        }
    }

    @Test
    void aWriteAfterTheEndFailsAndReleases() {
        LateWriter late = new LateWriter();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(gate).after(late).start()) {
            gate.reset();
            peer.channel.close();
            assertThat(late.write.cause())
                    .isInstanceOf(ClosedChannelException.class)
                    .hasNoCause();
            assertThat(late.body.refCnt()).isZero();
            assertThat(gate.writes).isEmpty();
        }
    }

    @Test
    void aWriteAfterAFailureNamesIt() {
        AtomicReference<ChannelFuture> late = new AtomicReference<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        late.set(ctx.writeAndFlush(message(5000)));
                        ctx.fireExceptionCaught(cause);
                    }
                })
                .start()) {
            peer.send("08 00");
            assertThat(late.get().cause())
                    .isInstanceOf(ClosedChannelException.class)
                    .hasCause(peer.failures.get(0));
            assertThat(peer.received()).isEmpty();
        }
    }

    static List<Arguments> endings() {
        return List.of(
                Arguments.of("close", (Consumer<ScriptedPeer>) peer -> peer.channel.close()),
                Arguments.of("disconnect", (Consumer<ScriptedPeer>) peer -> peer.channel.disconnect()),
                Arguments.of("pipeline close", (Consumer<ScriptedPeer>) peer -> {
                    peer.channel.pipeline().close();
                    peer.channel.runPendingTasks();
                }),
                Arguments.of("transport closes", (Consumer<ScriptedPeer>) peer -> {
                    peer.channel.pipeline().firstContext().close();
                    peer.channel.runPendingTasks();
                }));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("endings")
    void unflushedWritesFailWithTheChannel(String name, Consumer<ScriptedPeer> ending) {
        try (ScriptedPeer peer = dealer()) {
            ChannelFuture small = peer.channel.write(message(10));
            ChannelFuture big = peer.channel.write(message(5000));
            ChannelFuture last = peer.channel.write(message(10));
            ending.accept(peer);
            assertThat(List.of(small, big, last))
                    .allSatisfy(write -> assertThat(write.cause()).isInstanceOf(ClosedChannelException.class));
            assertThat(peer.failures).isEmpty();
            assertThat(peer.received()).isEmpty();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("endings")
    void flushedWritesAreSentBeforeTheChannelIsClosed(String name, Consumer<ScriptedPeer> ending) {
        try (ScriptedPeer peer = dealer()) {
            ChannelFuture write = peer.channel.writeAndFlush(message(3));
            ending.accept(peer);
            assertThat(write.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("00 03 61*3"));
        }
    }

    @Test
    void aCloseHandsTheOpenBufferToTheTransport() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(3));
            peer.channel.close();
            assertThat(gate.writesBeforeClose).isOne();
        }
    }

    @Test
    void aDisconnectHandsTheOpenBufferToTheTransport() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(3));
            // Directly, as a channel that cannot be disconnected turns the call into a close.
            peer.codec().disconnect(peer.channel.pipeline().context("codec"), peer.channel.newPromise());
            assertThat(gate.writesBeforeClose).isOne();
        }
    }
}
