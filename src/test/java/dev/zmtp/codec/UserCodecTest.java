package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.EncoderException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Encoders and decoders of the application's own types: what they are told, and what becomes of their mistakes. */
class UserCodecTest {

    // Encoders

    /** Writes as it is told. */
    private static final class Script implements ZMTPEncoder {
        private final int estimate;
        private final BiConsumer<Object, ZMTPWriter> encode;
        private int closes;

        private Script(int estimate, BiConsumer<Object, ZMTPWriter> encode) {
            this.estimate = estimate;
            this.encode = encode;
        }

        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(estimate);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            encode.accept(message, writer);
        }

        @Override
        public void close() {
            closes++;
        }
    }

    private static ScriptedPeer encoding(ZMTPEncoder encoder) {
        return encoding(encoder, ZMTPVersion.ZMTP31);
    }

    private static ScriptedPeer encoding(ZMTPEncoder encoder, ZMTPVersion version) {
        return InTraffic.as(DEALER)
                .peer(version)
                .set(codec -> codec.encoder(session -> encoder))
                .start();
    }

    /** Writes each string as one frame. */
    static final class Strings implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(ByteBufUtil.utf8MaxBytes((String) message));
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            String text = (String) message;
            ByteBuf out = writer.frame(ByteBufUtil.utf8MaxBytes(text), false);
            writer.reframe(ByteBufUtil.writeUtf8(out, text), false);
        }

        @Override
        public void close() {}
    }

    @Test
    void anEncoderGivenByItsClassIsMadeForEachConnection() {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).set(codec -> codec.encoder(Strings.class)).start()) {
            peer.channel.write("text");
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("00 04 \"text\""));
        }
    }

    @Test
    void aFactoryIsToldOfTheSession() {
        List<ZMTPSession> sessions = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> {
                            sessions.add(session);
                            return new Strings();
                        })
                        .decoder(session -> {
                            sessions.add(session);
                            return new Recorder();
                        }))
                .start()) {
            assertThat(sessions)
                    .containsExactly(peer.codec().session(), peer.codec().session());
        }
    }

    /** Has no constructor without arguments. */
    static final class Unmakeable implements ZMTPEncoder {
        private final String name;

        Unmakeable(String name) {
            this.name = name;
        }

        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            throw new IllegalStateException(name);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {}

        @Override
        public void close() {}
    }

    @Test
    void aClassThatCannotBeMadeIsRefusedAtOnce() {
        assertThatThrownBy(() -> ZMTPCodec.builder().encoder(Unmakeable.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no constructor without arguments");
    }

    @Test
    void aFactoryThatThrowsEndsTheHandshake() {
        Script script = new Script(1, (object, writer) -> {});
        IllegalStateException thrown = new IllegalStateException("no decoder");
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> script).decoder(session -> {
                    throw thrown;
                }))
                .start()) {
            assertThat(peer.events).singleElement().isInstanceOf(ZMTPHandshakeFailure.class);
            assertThat(peer.codec().session().handshakeFuture().cause()).hasCause(thrown);
            assertThatThrownBy(() -> peer.codec().session().negotiatedVersion())
                    .isInstanceOf(IllegalStateException.class);
            assertThat(peer.channel.isActive()).isFalse();
            assertThat(script.closes).isOne();
        }
    }

    @ParameterizedTest(name = "estimate {0}")
    @CsvSource({"0", "1", "300", "100000"})
    void anEstimateMayBeWrong(int estimate) {
        Script script = new Script(estimate, (message, writer) -> {
            writer.frame(300, true).writeZero(300);
            writer.frame(1, false).writeByte('z');
        });
        try (ScriptedPeer peer = encoding(script)) {
            peer.channel.write("x");
            ChannelFuture second = peer.channel.write("x");
            peer.channel.flush();
            assertThat(second.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("03 00*6 01 2c 00*300 / 00 01 7a ".repeat(2)));
        }
    }

    static List<Arguments> reframings() {
        Consumer<ZMTPWriter> smaller = writer -> {
            writer.frame(10, false).writeByte('a');
            writer.reframe(1, false);
        };
        Consumer<ZMTPWriter> smallerWithALongHeader = writer -> {
            writer.frame(1000, false).writeByte('a');
            writer.reframe(1, false);
        };
        Consumer<ZMTPWriter> toNothingWithALongHeader = writer -> {
            writer.frame(1000, false);
            writer.reframe(0, false);
        };
        Consumer<ZMTPWriter> toNothing = writer -> {
            writer.frame(10, true);
            writer.reframe(0, false);
        };
        Consumer<ZMTPWriter> beforeTheBody = writer -> {
            writer.frame(10, false);
            writer.reframe(2, false).writeByte('a').writeByte('b');
        };
        Consumer<ZMTPWriter> toMore = writer -> {
            writer.frame(1, false).writeByte('a');
            writer.reframe(1, true);
            writer.frame(0, false);
        };
        ZMTPVersion v31 = ZMTPVersion.ZMTP31;
        ZMTPVersion v10 = ZMTPVersion.ZMTP10;
        return List.of(
                Arguments.of(v31, smaller, "00 01 61"),
                Arguments.of(v10, smaller, "02 00 61"),
                Arguments.of(v31, smallerWithALongHeader, "02 00*7 01 61"),
                Arguments.of(v10, smallerWithALongHeader, "ff 00*7 02 00 61"),
                Arguments.of(v31, toNothingWithALongHeader, "00 00"),
                Arguments.of(v10, toNothingWithALongHeader, "01 00"),
                Arguments.of(v31, toNothing, "00 00"),
                Arguments.of(v31, beforeTheBody, "00 02 61 62"),
                Arguments.of(v31, toMore, "01 01 61 / 00 00"),
                Arguments.of(v10, toMore, "02 01 61 / 01 00"));
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource("reframings")
    void aFrameMayTurnOutSmallerOrNotBeTheLast(ZMTPVersion version, Consumer<ZMTPWriter> encode, String octets) {
        try (ScriptedPeer peer = encoding(new Script(1, (message, writer) -> encode.accept(writer)), version)) {
            ChannelFuture write = peer.channel.writeAndFlush("x");
            assertThat(write.cause()).isNull();
            assertThat(peer.received()).isEqualTo(Hex.of(octets));
        }
    }

    static List<Arguments> mistakes() {
        return List.of(
                mistake(
                        "frame: 1 octets written",
                        writer -> writer.frame(2, false).writeByte(1)),
                mistake(
                        "frame: 3 octets written",
                        writer -> writer.frame(2, false).writeZero(3)),
                mistake("frame: 0 octets written", writer -> {
                    writer.frame(2, true);
                    writer.frame(0, false);
                }),
                mistake("no last frame", writer -> writer.frame(0, true)),
                mistake("no last frame", writer -> {}),
                mistake("one behind the last", writer -> {
                    writer.frame(0, false);
                    writer.frame(0, false);
                }),
                mistake("frame size: -1", writer -> writer.frame(-1, false)),
                mistake("reframe: no frame", writer -> writer.reframe(0, false)),
                mistake("frame size: 3", writer -> {
                    writer.frame(2, false);
                    writer.reframe(3, false);
                }),
                mistake("my own", writer -> {
                    writer.frame(2, true).writeByte(1);
                    throw new IllegalStateException("my own");
                }),
                mistake("my own", writer -> {
                    throw new EncoderException("my own");
                }));
    }

    private static Arguments mistake(String message, Consumer<ZMTPWriter> encode) {
        return Arguments.of(message, encode);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void aMistakeOfAnEncoderFailsItsOwnPromiseAlone(String message, Consumer<ZMTPWriter> mistake) {
        Script script = new Script(1, (object, writer) -> {
            if (object instanceof ByteBuf) {
                mistake.accept(writer);
            } else {
                writer.frame(1, false).writeByte('a');
            }
        });
        try (ScriptedPeer peer = encoding(script)) {
            ByteBuf object = Hex.buffer("00");
            ChannelFuture before = peer.channel.write("good");
            ChannelFuture failed = peer.channel.write(object);
            ChannelFuture behind = peer.channel.write("good");
            peer.channel.flush();
            assertThat(failed.cause()).isInstanceOf(EncoderException.class).hasMessageContaining(message);
            assertThat(object.refCnt()).isZero();
            assertThat(before.isSuccess()).isTrue();
            assertThat(behind.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 00 01 61"));
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void aFlushInAListenerOfAMistakeSendsNothingOfIt() {
        Script script = new Script(1, (object, writer) -> writer.frame(2, true).writeByte('a'));
        try (ScriptedPeer peer = encoding(script)) {
            ChannelPromise promise = peer.channel.newPromise();
            promise.addListener(failed -> peer.channel.flush());
            peer.channel.write("x", promise);
            assertThat(promise.cause()).isNotNull();
            assertThat(peer.receivedPieces()).isEmpty();
        }
    }

    @Test
    void anEncodedObjectIsReleased() {
        Script script = new Script(3, (object, writer) -> writer.frame(3, false).writeBytes(((ByteBuf) object)));
        try (ScriptedPeer peer = encoding(script)) {
            ByteBuf object = Hex.buffer("61 62 63");
            peer.channel.writeAndFlush(object);
            assertThat(object.refCnt()).isZero();
            assertThat(peer.received()).isEqualTo(Hex.of("00 03 61 62 63"));
        }
    }

    @Test
    void anEncoderGetsMessagesToo() {
        Script script = new Script(
                3, (object, writer) -> writer.frame(1, false).writeByte(object instanceof ZMTPMessage ? 'm' : '?'));
        try (ScriptedPeer peer = encoding(script)) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("message"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 6d"));
        }
    }

    @Test
    void subscriptionsGoPastTheEncoder() {
        try (ScriptedPeer peer =
                InTraffic.as(SUB).set(codec -> codec.encoder(Strings.class)).start()) {
            peer.channel.writeAndFlush(ZMTPSubscription.subscribe("t"));
            assertThat(peer.received()).isEqualTo(Hex.of("04 0b 09 \"SUBSCRIBE\" 74"));
        }
    }

    @Test
    void anEstimateOverTheIntegersIsRefused() {
        ZMTPEncoder huge = new ZMTPEncoder() {
            @Override
            public void estimate(Object message, ZMTPEstimator estimator) {
                estimator.frame(Integer.MAX_VALUE);
                estimator.frame(Integer.MAX_VALUE);
            }

            @Override
            public void encode(Object message, ZMTPWriter writer) {}

            @Override
            public void close() {}
        };
        try (ScriptedPeer peer = encoding(huge)) {
            assertThat(peer.channel.write("x").cause())
                    .isInstanceOf(EncoderException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
        }
    }

    // Decoders

    /** Writes down what it is told, reads as much as it is told to, and decodes each message to a word. */
    private static final class Recorder implements ZMTPDecoder {
        private final List<String> log = new ArrayList<>();
        private int reads = Integer.MAX_VALUE;
        private int closes;
        private Consumer<ChannelHandlerContext> onContent = ctx -> {};
        private RuntimeException failure;

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
            log.add("header " + length + (more ? " more" : ""));
        }

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            log.add("content " + ByteBufUtil.hexDump(data));
            data.skipBytes(Math.min(reads, data.readableBytes()));
            onContent.accept(ctx);
            if (failure != null) {
                out.add(ZMTPMessage.from(Hex.buffer("ff")));
                throw failure;
            }
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            log.add("finish");
            out.add("decoded");
        }

        @Override
        public void close() {
            closes++;
        }
    }

    private final Recorder recorder = new Recorder();

    @BeforeEach
    void forget() {
        recorder.log.clear();
    }

    private ScriptedPeer decoding() {
        return InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> recorder))
                .start();
    }

    @Test
    void aDecoderIsToldOfEachFrameAndOfTheEndOfTheMessage() {
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
    void aDecoderIsToldOfOctetsAsTheyArrive() {
        try (ScriptedPeer peer = decoding()) {
            peer.send("02 00*7 05").send("61 62").send("63").send("64 65 00");
            assertThat(recorder.log)
                    .containsExactly("header 5", "content 6162", "content 63", "content 6465", "finish");
        }
    }

    @Test
    void octetsLeftUnreadAreGivenAgainAsLongAsSomeAreRead() {
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
            byte[] octets = Hex.octets("02 00*6 27 10 61*10000");
            try (ScriptedPeer peer = decoding()) {
                recorder.log.clear();
                for (int at = 0; at < octets.length; ) {
                    int next = Math.min(octets.length, at + 1 + random.nextInt(1000));
                    peer.send(Arrays.copyOfRange(octets, at, next));
                    at = next;
                }
                assertThat(recorder.log.get(recorder.log.size() - 2))
                        .as("seed %d", seed)
                        .isEqualTo("content " + Hex.of("61*10000"));
            }
        }
    }

    @Test
    void aLargeFrameIsNotKept() {
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
    void commandsAmongTheFramesDoNotReachADecoder() {
        try (ScriptedPeer peer = decoding()) {
            peer.send("01 01 61 / 04 07 04 \"PING\" 00 00 / 00 01 62");
            assertThat(recorder.log).containsExactly("header 1 more", "content 61", "header 1", "content 62", "finish");
            assertThat(peer.received()).isEqualTo(Hex.of("04 05 04 \"PONG\""));
        }
    }

    @Test
    void limitsAreJudgedBeforeADecoderIsAsked() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> recorder).maxFrameLength(10))
                .start()) {
            Failures.assertTooLarge(peer.send("00 0b"));
            assertThat(recorder.log).isEmpty();
            assertThat(recorder.closes).isOne();
        }
    }

    @Test
    void aMessageToAnXpubComesToTheDecoderAndASubscriptionDoesNot() {
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
    void aFailureThatADecoderMeansForThePeerNamesIt() {
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
    void aDecoderExceptionOfTheDecodersOwnIsPassedAsItIs() {
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
    void aDecoderIsToldNothingOnceItIsClosed() {
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
                .behind(new ChannelInboundHandlerAdapter() {
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
    void aDecoderMayRemoveItsCodecWhileOctetsAreLeftUnread() {
        recorder.reads = 0;
        try (ScriptedPeer peer = decoding()) {
            peer.send("00 05 61 62");
            recorder.onContent = ctx -> ctx.pipeline().remove(ZMTPCodec.class);
            peer.send("63");
            assertThat(recorder.closes).isOne();
            assertThat(peer.failures).isEmpty();
        }
    }

    /** Every way in which a connection or its codec ends. */
    private enum End {
        CLOSE,
        REMOVE,
        PEERS_FAULT,
        TRANSPORT_FAILS,
        INPUT_ENDS;

        private void come(ScriptedPeer peer, Gate gate) {
            switch (this) {
                case CLOSE -> peer.channel.close();
                case REMOVE -> peer.channel.pipeline().remove("codec");
                case PEERS_FAULT -> peer.send("01 01 61 08 00");
                case TRANSPORT_FAILS -> {
                    gate.remaining = 0;
                    peer.channel.writeAndFlush("x");
                }
                case INPUT_ENDS -> peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void encoderAndDecoderAreClosedExactlyOnce(End end) {
        Gate gate = new Gate();
        Script script = new Script(1, (object, writer) -> writer.frame(0, false));
        recorder.reads = 0;
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .front(gate)
                .set(codec -> codec.encoder(session -> script).decoder(session -> recorder))
                .start()) {
            peer.send("01 01 61 / 00 05 62 63");
            end.come(peer, gate);
        }
        assertThat(script.closes).isOne();
        assertThat(recorder.closes).isOne();
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void thatADecoderOrEncoderCannotBeClosedHarmsNothingElse(End end) {
        Gate gate = new Gate();
        ZMTPEncoder encoder = new ZMTPEncoder() {
            @Override
            public void estimate(Object message, ZMTPEstimator estimator) {}

            @Override
            public void encode(Object message, ZMTPWriter writer) {
                writer.frame(1, false).writeByte('a');
            }

            @Override
            public void close() {
                throw new IllegalStateException("encoder close");
            }
        };
        ZMTPDecoder decoder = new ZMTPDecoder() {
            @Override
            public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

            @Override
            public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {}

            @Override
            public void finish(ChannelHandlerContext ctx, List<Object> out) {}

            @Override
            public void close() {
                throw new IllegalStateException("decoder close");
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .front(gate)
                .set(codec -> codec.encoder(session -> encoder).decoder(session -> decoder))
                .start()) {
            ChannelFuture write = peer.channel.write("x");
            end.come(peer, gate);
            peer.channel.flush();
            peer.channel.runPendingTasks();
            assertThat(write.isDone()).isTrue();
            assertThat(peer.failures).hasSizeLessThanOrEqualTo(1).noneMatch(IllegalStateException.class::isInstance);
            assertThat(peer.channel.isActive()).isEqualTo(end == End.REMOVE);
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void socketsThatOnlySendNeedNoDecoder() {
        try (ScriptedPeer peer = InTraffic.as(PUSH)
                .set(codec -> codec.decoder(session -> recorder))
                .start()) {
            peer.send("00 01 61");
            assertThat(recorder.log).isEmpty();
        }
    }

    /** Decodes each octet to a message of its own. */
    private static class Octets implements ZMTPDecoder {
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
    void whoClosesGetsNothingMoreOfWhatADecoderMadeAtOnce() {
        Octets decoder = new Octets();
        ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> decoder))
                .behind(new ChannelInboundHandlerAdapter() {
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
    void whatADecoderMakesOnceItIsClosedIsReleased() {
        Octets decoder = new Octets() {
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

    @Test
    void whoRemovesTheCodecGetsWhatItsDecoderHadMade() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.decoder(session -> new Octets()))
                .behind(new ChannelInboundHandlerAdapter() {
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
    void whatADecoderRetainsOfOctetsGivenAgainStaysAsItIs() {
        Octets decoder = new Octets() {
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
                .behind(new ChannelInboundHandlerAdapter() {
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
