package dev.zmtp.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.testing.Hex;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The closing handshake of WebSocket, in both directions. */
class ZwsCloseTest {

    private static final String KEY = "37 fa 21 3d ";
    private static final String CLOSE = Hex.of("88 02 03 e8");
    private static final String CLOSE_OF_CLIENT = Hex.of("88 82 " + KEY + "34 12");

    /** The close of an embedded channel cancels all timers, so a close that waits is the pipeline's. */
    private static void advance(TranslatedChannel end, long millis) {
        end.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        end.channel.runScheduledPendingTasks();
    }

    @Test
    void aCloseSendsACloseFrameAndWaitsForThePeers() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.write("00 01 61");
            ChannelFuture closed = end.channel.close();

            assertThat(end.received()).isEqualTo(Hex.of("82 02 00 61") + CLOSE);
            assertThat(closed.isDone()).isFalse();
            end.receive(CLOSE_OF_CLIENT);
            assertThat(closed.isSuccess()).isTrue();
            assertThat(end.channel.isOpen()).isFalse();
            assertThat(end.received()).isEmpty();
        }
    }

    @Test
    void aClientMasksItsCloseFrame() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.channel.close();
            assertThat(end.received()).isEqualTo(CLOSE_OF_CLIENT);
            end.receive("88 00");
            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aPeerHasASecondToAnswer() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            ChannelFuture closed = end.channel.pipeline().close();
            ChannelFuture again = end.channel.pipeline().close();
            ChannelFuture disconnected = end.channel.pipeline().disconnect();
            advance(end, 999);
            assertThat(end.channel.isOpen()).isTrue();
            advance(end, 1);

            assertThat(end.channel.isOpen()).isFalse();
            assertThat(List.of(closed, again, disconnected)).allMatch(ChannelFuture::isSuccess);
            assertThat(end.received()).isEqualTo(CLOSE);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "88 02 03 ea           | 1002          | PEER_ERROR",
                "88 06 03 f0 \"nope\" | 1008 \"nope\" | PEER_ERROR",
                "88 04 0f a0 c3 a4     | 4000 0xc3a4   | PEER_ERROR",
                "88 02 03 f3           | 1011          | CLOSED",
                "88 02 03 f4           | 1012          | CLOSED",
            })
    void theStatusOfThePeerIsTheReasonOfTheEnd(String frame, String status, ZMTPException.Code code) {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.receive(frame);

            assertThat(end.codec.failures)
                    .singleElement(InstanceOfAssertFactories.throwable(ZMTPException.class))
                    .hasMessageStartingWith(
                            "status of the peer's close frame: " + status + " (expected: 1000, 1001 or none), peer ")
                    .extracting(ZMTPException::code)
                    .isEqualTo(code);
            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "88 02 00 00",
                "88 02 03 e7",
                "88 02 03 ec",
                "88 02 03 ed",
                "88 02 03 ee",
                "88 02 03 f7",
                "88 02 07 d0",
                "88 02 13 88",
                "88 03 03 e8 80"
            })
    void aPayloadThatAPeerMayNotSendIsAnsweredWith1002(String frame) {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.receive(frame);

            assertThat(end.codec.failures)
                    .singleElement(InstanceOfAssertFactories.throwable(ZMTPException.class))
                    .extracting(ZMTPException::code)
                    .isEqualTo(ZMTPException.Code.MALFORMED);
            assertThat(end.received()).isEqualTo(Hex.of("88 82 " + KEY + "34 10"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"88 00", "88 02 03 e8", "88 02 03 e9"})
    void aNormalEndOfThePeerIsNoFailure(String frame) {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.receive(frame);

            assertThat(end.codec.failures).isEmpty();
            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    @Test
    void framesOfThePeerBeforeItsAnswerAreNoFailure() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.channel.close();
            end.receive("82 02 00 61 / 89 00 / 88 02 03 e8");

            assertThat(end.channel.isOpen()).isFalse();
            assertThat(end.codec.failures).isEmpty();
            assertThat(end.received()).isEqualTo(CLOSE_OF_CLIENT);
        }
    }

    @Test
    void theCloseFrameOfThePeerIsSentBackAfterWhatCameBeforeIt() {
        List<String> order = new ArrayList<>();
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.channel
                    .pipeline()
                    .addBefore(end.channel.pipeline().lastContext().name(), null, new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object message) {
                            order.add("read");
                            ctx.fireChannelRead(message);
                        }

                        @Override
                        public void channelReadComplete(ChannelHandlerContext ctx) {
                            if (order.size() == 1) {
                                order.add("answer");
                                ctx.writeAndFlush(Hex.buffer("00 01 62"));
                            }
                        }

                        @Override
                        public void channelInactive(ChannelHandlerContext ctx) {
                            order.add("inactive");
                            ctx.fireChannelInactive();
                        }
                    });
            end.receive("82 82 " + KEY + "37 9b / 88 84 " + KEY + "34 13 49 54 / 82 82 " + KEY + "37 9b");

            assertThat(order).containsExactly("read", "answer", "inactive");
            assertThat(end.zmtp()).isEqualTo(Hex.of("00 01 61"));
            assertThat(end.received()).isEqualTo(Hex.of("82 02 00 62 / 88 04 03 e9 68 69"));
            assertThat(end.codec.failures).isEmpty();
        }
    }

    @Test
    void messagesBeforeTheCloseFrameReachTheUserOfTheCodec() {
        try (ZwsPeer peer = ZwsPeer.ofClient(config -> config)) {
            peer.receive("82 02 00 61 / 82 02 00 62 / 88 00");

            assertThat(peer.messages()).containsExactly("message 61", "message 62");
            assertThat(peer.received()).isEqualTo(Hex.of("88 80 " + KEY));
            assertThat(peer.peer.channel.isOpen()).isFalse();
            assertThat(peer.peer.failures).isEmpty();
        }
    }

    @Test
    void aCloseFrameInTheHandshakeFailsIt() {
        try (TranslatedCodec end = new TranslatedCodec()) {
            end.peer.send("88 82 " + KEY + "34 12");

            assertThat(end.peer.onlyEvent(ZMTPHandshakeFailure.class).cause()).hasMessageContaining("by the peer");
            assertThat(end.peer.received()).isEqualTo(CLOSE);
        }
    }

    @Test
    void theCodecClosesLikeAUser() {
        try (ZwsPeer peer = ZwsPeer.ofServer(config -> config)) {
            ChannelFuture sent = peer.peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a"));
            peer.peer.channel.close();

            assertThat(sent.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("82 02 00 61") + CLOSE);
            peer.receive(CLOSE_OF_CLIENT);
            assertThat(peer.peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void nothingIsWrittenAfterACloseFrame() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.channel.close();
            end.received();

            assertThat(end.write("00 01 61").cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(end.received()).isEmpty();
        }
    }

    @Test
    void aCloseInTheMiddleOfAFrameSendsNoCloseFrame() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.write("00 05 61");
            end.channel.close();

            assertThat(end.received()).isEqualTo(Hex.of("82 06 00 61"));
            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aCloseBeforeTheUpgradeIsImmediate() {
        try (TranslatedChannel end = new TranslatedChannel(WebSocketRole.CLIENT, config -> config)) {
            assertThat(end.channel.close().isSuccess()).isTrue();
            end.translator.start(ZwsProtocol.BARE);

            assertThat(end.zmtp()).isEmpty();
            assertThat(end.received()).isEmpty();
        }
    }

    @Test
    void aPeerWhoseInputHasEndedNeedNotAnswer() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            end.channel.close();

            assertThat(end.received()).isEqualTo(CLOSE);
            assertThat(end.channel.isOpen()).isFalse();
        }
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.channel.close();
            end.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);

            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aCloseInTheMiddleOfAReadEndsTheTranslation() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            end.addAfterTranslator(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    ctx.fireChannelRead(message);
                    ctx.close();
                }
            });
            end.receive("82 02 00 61 / 82 7e 08 01 00 79*2048 / 02 02 00 62");

            assertThat(end.channel.isOpen()).isFalse();
            assertThat(end.zmtp()).startsWith(Hex.of("00 01 61"));
            assertThat(end.codec.failures).isEmpty();
        }
    }

    /** Holds writes, like a connection whose peer reads nothing, and counts reads. */
    private static final class Stalled extends ChannelOutboundHandlerAdapter {
        private final List<ChannelPromise> writes = new ArrayList<>();
        private int reads;

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            ReferenceCountUtil.release(message);
            writes.add(promise);
        }

        @Override
        public void read(ChannelHandlerContext ctx) {
            reads++;
        }
    }

    @Test
    void aPeerThatReadsNothingHasASecondToo() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            end.channel.pipeline().addFirst(new Stalled());
            end.receive(CLOSE_OF_CLIENT);
            advance(end, 999);
            assertThat(end.channel.isOpen()).isTrue();
            advance(end, 1);
            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    /** The peer has closed, so that the failure of our writes is not the reason. */
    @Test
    void aWriteToAPeerThatHasClosedIsNoFailureOfTheConnection() {
        try (ZwsPeer peer = ZwsPeer.ofServer(config -> config)) {
            peer.peer.channel.pipeline().addFirst(new Stalled());
            peer.receive(CLOSE_OF_CLIENT);
            assertThat(peer.peer.channel.isOpen()).isTrue();
            ChannelFuture sent = peer.peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a"));
            assertThat(sent.isDone()).isFalse();
            peer.advance(CloseTimer.MILLIS);

            assertThat(sent.cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(peer.peer.failures).isEmpty();
            assertThat(peer.peer.channel.isOpen()).isFalse();
        }
    }

    /** Like a transport that has more to send before its close. */
    private static final class SlowClose extends ChannelOutboundHandlerAdapter {
        @Override
        public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
            ctx.executor().schedule(() -> ctx.close(promise), 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void anAnswerAfterTheFailureOfThePeerLosesNoMessageBeforeIt() {
        List<ChannelFuture> answers = new ArrayList<>();
        try (ZwsPeer peer = ZwsPeer.ofClient(config -> config.maxFramesPerRead(1))) {
            peer.peer.channel.pipeline().addFirst(new SlowClose());
            peer.peer.channel.pipeline().addAfter("codec", null, new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    ctx.fireChannelRead(message);
                    answers.add(ctx.writeAndFlush(ZMTPMessage.fromUTF8("answer")));
                }
            });
            peer.receive("82 02 00 61 / 82 02 00 62 / 82 02 00 63 / 88 02 03 f3");
            peer.advance(2_000);

            assertThat(peer.messages()).containsExactly("message 61", "message 62", "message 63");
            assertThat(peer.peer.failures)
                    .singleElement(InstanceOfAssertFactories.throwable(ZMTPException.class))
                    .hasMessageStartingWith("status of the peer's close frame: 1011");
            assertThat(answers).hasSize(3).allMatch(ChannelFuture::isDone);
        }
    }

    /** The codec has decoded one of them, and serves other channels before the next. */
    @ParameterizedTest
    @ValueSource(strings = {"88 02 03 f3", "83 00", "82 05 00"})
    void aFailureIsReportedAfterTheMessagesBeforeIt(String last) {
        try (ZwsPeer peer = ZwsPeer.ofClient(config -> config.maxFramesPerRead(1))) {
            peer.receive("82 02 00 61 / 82 02 00 62 / 82 02 00 63 / " + last);
            if (peer.peer.channel.isOpen()) {
                peer.peer.channel.pipeline().fireChannelInactive(); // in the middle of a frame
            }

            assertThat(peer.messages()).containsExactly("message 61", "message 62", "message 63");
            assertThat(peer.peer.failures).hasSize(1);
            assertThat(peer.peer.all).endsWith(peer.peer.failures.get(0));
        }
    }

    @Test
    void aCloseFrameThatCannotBeWrittenEndsTheWait() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            Stalled transport = new Stalled();
            end.channel.pipeline().addFirst(transport);
            end.channel.close();
            assertThat(end.channel.isOpen()).isTrue();
            transport.writes.get(0).setFailure(new ClosedChannelException());

            assertThat(end.channel.isOpen()).isFalse();
        }
    }

    @Test
    void theAnswerIsReadAlthoughTheUserHasStoppedReading() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            Stalled transport = new Stalled();
            end.channel.pipeline().addFirst(transport);
            end.channel.config().setAutoRead(false);
            end.channel.close();
            assertThat(transport.reads).isEqualTo(1);
            end.receive("82 02 00 61");
            assertThat(transport.reads).isEqualTo(2);
        }
    }

    @Test
    void theEndOfTheTransportCancelsTheWait() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.channel.pipeline().close();
            end.channel.pipeline().fireChannelInactive();
            advance(end, 1000);

            assertThat(end.channel.isOpen()).isTrue(); // which a real one is not
        }
    }
}
