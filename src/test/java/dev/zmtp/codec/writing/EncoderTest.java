package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Encoders of the application's own types: what they are given, and what becomes of their mistakes. */
class EncoderTest {

    private static ScriptedPeer encoding(ZMTPEncoder encoder) {
        return encoding(encoder, ZMTPVersion.ZMTP31);
    }

    private static ScriptedPeer encoding(ZMTPEncoder encoder, ZMTPVersion version) {
        return InTraffic.as(DEALER)
                .peer(version)
                .set(codec -> codec.encoder(session -> encoder))
                .start();
    }

    /** Encodes a string as one frame. */
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
    void anEncoderGivenAsAClassIsCreatedForEachConnection() {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).set(codec -> codec.encoder(Strings.class)).start()) {
            peer.channel.write("text");
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("00 04 \"text\""));
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
    void aClassThatCannotBeInstantiatedIsRefusedAtOnce() {
        assertThatThrownBy(() -> ZMTPCodec.builder().encoder(Unmakeable.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no constructor without arguments");
    }

    @ParameterizedTest(name = "estimate {0}")
    @CsvSource({"0", "1", "300", "100000"})
    void anEstimateMayBeWrong(int estimate) {
        ScriptedEncoder script = new ScriptedEncoder(estimate, (message, writer) -> {
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
    void aFrameMayTurnOutSmallerOrNotBeTheLast(ZMTPVersion version, Consumer<ZMTPWriter> encode, String bytes) {
        try (ScriptedPeer peer =
                encoding(new ScriptedEncoder(1, (message, writer) -> encode.accept(writer)), version)) {
            ChannelFuture write = peer.channel.writeAndFlush("x");
            assertThat(write.cause()).isNull();
            assertThat(peer.received()).isEqualTo(Hex.of(bytes));
        }
    }

    static List<Arguments> mistakes() {
        return List.of(
                mistake(
                        "frame: 1 bytes written",
                        writer -> writer.frame(2, false).writeByte(1)),
                mistake(
                        "frame: 3 bytes written",
                        writer -> writer.frame(2, false).writeZero(3)),
                mistake("frame: 0 bytes written", writer -> {
                    writer.frame(2, true);
                    writer.frame(0, false);
                }),
                mistake("no last frame", writer -> writer.frame(0, true)),
                mistake("no last frame", writer -> {}),
                mistake("frame after the last frame", writer -> {
                    writer.frame(0, false);
                    writer.frame(0, false);
                }),
                mistake("frame size: -1", writer -> writer.frame(-1, false)),
                mistake("reframe: no frame", writer -> writer.reframe(0, false)),
                mistake("frame size: 3", writer -> {
                    writer.frame(2, false);
                    writer.reframe(3, false);
                }),
                mistake("frame: 1 bytes written", writer -> {
                    writer.frame(300, true).writeByte(1);
                    writer.reframe(0, false);
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
    void aMistakeOfAnEncoderFailsOnlyItsOwnPromise(String message, Consumer<ZMTPWriter> mistake) {
        ScriptedEncoder script = new ScriptedEncoder(1, (object, writer) -> {
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
    void aFlushInTheListenerOfAFailedEncodingSendsNoPartOfIt() {
        ScriptedEncoder script =
                new ScriptedEncoder(1, (object, writer) -> writer.frame(2, true).writeByte('a'));
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
        ScriptedEncoder script = new ScriptedEncoder(
                3, (object, writer) -> writer.frame(3, false).writeBytes(((ByteBuf) object)));
        try (ScriptedPeer peer = encoding(script)) {
            ByteBuf object = Hex.buffer("61 62 63");
            peer.channel.writeAndFlush(object);
            assertThat(object.refCnt()).isZero();
            assertThat(peer.received()).isEqualTo(Hex.of("00 03 61 62 63"));
        }
    }

    @Test
    void anEncoderAlsoGetsMessages() {
        ScriptedEncoder script = new ScriptedEncoder(
                3, (object, writer) -> writer.frame(1, false).writeByte(object instanceof ZMTPMessage ? 'm' : '?'));
        try (ScriptedPeer peer = encoding(script)) {
            peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("message"));
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 6d"));
        }
    }

    @Test
    void subscriptionsBypassTheEncoder() {
        try (ScriptedPeer peer =
                InTraffic.as(SUB).set(codec -> codec.encoder(Strings.class)).start()) {
            peer.channel.writeAndFlush(ZMTPSubscription.subscribe("t"));
            assertThat(peer.received()).isEqualTo(Hex.of("04 0b 09 \"SUBSCRIBE\" 74"));
        }
    }

    @Test
    void anEstimateThatOverflowsAnIntFailsTheWrite() {
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

    @Test
    void whatHasAReferenceCountIsReleasedWhateverWasWrittenBefore() {
        ScriptedEncoder letters = new ScriptedEncoder(
                10, (message, writer) -> writer.frame(1, false).writeByte('a'));
        try (ScriptedPeer peer = encoding(letters)) {
            for (int i = 0; i < 3; i++) {
                ByteBuf counted = Hex.buffer("01");
                peer.channel.write("not counted");
                peer.channel.write(counted);
                peer.channel.write(1); // another class that is not
                assertThat(counted.refCnt()).isZero();
            }
        }
    }

    @Test
    void theWriteOfAnEncoderThatClosesTheChannelFails() {
        ChannelFuture[] written = new ChannelFuture[1];
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> new ZMTPEncoder() {
                    @Override
                    public void estimate(Object message, ZMTPEstimator estimator) {
                        estimator.frame(1);
                    }

                    @Override
                    public void encode(Object message, ZMTPWriter writer) {
                        writer.frame(1, false).writeByte('a');
                        ((Runnable) message).run();
                    }

                    @Override
                    public void close() {}
                }))
                .start()) {
            Runnable close = peer.channel::close;
            written[0] = peer.channel.write(close);
            assertThat(written[0].cause()).isInstanceOf(ClosedChannelException.class);
        }
    }
}
