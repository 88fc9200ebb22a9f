package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.RecordingDecoder;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Decoders to the application's own types: what they are given, and what becomes of their mistakes. */
class DecoderTest {

    private final RecordingDecoder recorder = new RecordingDecoder();

    private ScriptedPeer decoding() {
        return InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> recorder))
                .start();
    }

    @Test
    void aDecoderGetsEachFrameAndTheEndOfTheMessage() {
        try (ScriptedPeer peer = decoding()) {
            peer.send("01 02 61 62 / 01 00 / 00 01 63 / 00 00");
            assertThat(recorder.log)
                    .containsExactly(
                            "header 2 more",
                            "content 6162",
                            "header 0 more",
                            "content ",
                            "header 1",
                            "content 63",
                            "finish",
                            "header 0",
                            "content ",
                            "finish");
            assertThat(peer.messages).containsExactly("decoded", "decoded");
        }
    }

    @Test
    void aDecoderGetsBytesAsTheyArrive() {
        try (ScriptedPeer peer = decoding()) {
            peer.send("02 00*7 05").send("61 62").send("63").send("64 65 00");
            assertThat(recorder.log)
                    .containsExactly("header 5", "content 6162", "content 63", "content 6465", "finish");
        }
    }

    @Test
    void unreadBytesAreOfferedAgainAsLongAsSomeAreRead() {
        recorder.reads = 1;
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 06 61 62").send("63").send("64 65").send("66 / 00 01 67");
            assertThat(recorder.log)
                    .containsExactly(
                            "header 6",
                            "content 6162",
                            "content 62",
                            "content 63",
                            "content 6465",
                            "content 65",
                            "content 66",
                            "finish",
                            "header 1",
                            "content 67",
                            "finish");
        }
    }

    @Test
    void aDecoderThatReadsNothingGetsTheWholeFrameInTheEnd() {
        recorder.reads = 0;
        for (long seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            byte[] bytes = Hex.bytes("02 00*6 27 10 61*10000");
            try (ScriptedPeer peer = decoding()) {
                recorder.log.clear();
                for (int at = 0; at < bytes.length; ) {
                    int next = Math.min(bytes.length, at + 1 + random.nextInt(1000));
                    peer.send(Arrays.copyOfRange(bytes, at, next));
                    at = next;
                }
                assertThat(recorder.log.get(recorder.log.size() - 2))
                        .as("seed %d", seed)
                        .isEqualTo("content " + Hex.of("61*10000"));
            }
        }
    }

    @Test
    void aLargeFrameIsNotRetained() {
        try (ScriptedPeer peer = decoding()) {
            peer.send("02 00*5 10 00 00");
            for (int i = 0; i < 256; i++) {
                ByteBuf piece = Hex.buffer("61*4096");
                peer.channel.writeInbound(piece);
                assertThat(piece.refCnt()).isZero();
            }
            assertThat(peer.messages).containsExactly("decoded");
        }
    }

    @Test
    void commandsBetweenFramesDoNotReachTheDecoder() {
        try (ScriptedPeer peer = decoding()) {
            peer.send("01 01 61 / 04 07 04 \"PING\" 00 00 / 00 01 62");
            assertThat(recorder.log).containsExactly("header 1 more", "content 61", "header 1", "content 62", "finish");
            assertThat(peer.received()).isEqualTo(Hex.of("04 05 04 \"PONG\""));
        }
    }

    @Test
    void limitsAreCheckedBeforeTheDecoderIsCalled() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> recorder).maxFrameLength(10))
                .start()) {
            Failures.assertTooLarge(peer.send("00 0b"));
            assertThat(recorder.log).isEmpty();
            assertThat(recorder.closes).isOne();
        }
    }

    @Test
    void anXpubsDecoderGetsMessagesButNoSubscriptions() {
        try (ScriptedPeer peer = InTraffic.as(XPUB)
                .set(codec -> codec.decoder(session -> recorder))
                .start()) {
            peer.send("00 02 01 41 / 00 02 02 41");
            assertThat(peer.messages).containsExactly("subscribe 41", "decoded");
            assertThat(recorder.log).containsExactly("header 2", "content 0241", "finish");
        }
    }

    @Test
    void anExceptionOfADecoderEndsTheConnection() {
        recorder.failure = new IllegalStateException("my own");
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 02 61"); // what was decoded before is released
            assertThat(peer.failures)
                    .singleElement()
                    .satisfies(failure -> assertThat(failure)
                            .isInstanceOf(DecoderException.class)
                            .hasCause(recorder.failure)
                            .hasMessage("peer embedded: java.lang.IllegalStateException: my own"));
            assertThat(peer.channel.isActive()).isFalse();
            assertThat(recorder.closes).isOne();
        }
    }

    @Test
    void aZmtpExceptionOfADecoderNamesThePeer() {
        recorder.failure = new ZMTPException(ZMTPException.Code.MALFORMED, "no such message");
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 02 61");
            assertThat(peer.failures)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ZMTPException.Code.MALFORMED))
                    .hasToString("dev.zmtp.ZMTPException: no such message, peer embedded");
        }
    }

    @Test
    void aDecoderExceptionThrownByTheDecoderIsPassedUnchanged() {
        recorder.failure = new CorruptedFrameException("bad");
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 02 61");
            assertThat(peer.failures).containsExactly(recorder.failure);
        }
    }

    @ParameterizedTest(name = "reads {0}")
    @CsvSource({"0", "1", "100"})
    void aDecoderMayRemoveItsCodec(int reads) {
        recorder.reads = reads;
        recorder.onContent = ctx -> {
            if (ctx.pipeline().get(ZMTPCodec.class) != null) {
                ctx.pipeline().remove(ZMTPCodec.class);
            }
        };
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 05 61 62");
            assertThat(recorder.closes).isOne();
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void aClosedDecoderGetsNoFurtherCalls() {
        ZMTPDecoder eager = new ZMTPDecoder() {
            @Override
            public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

            @Override
            public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
                recorder.log.add("content");
                out.add("early");
            }

            @Override
            public void finish(ChannelHandlerContext ctx, List<Object> out) {
                recorder.log.add("finish");
            }

            @Override
            public void close() {
                recorder.log.add("close");
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> eager))
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ctx.pipeline().remove(ZMTPCodec.class);
                    }
                })
                .start()) {
            peer.send("00 02 61 62");
            assertThat(recorder.log).containsExactly("content", "close");
        }
    }

    @Test
    void aDecoderMayRemoveItsCodecWhileBytesAreUnread() {
        recorder.reads = 0;
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 05 61 62");
            recorder.onContent = ctx -> ctx.pipeline().remove(ZMTPCodec.class);
            peer.send("63");
            assertThat(recorder.closes).isOne();
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void sendOnlySocketsNeedNoDecoder() {
        try (ScriptedPeer peer = InTraffic.as(PUSH)
                .set(codec -> codec.decoder(session -> recorder))
                .start()) {
            peer.send("00 01 61");
            assertThat(recorder.log).isEmpty();
        }
    }

    /** Decodes each byte to its own message. */
    private static class ByteCollector implements ZMTPDecoder {
        private boolean closed;

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            while (data.isReadable()) {
                out.add(ZMTPMessage.from(data.readRetainedSlice(1)));
            }
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {}

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void thousandsOfObjectsAreDeliveredInOrder() {
        ByteCollector decoder = new ByteCollector();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> decoder))
                .start()) {
            List<Object> expected = new ArrayList<>();
            for (int i = 0; i < 3000; i++) {
                String body = String.format("%02x", i & 0xff);
                peer.send("00 01 " + body);
                expected.add("message " + body);
            }
            assertThat(peer.messages).isEqualTo(expected);
        }
    }

    /** A write of the handler fails, and the transport closes the channel. That is not the decoder's doing. */
    @Test
    void allThatWasReadIsDeliveredIfTheTransportClosesWhileAHandlerAnswers() {
        List<String> delivered = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> new ByteCollector()))
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        delivered.add(Fired.describeAndRelease(msg));
                        ctx.channel().unsafe().close(ctx.channel().voidPromise());
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        delivered.add("inactive");
                    }
                })
                .start()) {
            peer.send("00 01 61 / 00 01 62 / 00 01 63");
            assertThat(delivered).containsExactly("message 61", "message 62", "message 63", "inactive");
        }
    }

    /** Fails as a socket does whose peer has reset the connection. */
    private static final class BreakingTransport extends EmbeddedChannel {
        private boolean broken;

        @Override
        protected void doWrite(ChannelOutboundBuffer in) throws Exception {
            if (broken) {
                throw new IOException("broken");
            }
            super.doWrite(in);
        }
    }

    @ParameterizedTest
    @EnumSource(At.class)
    void allThatWasReadIsDeliveredIfTheTransportClosesWhileTheDecoderAnswers(At at) {
        List<String> delivered = new ArrayList<>();
        ByteCollector decoder = new ByteCollector() {
            private void answerAt(ChannelHandlerContext ctx, At now) {
                if (now == at) {
                    ctx.channel().writeAndFlush(ZMTPMessage.fromUTF8("answer"));
                }
            }

            @Override
            public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
                answerAt(ctx, At.HEADER);
            }

            @Override
            public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
                super.content(ctx, data, out);
                answerAt(ctx, At.CONTENT);
            }

            @Override
            public void finish(ChannelHandlerContext ctx, List<Object> out) {
                answerAt(ctx, At.FINISH);
            }
        };
        BreakingTransport transport = new BreakingTransport();
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .decoder(session -> decoder)
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(transport, codec, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                delivered.add(Fired.describeAndRelease(msg));
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                delivered.add("inactive");
            }
        })) {
            peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
            transport.broken = true;
            peer.send("00 01 61 / 00 01 62 / 00 01 63");
            assertThat(delivered).containsExactly("message 61", "message 62", "message 63", "inactive");
        }
    }

    @Test
    void decodedObjectsAreDroppedAfterTheUserCloses() {
        ByteCollector decoder = new ByteCollector();
        ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> decoder))
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ctx.close();
                        ctx.fireChannelRead(msg);
                    }
                })
                .start();
        try (peer) {
            peer.send("00 03 61 62 63 / 00 01 64");
            assertThat(peer.messages).containsExactly("message 61");
            assertThat(decoder.closed).isTrue();
        }
    }

    @Test
    void objectsDecodedAfterACloseAreReleased() {
        ByteCollector decoder = new ByteCollector() {
            @Override
            public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
                ctx.channel().close();
                super.content(ctx, data, out);
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> decoder))
                .start()) {
            peer.send("00 02 61 62");
            assertThat(peer.messages).isEmpty();
        }
    }

    /** When the decoder calls {@code ctx.close()}, which goes past the codec. */
    private enum At {
        HEADER,
        CONTENT,
        FINISH
    }

    @ParameterizedTest
    @EnumSource(At.class)
    void nothingIsDecodedOrFiredAfterTheDecoderHasClosedItsContext(At at) {
        ByteCollector decoder = new ByteCollector() {
            private void closeAt(ChannelHandlerContext ctx, At now) {
                recorder.log.add(now.name());
                if (now == at) {
                    ctx.close();
                }
            }

            @Override
            public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
                closeAt(ctx, At.HEADER);
            }

            @Override
            public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
                out.add(ZMTPMessage.from(data.readRetainedSlice(1)));
                closeAt(ctx, At.CONTENT);
            }

            @Override
            public void finish(ChannelHandlerContext ctx, List<Object> out) {
                out.add("finished");
                closeAt(ctx, At.FINISH);
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> decoder))
                .start()) {
            peer.send("01 02 61 62 / 00 01 63 / 00 01 64");
            assertThat(recorder.log).endsWith(at.name()).hasSizeLessThan(7);
            assertThat(recorder.log.stream().filter(at.name()::equals)).hasSize(1);
            assertThat(peer.messages)
                    .isEqualTo(at == At.FINISH ? List.of("message 61", "message 62", "message 63") : List.of());
            assertThat(peer.failures).isEmpty();
            assertThat(decoder.closed).isTrue();
        }
    }

    @Test
    void aFrameInPartsIsNotDecodedFurtherEitherAfterTheDecoderHasClosedItsContext() {
        recorder.reads = 1;
        recorder.onContent = ChannelHandlerContext::close;
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 05 61 62 63");
            peer.send("64 65");
            assertThat(recorder.log).containsExactly("header 5", "content 616263");
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void whatAHandlerBeforeTheCodecPassesOnAfterTheEndIsStillDecoded() {
        ChannelInboundHandlerAdapter late = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                ctx.fireChannelRead(Hex.buffer("00 01 61 / 00 01 62"));
                ctx.fireChannelInactive();
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> recorder))
                .before(late)
                .start()) {
            peer.channel.unsafe().close(peer.channel.voidPromise()); // past the pipeline, as the transport does it
            peer.channel.runPendingTasks();
            assertThat(peer.messages).containsExactly("decoded", "decoded");
        }
    }

    @Test
    void decodedObjectsAreDeliveredAfterTheCodecIsRemoved() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> new ByteCollector()))
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        if (ctx.pipeline().get(ZMTPCodec.class) != null) {
                            ctx.pipeline().remove(ZMTPCodec.class);
                        }
                        ctx.fireChannelRead(msg);
                    }
                })
                .start()) {
            peer.send("00 02 61 62 / 00 01 63");
            assertThat(peer.messages).containsExactly("message 61", "message 62", "bytes 000163");
        }
    }

    @Test
    void retainedSlicesOfBytesOfferedAgainDoNotChange() {
        ByteCollector decoder = new ByteCollector() {
            @Override
            public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
                while (data.readableBytes() >= 40) {
                    out.add(data.readRetainedSlice(40));
                }
            }
        };
        List<Object> kept = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> decoder))
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        kept.add(msg);
                    }
                })
                .start()) {
            peer.send("00 a0 61*30").send("61*10 62*40 63*10").send("63*30 64*40");
            assertThat(kept.stream().map(ByteBuf.class::cast).map(Hex::dump))
                    .containsExactly(Hex.of("61*40"), Hex.of("62*40"), Hex.of("63*40"), Hex.of("64*40"));
        }
    }
}
