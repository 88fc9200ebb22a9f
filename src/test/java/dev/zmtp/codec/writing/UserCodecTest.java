package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.RecordingDecoder;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The life of encoders and decoders of the application's own types: how they are created and closed. */
class UserCodecTest {

    private final RecordingDecoder recorder = new RecordingDecoder();

    @Test
    void aFactoryGetsTheSession() {
        List<ZMTPSession> sessions = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> {
                            sessions.add(session);
                            return new EncoderTest.Strings();
                        })
                        .decoder(session -> {
                            sessions.add(session);
                            return new RecordingDecoder();
                        }))
                .start()) {
            assertThat(sessions)
                    .containsExactly(peer.codec().session(), peer.codec().session());
        }
    }

    @Test
    void aFactoryThatThrowsEndsTheHandshake() {
        ScriptedEncoder script = new ScriptedEncoder(1, (object, writer) -> {});
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

    /** The factory of the encoder, or of the decoder. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatAFactoryWritesFollowsTheWritesOfTheHandshakeAndIsEncoded(boolean ofEncoder) {
        AtomicReference<Runnable> first = new AtomicReference<>(() -> {});
        AtomicReference<Runnable> second = new AtomicReference<>(() -> {});
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .encoder(session -> {
                    first.get().run();
                    return new EncoderTest.Strings();
                })
                .decoder(session -> {
                    second.get().run();
                    return recorder;
                })
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            (ofEncoder ? first : second).set(() -> peer.channel.writeAndFlush("factory"));
            peer.channel.writeAndFlush("held");
            peer.received();

            peer.send(ScriptedPeer.GREETING + ScriptedPeer.ready("ROUTER"));

            assertThat(peer.received()).endsWith(Hex.of("00 04 \"held\" 00 07 \"factory\""));
            assertThat(peer.failures).isEmpty();
        }
    }

    /** What a factory does to the channel while it makes the encoder or the decoder. */
    private enum Refusal {
        CLOSE,
        REMOVE;

        private void come(Channel channel) {
            switch (this) {
                case CLOSE -> channel.close();
                case REMOVE -> channel.pipeline().remove(ZMTPCodec.class);
            }
        }
    }

    /** Gives {@code refusing} a factory's turn to end the connection. */
    private ScriptedPeer refused(
            UnaryOperator<ZMTPCodec.Builder> settings, AtomicReference<Runnable> refusing, Refusal how) {
        ZMTPCodec codec = settings.apply(ZMTPCodec.builder().socketType(DEALER)).build();
        ScriptedPeer peer = new ScriptedPeer(codec);
        refusing.set(() -> how.come(peer.channel));
        return peer.send(ScriptedPeer.GREETING + ScriptedPeer.ready("ROUTER") + "00 01 61");
    }

    private static void assertOneFailure(ScriptedPeer peer, Refusal how) {
        peer.onlyEvent(ZMTPHandshakeFailure.class);
        assertThat(peer.failures).isEmpty();
        assertThat(peer.codec().session().handshakeFuture().cause()).isInstanceOf(ZMTPException.class);
        assertThatThrownBy(peer.codec().session()::peerIdentity).isInstanceOf(IllegalStateException.class);
        assertThat(peer.messages).isEqualTo(how == Refusal.REMOVE ? List.of("bytes 000161") : List.of());
    }

    @ParameterizedTest
    @EnumSource(Refusal.class)
    void theEncoderOfAFactoryThatEndsTheConnectionIsClosedAndNoDecoderIsMade(Refusal how) {
        ScriptedEncoder script = new ScriptedEncoder(1, (object, writer) -> {});
        AtomicReference<Runnable> refusing = new AtomicReference<>();
        List<String> made = new ArrayList<>();
        try (ScriptedPeer peer = refused(
                codec -> codec.encoder(session -> {
                            refusing.get().run();
                            return script;
                        })
                        .decoder(session -> {
                            made.add("a decoder");
                            return recorder;
                        }),
                refusing,
                how)) {
            assertOneFailure(peer, how);
            assertThat(script.closes).isOne();
            assertThat(made).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Refusal.class)
    void encoderAndDecoderAreClosedOnceIfTheFactoryOfTheDecoderEndsTheConnection(Refusal how) {
        ScriptedEncoder script = new ScriptedEncoder(1, (object, writer) -> {});
        AtomicReference<Runnable> refusing = new AtomicReference<>();
        try (ScriptedPeer peer = refused(
                codec -> codec.encoder(session -> script).decoder(session -> {
                    refusing.get().run();
                    return recorder;
                }),
                refusing,
                how)) {
            assertOneFailure(peer, how);
            assertThat(script.closes).isOne();
            assertThat(recorder.closes).isOne();
            assertThat(recorder.log).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Refusal.class)
    void aGeneratorOfIdentitiesThatEndsTheConnectionMakesOneFailure(Refusal how) {
        AtomicReference<Runnable> refusing = new AtomicReference<>();
        try (ScriptedPeer peer = refused(
                codec -> codec.identityGenerator(session -> {
                    refusing.get().run();
                    return ByteBuffer.wrap(new byte[] {0, 1});
                }),
                refusing,
                how)) {
            assertOneFailure(peer, how);
        }
    }

    /** Every way in which a connection or its codec ends. */
    private enum Ending {
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
    @EnumSource(Ending.class)
    void encoderAndDecoderAreClosedExactlyOnce(Ending end) {
        Gate gate = new Gate();
        ScriptedEncoder script = new ScriptedEncoder(1, (object, writer) -> writer.frame(0, false));
        recorder.reads = 0;
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .before(gate)
                .set(codec -> codec.encoder(session -> script).decoder(session -> recorder))
                .start()) {
            peer.send("01 01 61 / 00 05 62 63");
            end.come(peer, gate);
        }
        assertThat(script.closes).isOne();
        assertThat(recorder.closes).isOne();
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void aDecoderOrEncoderThatFailsToCloseHarmsNothingElse(Ending end) {
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
                .before(gate)
                .set(codec -> codec.encoder(session -> encoder).decoder(session -> decoder))
                .start()) {
            ChannelFuture write = peer.channel.write("x");
            end.come(peer, gate);
            peer.channel.flush();
            peer.channel.runPendingTasks();
            assertThat(write.isDone()).isTrue();
            assertThat(peer.failures).hasSizeLessThanOrEqualTo(1).noneMatch(IllegalStateException.class::isInstance);
            assertThat(peer.channel.isActive()).isEqualTo(end == Ending.REMOVE);
            peer.channel.releaseOutbound();
        }
    }
}
