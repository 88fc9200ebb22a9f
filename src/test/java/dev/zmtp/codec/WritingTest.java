package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages are encoded when they are written, share buffers, and leave at a flush or when a buffer is full. */
class WritingTest {

    private final Gate gate = new Gate();

    private InTraffic dealer() {
        InTraffic traffic = InTraffic.as(DEALER).front(gate).start();
        gate.reset();
        return traffic;
    }

    private static ByteBuf frame(int length) {
        return Hex.buffer("61*" + length);
    }

    @Test
    void smallMessagesShareABuffer() {
        try (InTraffic traffic = dealer()) {
            traffic.writeText("a");
            traffic.writeText("b", "c");
            traffic.channel.flush();
            assertThat(traffic.sentPieces()).containsExactly(Hex.of("00 01 61 / 01 01 62 / 00 01 63"));
        }
    }

    @Test
    void aSmallBodyIsReleasedAsSoonAsItIsWritten() {
        try (InTraffic traffic = dealer()) {
            ByteBuf body = frame(4096);
            traffic.write(ZMTPMessage.from(body));
            assertThat(body.refCnt()).isZero();
        }
    }

    @Test
    void aBigBodyGoesByReferenceBehindWhatWasWrittenBefore() {
        try (InTraffic traffic = dealer()) {
            ByteBuf body = frame(4097);
            traffic.writeText("a");
            traffic.write(ZMTPMessage.from(body));
            traffic.writeText("b");
            traffic.channel.flush();
            ByteBuf first = traffic.channel.readOutbound();
            ByteBuf second = traffic.channel.readOutbound();
            ByteBuf third = traffic.channel.readOutbound();
            assertThat(Hex.dump(first)).isEqualTo(Hex.of("00 01 61 / 02 00*6 10 01"));
            assertThat(body.refCnt()).isOne();
            body.setByte(0, 'z'); // seen there only if it is the body itself
            assertThat(Hex.dump(second)).isEqualTo(Hex.of("7a 61*4096"));
            assertThat(body.refCnt()).isZero();
            assertThat(Hex.dump(third)).isEqualTo(Hex.of("00 01 62"));
        }
    }

    @Test
    void nothingLeavesBeforeAFlush() {
        try (InTraffic traffic = dealer()) {
            traffic.writeText("a");
            assertThat(gate.writes).isEmpty();
            assertThat(gate.flushes).isZero();
        }
    }

    @Test
    void aFullBufferGoesToTheTransportBeforeTheFlush() {
        try (InTraffic traffic = dealer()) {
            for (int i = 0; i < 300; i++) {
                traffic.write(ZMTPMessage.from(frame(1000)));
            }
            assertThat(gate.writes).isNotEmpty().allMatch(length -> length <= 64 << 10);
            int written = gate.writes.stream().mapToInt(Integer::intValue).sum();
            assertThat(written).isGreaterThanOrEqualTo(300 * 1009 - (64 << 10));
            assertThat(gate.flushes).isZero();
            traffic.channel.flush();
            assertThat(traffic.sent()).isEqualTo(Hex.of("02 00*6 03 e8 61*1000 / ".repeat(300)));
        }
    }

    @Test
    void anEmptyFlushWritesNothingAndGoesOn() {
        try (InTraffic traffic = dealer()) {
            traffic.channel.flush();
            assertThat(gate.writes).isEmpty();
            assertThat(gate.flushes).isOne();
        }
    }

    @Test
    void aFlushWritesOnceAndFlushesOnce() {
        try (InTraffic traffic = dealer()) {
            traffic.writeText("a");
            traffic.channel.flush();
            traffic.channel.flush();
            assertThat(gate.writes).containsExactly(3);
            assertThat(gate.flushes).isEqualTo(2);
        }
    }

    @Test
    void aMessageWithoutFramesFailsAlone() {
        try (InTraffic traffic = dealer()) {
            traffic.writeText("a");
            ChannelFuture none = traffic.write(ZMTPMessage.from(List.of()));
            traffic.writeText("b");
            traffic.channel.flush();
            assertThat(none.cause()).isInstanceOf(EncoderException.class).hasMessageContaining("frames: 0");
            assertThat(traffic.sent()).isEqualTo(Hex.of("00 01 61 / 00 01 62"));
        }
    }

    @Test
    void aMessageWithAReleasedFrameFailsAlone() {
        try (InTraffic traffic = dealer()) {
            ByteBuf released = frame(1);
            released.release();
            ByteBuf alive = frame(5000);
            ChannelFuture before = traffic.writeText("a");
            ChannelFuture broken = traffic.write(ZMTPMessage.from(alive, released));
            ChannelFuture behind = traffic.writeText("b");
            traffic.channel.flush();
            assertThat(broken.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasMessageContaining("frame 1")
                    .hasCauseInstanceOf(IllegalReferenceCountException.class);
            assertThat(alive.refCnt()).isZero();
            assertThat(before.isSuccess()).isTrue();
            assertThat(behind.isSuccess()).isTrue();
            assertThat(traffic.sent()).isEqualTo(Hex.of("00 01 61 / 00 01 62"));
        }
    }

    /** Cannot be read: fails when it is copied, and not before. */
    private static final class Unreadable extends UnpooledHeapByteBuf {
        private Unreadable(int length) {
            super(UnpooledByteBufAllocator.DEFAULT, length, length);
            writerIndex(length);
        }

        @Override
        public boolean hasArray() {
            return false;
        }

        @Override
        public ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
            throw new IllegalStateException("unreadable");
        }

        @Override
        public ByteBuffer nioBuffer(int index, int length) {
            throw new IllegalStateException("unreadable");
        }

        @Override
        public ByteBuffer internalNioBuffer(int index, int length) {
            throw new IllegalStateException("unreadable");
        }
    }

    @ParameterizedTest(name = "{0} messages before it")
    @ValueSource(ints = {0, 1, 170, 4095})
    void aMessageThatCannotBeCopiedFailsAlone(int before) {
        try (InTraffic traffic = dealer()) {
            StringBuilder expected = new StringBuilder();
            for (int i = 0; i < before; i++) {
                traffic.writeText("a");
                expected.append("00 01 61 ");
            }
            ByteBuf unreadable = new Unreadable(100);
            ChannelFuture broken = traffic.write(ZMTPMessage.from(unreadable));
            ChannelFuture behind = traffic.writeText("c");
            traffic.channel.flush();
            assertThat(broken.cause()).isInstanceOf(EncoderException.class);
            assertThat(behind.isSuccess()).isTrue();
            assertThat(traffic.sent()).isEqualTo(Hex.of(expected + "00 01 63"));
            assertThat(traffic.failures).isEmpty();
            assertThat(unreadable.refCnt()).isZero();
        }
    }

    @Test
    void aFlushInAListenerOfAFailedMessageTearsNothing() {
        try (InTraffic traffic = dealer()) {
            traffic.writeText("a");
            ChannelPromise promise = traffic.channel.newPromise();
            promise.addListener(failed -> traffic.channel.flush());
            ByteBuf unreadable = new Unreadable(100);
            traffic.channel.write(ZMTPMessage.from(Hex.buffer("62"), unreadable), promise);
            assertThat(promise.cause()).isInstanceOf(EncoderException.class);
            assertThat(traffic.sent()).isEqualTo(Hex.of("00 01 61"));
            assertThat(traffic.channel.isActive()).isTrue();
            assertThat(unreadable.refCnt()).isZero();
        }
    }

    @Test
    void aMessageOfWhichPartHasLeftEndsTheConnectionWhenItFails() {
        try (InTraffic traffic = dealer()) {
            ByteBuf big = frame(5000);
            ByteBuf unreadable = new Unreadable(100);
            ChannelFuture broken = traffic.write(ZMTPMessage.from(big, unreadable));
            traffic.channel.runPendingTasks();
            assertThat(broken.cause()).isInstanceOf(EncoderException.class);
            assertThat(traffic.failures).containsExactly(broken.cause());
            assertThat(traffic.channel.isActive()).isFalse();
            assertThat(big.refCnt()).isZero();
        }
    }

    @Test
    void whatIsNoMessageFailsAloneAndIsReleased() {
        try (InTraffic traffic = dealer()) {
            ByteBuf raw = frame(3);
            traffic.writeText("a");
            ChannelFuture refused = traffic.write(raw);
            traffic.channel.flush();
            assertThat(refused.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasMessageContaining("(expected: ZMTPMessage, ");
            assertThat(raw.refCnt()).isZero();
            assertThat(traffic.sent()).isEqualTo(Hex.of("00 01 61"));
        }
    }

    @Test
    void oneMessageCanBeWrittenToManyChannels() {
        ByteBuf small = Hex.buffer("00 61 62").skipBytes(1);
        ByteBuf big = Hex.buffer("00 63*5000").skipBytes(1);
        ZMTPMessage message = ZMTPMessage.from(small, big);
        for (int i = 0; i < 3; i++) {
            try (InTraffic traffic = InTraffic.as(DEALER).start()) {
                traffic.channel.writeAndFlush(message.retain());
                assertThat(traffic.sent()).isEqualTo(Hex.of("01 02 61 62 / 02 00*6 13 88 63*5000"));
            }
            assertThat(small.readerIndex()).isOne();
            assertThat(big.readerIndex()).isOne();
            assertThat(message.refCnt()).isOne();
        }
        message.release();
    }

    @Test
    void subscriptionsStayInOrderWithMessages() {
        try (InTraffic traffic = InTraffic.as(SUB).start()) {
            traffic.writeText("a");
            traffic.write(ZMTPSubscription.subscribe("t"));
            traffic.writeText("b");
            traffic.channel.flush();
            assertThat(traffic.sentPieces()).containsExactly(Hex.of("00 01 61 / 04 0b 09 \"SUBSCRIBE\" 74 / 00 01 62"));
        }
    }

    @ParameterizedTest(name = "{0} octets")
    @ValueSource(ints = {10, 5000})
    void aMessageIsReleasedExactlyOnceByASuccess(int length) {
        try (InTraffic traffic = dealer()) {
            ByteBuf body = frame(length);
            ZMTPMessage message = ZMTPMessage.from(body);
            traffic.channel.writeAndFlush(message.retain());
            traffic.channel.releaseOutbound();
            assertThat(message.refCnt()).isOne();
            assertThat(body.refCnt()).isOne();
            message.release();
        }
    }
}
