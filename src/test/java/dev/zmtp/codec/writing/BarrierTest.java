package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An empty ByteBuf is no message but a barrier: nothing is sent for it, and its promise waits for all that was written
 * before.
 */
class BarrierTest {

    private final Gate gate = new Gate();

    private ScriptedPeer dealer() {
        ScriptedPeer traffic = InTraffic.as(DEALER).before(gate).start();
        gate.reset();
        return traffic;
    }

    @Test
    void nothingIsSentForABarrier() {
        try (ScriptedPeer traffic = dealer()) {
            traffic.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture barrier = traffic.channel.write(Unpooled.EMPTY_BUFFER);
            traffic.channel.write(ZMTPMessage.fromUTF8("b"));
            traffic.channel.flush();
            assertThat(barrier.isSuccess()).isTrue();
            assertThat(traffic.received()).isEqualTo(Hex.of("00 01 61 00 01 62"));
        }
    }

    @ParameterizedTest(name = "{0} bytes before")
    @ValueSource(ints = {1, 5000, 100_000})
    void aBarrierCompletesAfterWhatWasWrittenBefore(int length) {
        try (ScriptedPeer traffic = dealer()) {
            gate.holds = true;
            ChannelFuture message = traffic.channel.write(ZMTPMessage.from(Hex.buffer("61*" + length)));
            ChannelFuture barrier = traffic.channel.write(Unpooled.EMPTY_BUFFER);
            List<Boolean> sentBefore = new ArrayList<>();
            barrier.addListener(done -> sentBefore.add(message.isSuccess()));
            traffic.channel.flush();
            assertThat(barrier.isDone()).isFalse();
            gate.open();
            traffic.channel.flush();
            assertThat(barrier.isSuccess()).isTrue();
            assertThat(sentBefore).containsExactly(true);
            traffic.channel.releaseOutbound();
        }
    }

    @Test
    void theUsualWayToCloseLosesNothing() {
        try (ScriptedPeer traffic = dealer()) {
            for (int i = 0; i < 100; i++) {
                traffic.channel.write(ZMTPMessage.fromUTF8("a"));
            }
            traffic.channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
            assertThat(traffic.channel.isOpen()).isFalse();
            assertThat(traffic.received()).isEqualTo(Hex.of("00 01 61 ").repeat(100));
        }
    }

    @Test
    void aBarrierDuringTheHandshakeWaitsForWhatIsHeld() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(DEALER))) {
            ChannelFuture message = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture barrier = peer.channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
            assertThat(barrier.isDone()).isFalse();
            peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
            assertThat(message.isSuccess()).isTrue();
            assertThat(barrier.isSuccess()).isTrue();
        }
    }

    @Test
    void anyEmptyBufferIsABarrierAndIsReleased() {
        try (ScriptedPeer traffic = dealer()) {
            ByteBuf empty = traffic.channel.alloc().buffer();
            assertThat(traffic.channel.writeAndFlush(empty).isSuccess()).isTrue();
            assertThat(empty.refCnt()).isZero();
            assertThat(traffic.receivedPieces()).allMatch(String::isEmpty);
        }
    }

    @Test
    void aBarrierFailsWithTheConnection() {
        try (ScriptedPeer traffic = dealer()) {
            gate.remaining = 0;
            ChannelFuture message = traffic.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture barrier = traffic.channel.write(Unpooled.EMPTY_BUFFER);
            traffic.channel.flush();
            assertThat(message.cause()).isSameAs(gate.broken);
            assertThat(barrier.isDone()).isTrue();
            assertThat(barrier.isSuccess()).isFalse();
            assertThat(traffic.channel.writeAndFlush(Unpooled.EMPTY_BUFFER).cause())
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    /** It says what became of the connection. What was never sent has a promise of its own. */
    @Test
    void aBarrierSucceedsAfterAWriteThatCouldNotBeEncoded() {
        try (ScriptedPeer traffic = dealer()) {
            ChannelFuture wrong = traffic.channel.write("no message");
            ChannelFuture barrier = traffic.channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
            assertThat(wrong.cause()).isInstanceOf(EncoderException.class);
            assertThat(barrier.isSuccess()).isTrue();
        }
    }

    @Test
    void aBarrierSucceedsAfterAWriteThatWasTooMuchToHold() {
        try (ScriptedPeer peer = new ScriptedPeer(
                ZMTPCodec.builder().socketType(DEALER).maxHeldWritesLength(1000).build())) {
            ChannelFuture large = peer.channel.write(ZMTPMessage.fromUTF8("a".repeat(1000)));
            ChannelFuture barrier = peer.channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
            peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
            assertThat(large.cause()).isInstanceOf(EncoderException.class);
            assertThat(barrier.isSuccess()).isTrue();
        }
    }

    @Test
    void aBarrierWhosePromiseIsDoneHarmsNothingElse() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(DEALER))) {
            ChannelPromise given = peer.channel.newPromise();
            peer.channel.write(Unpooled.EMPTY_BUFFER, given);
            ChannelFuture message = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("a"));
            given.setFailure(new TimeoutException("the application waits no longer"));

            peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
            assertThat(message.isSuccess()).isTrue();
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    /** Takes ByteBufs for messages of one frame. */
    private static final class Raw implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(((ByteBuf) message).readableBytes());
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            ByteBuf bytes = (ByteBuf) message;
            writer.frame(bytes.readableBytes(), false).writeBytes(bytes, bytes.readerIndex(), bytes.readableBytes());
        }

        @Override
        public void close() {}
    }

    @Test
    void withACustomEncoderOnlyTheEmptyBufferOfNettyIsABarrier() {
        try (ScriptedPeer traffic = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> new Raw()))
                .start()) {
            traffic.channel.write(traffic.channel.alloc().buffer());
            ChannelFuture barrier = traffic.channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
            assertThat(barrier.isSuccess()).isTrue();
            assertThat(traffic.received()).isEqualTo(Hex.of("00 00"));
            assertThat(traffic.failures).isEmpty();
        }
    }
}
