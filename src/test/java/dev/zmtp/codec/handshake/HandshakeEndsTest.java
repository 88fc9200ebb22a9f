package dev.zmtp.codec.handshake;

import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.SlowToClose;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ways in which a handshake fails although the peer sent nothing wrong. */
class HandshakeEndsTest {

    private static ScriptedPeer dealer() {
        return new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER));
    }

    private static Throwable failureOf(ScriptedPeer peer) {
        assertThat(peer.failures).isEmpty();
        return peer.onlyEvent(ZMTPHandshakeFailure.class).cause();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", SIGNATURE, GREETING, "03", SIGNATURE + "01 06 00"})
    void aPeerThatLeavesIsNamedInTheFailure(String theirs) {
        try (ScriptedPeer peer = dealer().send(theirs)) {
            peer.channel.unsafe().close(peer.channel.voidPromise()); // past the pipeline, as the transport does it
            peer.channel.runPendingTasks();
            assertThat(failureOf(peer))
                    .isInstanceOf(ZMTPException.class)
                    .hasMessageStartingWith("handshake with embedded ended by the peer (phase: ");
        }
    }

    @Test
    void aCloseByTheUserIsReportedAsSuch() {
        try (ScriptedPeer peer = dealer().send(SIGNATURE)) {
            peer.channel.close();
            assertThat(failureOf(peer)).hasMessage("handshake with embedded ended by this side (phase: greeting)");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", SIGNATURE, GREETING, "03", SIGNATURE + "01 06 00"})
    void aPeerThatEndsItsOutputIsGone(String theirs) {
        try (ScriptedPeer peer = dealer().send(theirs)) {
            peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            assertThat(peer.events).hasSize(2).first().isSameAs(ChannelInputShutdownEvent.INSTANCE);
            assertThat(((ZMTPHandshakeFailure) peer.events.get(1)).cause())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ZMTPException.Code.CLOSED));
            assertThat(peer.channel.isOpen()).isFalse();
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void anExceptionOfAnEarlierHandlerIsTheCause() {
        IOException cause = new IOException("reset");
        try (ScriptedPeer peer = dealer()) {
            peer.channel.pipeline().fireExceptionCaught(cause);
            assertThat(failureOf(peer)).isSameAs(cause);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void anotherExceptionAfterAFailureGoesToTheNextHandler() {
        IOException other = new IOException("another");
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER), again(failure -> other))) {
            peer.send("00 00");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.failures).containsExactly(other);
        }
    }

    @Test
    void theSameFailureIsReportedOnce() {
        ScriptedPeer bare = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER), again(failure -> failure));
        ScriptedPeer wrapped = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER), again(DecoderException::new));
        for (ScriptedPeer peer : List.of(bare, wrapped)) {
            peer.send("00 00");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.failures).isEmpty();
            peer.close();
        }
    }

    /** An SslHandler fails with the cause of a proxy handler before it, which then reports that itself. */
    @Test
    void aFailureAndItsCauseAreReportedOnce() {
        Throwable wrapped = new DecoderException("TLS", new ConnectException("refused by the proxy"));
        assertReportedOnce(wrapped, Throwable::getCause);
        assertReportedOnce(wrapped, failure -> new IllegalStateException("another wrapper", failure.getCause()));
    }

    private static void assertReportedOnce(Throwable cause, UnaryOperator<Throwable> other) {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER), again(other))) {
            peer.channel.pipeline().fireExceptionCaught(cause);
            assertThat(failureOf(peer)).isSameAs(cause);
        }
    }

    @Test
    void anExceptionWithACircularCauseIsPassedOn() {
        IllegalStateException circular = new IllegalStateException("circular");
        circular.initCause(new IllegalStateException(circular));
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER), again(failure -> circular))) {
            peer.send("00 00");
            assertThat(peer.failures).containsExactly(circular);
        }
    }

    @Test
    void whatOurCloseDoesToAProxyHandlerIsNotReportedAfterATimeout() {
        try (ScriptedPeer peer = new ScriptedPeer(new ProxyThatThinks(), ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel.advanceTimeBy(30, TimeUnit.SECONDS);
            peer.channel.runScheduledPendingTasks();
            assertThat(failureOf(peer)).hasMessageContaining("(expected: within 30000 ms)");
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void whatACloseByTheUserDoesToAProxyHandlerIsNotReportedAfterIt() {
        try (ScriptedPeer peer = new ScriptedPeer(new ProxyThatThinks(), ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel.close();
            assertThat(failureOf(peer)).hasMessageContaining("ended by this side");
        }
    }

    @Test
    void aFaultOfAnotherHandlerIsReportedAlsoWhenTheChannelIsClosed() {
        IllegalStateException fault = new IllegalStateException("a fault");
        ChannelInboundHandlerAdapter faulty = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                throw fault;
            }
        };
        ChannelInboundHandlerAdapter passing = new ChannelInboundHandlerAdapter();
        try (ScriptedPeer peer = new ScriptedPeer(passing, faulty, ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.send("00 00");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.failures).containsExactly(fault);
        }
    }

    /** Has no answer of its proxy yet, as Netty's proxy handlers report when they are disconnected. */
    private static final class ProxyThatThinks extends ChannelInboundHandlerAdapter {
        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ctx.fireExceptionCaught(new ConnectException("proxy: disconnected"));
            ctx.fireChannelInactive();
        }
    }

    /** At the failure of the handshake, lets another exception come from before the codec. */
    private static ChannelInboundHandlerAdapter again(UnaryOperator<Throwable> other) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                ctx.pipeline().fireExceptionCaught(other.apply(((ZMTPHandshakeFailure) evt).cause()));
                ctx.fireUserEventTriggered(evt);
            }
        };
    }

    @Test
    void anExceptionAfterTheHandshakeGoesToTheNextHandler() {
        IOException cause = new IOException("reset");
        try (ScriptedPeer peer = dealer().send(GREETING + ready("ROUTER"))) {
            peer.channel.pipeline().fireExceptionCaught(cause);
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(peer.failures).containsExactly(cause);
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void aGreetingThatCannotBeWrittenIsTheCause() {
        IOException cause = new IOException("broken pipe");
        ChannelOutboundHandlerAdapter broken = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                promise.setFailure(cause);
            }
        };
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.pipeline().addFirst(broken).addAfter("recorder", "unused", new ChannelInboundHandlerAdapter());
        peer.channel.pipeline().addBefore("recorder", "codec", ZMTPCodec.of(ZMTPSocketType.DEALER));
        peer.channel.runPendingTasks();
        assertThat(failureOf(peer)).isSameAs(cause);
        assertThat(peer.channel.isOpen()).isFalse();
        peer.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", SIGNATURE, GREETING, "03", SIGNATURE + "01 06 00"})
    void aGreetingWhoseWriteFailsLaterIsTheCauseToo(String theirs) {
        IOException cause = new IOException("broken pipe");
        List<ChannelPromise> writes = new ArrayList<>();
        try (ScriptedPeer peer = new ScriptedPeer(new Slow(writes), ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.send(theirs);
            assertThat(peer.events).isEmpty();
            writes.get(0).setFailure(cause);
            assertThat(failureOf(peer)).isSameAs(cause);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aReadyWhoseWriteFailsInTrafficEndsTheConnection() {
        IOException cause = new IOException("broken pipe");
        List<ChannelPromise> writes = new ArrayList<>();
        try (ScriptedPeer peer = new ScriptedPeer(new Slow(writes), ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.send(GREETING + ready("ROUTER"));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            writes.get(writes.size() - 1).setFailure(cause);
            assertThat(peer.failures).containsExactly(cause);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", SIGNATURE, GREETING, "03", SIGNATURE + "01 06 00"})
    void aRemovedCodecFailsItsHandshakeAndLeavesTheChannelOpen(String theirs) {
        try (ScriptedPeer peer = dealer().send(theirs)) {
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(failureOf(peer))
                    .isInstanceOf(ZMTPException.class)
                    .hasMessageStartingWith("handshake with embedded ended as the codec was removed (phase: ");
            assertThat(peer.channel.isOpen()).isTrue();
            peer.send("01 02");
            assertThat(peer.messages).hasSize(1);
        }
    }

    @Test
    void aHandlerOfTheFailureMayWriteCloseAndRemove() {
        ChannelInboundHandlerAdapter busy = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                ctx.writeAndFlush(ZMTPMessage.fromUTF8("late"));
                ctx.close();
                ctx.pipeline().remove(ZMTPCodec.class);
                ctx.fireUserEventTriggered(evt);
            }
        };
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER), busy)) {
            peer.send("00 00 01 02");
            assertThat(failureOf(peer)).isInstanceOf(ZMTPException.class);
            assertThat(peer.messages).isEmpty();
        }
    }

    @Test
    @SuppressWarnings("deprecation") // the group that exists in Netty 4.1 and 4.2
    void aChannelThatNeverConnectsFailsOnceAndReleasesHeldWrites() throws InterruptedException {
        EventLoopGroup group = new DefaultEventLoopGroup(1);
        try {
            ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.DEALER);
            ZMTPMessage held = ZMTPMessage.from(
                    io.netty.buffer.ByteBufAllocator.DEFAULT.buffer().writeByte(1));
            BlockingQueue<Object> events = new LinkedBlockingQueue<>();
            BlockingQueue<ChannelFuture> writes = new LinkedBlockingQueue<>();
            ChannelFuture connect = new Bootstrap()
                    .group(group)
                    .channel(LocalChannel.class)
                    .handler(new ChannelInitializer<LocalChannel>() {
                        @Override
                        protected void initChannel(LocalChannel ch) {
                            ch.pipeline().addLast(codec, new ChannelInboundHandlerAdapter() {
                                @Override
                                public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                                    events.add(evt);
                                }
                            });
                            writes.add(ch.writeAndFlush(held));
                        }
                    })
                    .connect(new LocalAddress("nobody is here"));
            assertThat(connect.await().isSuccess()).isFalse();
            assertThat(codec.session().handshakeFuture().await(10, TimeUnit.SECONDS))
                    .isTrue();
            Throwable cause = codec.session().handshakeFuture().cause();
            assertThat(cause)
                    .isInstanceOf(ZMTPException.class)
                    .hasMessageMatching("not connected: .*local:nobody is here")
                    .cause()
                    .isInstanceOf(ConnectException.class);
            assertThat(writes.take().await().cause()).isSameAs(cause);
            assertThat(events.poll(10, TimeUnit.SECONDS))
                    .isEqualTo(new ZMTPHandshakeFailure(codec.session(), cause, true));
            assertThat(held.refCnt()).isZero();
            connect.channel().closeFuture().await();
            group.submit(() -> {}).await();
            assertThat(events).isEmpty();
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).await();
        }
    }

    /** A transport that takes all writes and completes them when a test says so. */
    private static final class Slow extends ChannelOutboundHandlerAdapter {
        private final List<ChannelPromise> writes;

        Slow(List<ChannelPromise> writes) {
            this.writes = writes;
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ReferenceCountUtil.release(msg);
            writes.add(promise);
        }
    }

    @Test
    void aCodecAddedToAClosedChannelFailsAtOnceLikeItsWrites() {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.close();
        Recorder<Object> recorder = Recorder.ofAll();
        ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.DEALER);
        channel.pipeline().addLast(codec, recorder);
        ZMTPMessage message = ZMTPMessage.from(channel.alloc().buffer().writeByte(1));
        ChannelFuture written = channel.write(message);
        channel.runPendingTasks();
        assertThat(codec.session().handshakeFuture().cause())
                .hasMessage("handshake ended as the channel was closed (phase: not connected)");
        assertThat(written.isDone()).isTrue();
        assertThat(message.refCnt()).isZero();
        assertThat(recorder.all).hasSize(1).first().isInstanceOf(ZMTPHandshakeFailure.class);
    }

    /** As a health check does. */
    @Test
    void aPeerThatSentNothingAtAllIsToldFromOneThatFailed() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel.close();
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).silent()).isTrue();
        }
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel.pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
            peer.channel.close();
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).silent()).isTrue();
        }
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.send("ff");
            peer.channel.close();
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).silent()).isFalse();
        }
    }

    @Test
    void nothingMoreOfTheHandshakeIsFiredWhileACloseIsPending() {
        SlowToClose slow = new SlowToClose();
        try (ScriptedPeer peer = new ScriptedPeer(slow, ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            ChannelFuture held = peer.channel.write(ZMTPMessage.fromUTF8("held"));
            peer.channel.pipeline().close();
            peer.send(GREETING + ready("ROUTER") + "00 01 61");
            assertThat(failureOf(peer))
                    .hasMessage("handshake with embedded ended by this side (phase: greeting, nothing received)");
            assertThat(held.isDone()).isTrue();
            assertThat(peer.messages).isEmpty();
            slow.closes.forEach(Runnable::run);
            assertThat(slow.closes).hasSize(1);
            peer.onlyEvent(ZMTPHandshakeFailure.class);
        }
    }

    @Test
    void noSuccessIsReportedAfterTheListenerOfAHeldWriteCloses() {
        SlowToClose slow = new SlowToClose();
        try (ScriptedPeer peer = new ScriptedPeer(slow, ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel
                    .write("not a message")
                    .addListener(failed -> peer.channel.pipeline().close());
            ChannelFuture unsent = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.send(GREETING + ready("ROUTER") + "00 01 61");
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(unsent.isDone()).isTrue();
            assertThat(peer.messages).isEmpty();
            slow.closes.forEach(Runnable::run);
        }
    }

    @Test
    void aGreetingThatCannotBeSentWhenTheCodecIsAddedIsReportedToLaterHandlers() {
        IOException broken = new IOException("broken pipe");
        ChannelOutboundHandlerAdapter transport = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                promise.tryFailure(broken);
            }
        };
        try (ScriptedPeer peer = new ScriptedPeer(transport, ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peer.channel.runPendingTasks();
            assertThat(failureOf(peer)).isSameAs(broken);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void anIdentityThatCannotBeSentToAnUnversionedPeerEndsTheHandshakeForGood() {
        IOException broken = new IOException("broken pipe");
        ChannelOutboundHandlerAdapter transport = new ChannelOutboundHandlerAdapter() {
            private int writes;

            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                if (++writes == 1) {
                    ctx.write(msg, promise);
                } else {
                    ReferenceCountUtil.release(msg);
                    promise.tryFailure(broken);
                }
            }
        };
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .localIdentity("me")
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(transport, codec)) {
            peer.send("01 00 / 02 00 61");
            assertThat(failureOf(peer)).isSameAs(broken);
            assertThat(peer.messages).isEmpty();
        }
    }
}
