package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
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

    private ScriptedPeer dealer() {
        return gate.start(InTraffic.as(DEALER));
    }

    private static ByteBuf frame(int length) {
        return Hex.buffer("61*" + length);
    }

    @Test
    void smallMessagesShareABuffer() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.write(ZMTPMessage.fromUTF8("b", "c"));
            peer.channel.flush();
            assertThat(peer.receivedPieces()).containsExactly(Hex.of("00 01 61 / 01 01 62 / 00 01 63"));
        }
    }

    @Test
    void aSmallBodyIsReleasedAsSoonAsItIsWritten() {
        try (ScriptedPeer peer = dealer()) {
            ByteBuf body = frame(4096);
            peer.channel.write(ZMTPMessage.from(body));
            assertThat(body.refCnt()).isZero();
        }
    }

    @Test
    void aLargeBodyIsPassedByReferenceAfterEarlierWrites() {
        try (ScriptedPeer peer = dealer()) {
            ByteBuf body = frame(4097);
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.write(ZMTPMessage.from(body));
            peer.channel.write(ZMTPMessage.fromUTF8("b"));
            peer.channel.flush();
            ByteBuf first = peer.channel.readOutbound();
            ByteBuf second = peer.channel.readOutbound();
            ByteBuf third = peer.channel.readOutbound();
            assertThat(Hex.dump(first)).isEqualTo(Hex.of("00 01 61 / 02 00*6 10 01"));
            assertThat(body.refCnt()).isOne();
            body.setByte(0, 'z'); // seen there only if it is the body itself
            assertThat(Hex.dump(second)).isEqualTo(Hex.of("7a 61*4096"));
            assertThat(body.refCnt()).isZero();
            assertThat(Hex.dump(third)).isEqualTo(Hex.of("00 01 62"));
        }
    }

    @Test
    void nothingIsSentBeforeAFlush() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            assertThat(gate.writes).isEmpty();
            assertThat(gate.flushes).isZero();
        }
    }

    @Test
    void aFullBufferIsHandedToTheTransportBeforeTheFlush() {
        try (ScriptedPeer peer = dealer()) {
            for (int i = 0; i < 300; i++) {
                peer.channel.write(ZMTPMessage.from(frame(1000)));
            }
            assertThat(gate.writes).isNotEmpty().allMatch(length -> length <= 64 << 10);
            int written = gate.writes.stream().mapToInt(Integer::intValue).sum();
            assertThat(written).isGreaterThanOrEqualTo(300 * 1009 - (64 << 10));
            assertThat(gate.flushes).isZero();
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("02 00*6 03 e8 61*1000 / ".repeat(300)));
        }
    }

    @Test
    void anEmptyFlushWritesNothingAndIsPassedOn() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.flush();
            assertThat(gate.writes).isEmpty();
            assertThat(gate.flushes).isOne();
        }
    }

    @Test
    void aFlushWritesOnceAndFlushesOnce() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.flush();
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(3);
            assertThat(gate.flushes).isEqualTo(2);
        }
    }

    @Test
    void onlyTheMessageWithoutFramesFails() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture none = peer.channel.write(ZMTPMessage.from(List.of()));
            peer.channel.write(ZMTPMessage.fromUTF8("b"));
            peer.channel.flush();
            assertThat(none.cause()).isInstanceOf(EncoderException.class).hasMessageContaining("frames: 0");
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 00 01 62"));
        }
    }

    @Test
    void onlyTheMessageWithAReleasedFrameFails() {
        try (ScriptedPeer peer = dealer()) {
            ByteBuf released = frame(1);
            released.release();
            ByteBuf alive = frame(5000);
            ChannelFuture before = peer.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture broken = peer.channel.write(ZMTPMessage.from(alive, released));
            ChannelFuture behind = peer.channel.write(ZMTPMessage.fromUTF8("b"));
            peer.channel.flush();
            assertThat(broken.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasMessageContaining("frame 1")
                    .hasCauseInstanceOf(IllegalReferenceCountException.class);
            assertThat(alive.refCnt()).isZero();
            assertThat(before.isSuccess()).isTrue();
            assertThat(behind.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 00 01 62"));
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
    void onlyTheMessageThatCannotBeCopiedFails(int before) {
        try (ScriptedPeer peer = dealer()) {
            StringBuilder expected = new StringBuilder();
            for (int i = 0; i < before; i++) {
                peer.channel.write(ZMTPMessage.fromUTF8("a"));
                expected.append("00 01 61 ");
            }
            ByteBuf unreadable = new Unreadable(100);
            ChannelFuture broken = peer.channel.write(ZMTPMessage.from(unreadable));
            ChannelFuture behind = peer.channel.write(ZMTPMessage.fromUTF8("c"));
            peer.channel.flush();
            assertThat(broken.cause()).isInstanceOf(EncoderException.class);
            assertThat(behind.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of(expected + "00 01 63"));
            assertThat(peer.failures).isEmpty();
            assertThat(unreadable.refCnt()).isZero();
        }
    }

    @Test
    void aFlushInTheListenerOfAFailedMessageSplitsNoMessage() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelPromise promise = peer.channel.newPromise();
            promise.addListener(failed -> peer.channel.flush());
            ByteBuf unreadable = new Unreadable(100);
            peer.channel.write(ZMTPMessage.from(Hex.buffer("62"), unreadable), promise);
            assertThat(promise.cause()).isInstanceOf(EncoderException.class);
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
            assertThat(peer.channel.isActive()).isTrue();
            assertThat(unreadable.refCnt()).isZero();
        }
    }

    @Test
    void aPartlySentMessageThatFailsEndsTheConnection() {
        try (ScriptedPeer peer = dealer()) {
            ByteBuf big = frame(5000);
            ByteBuf unreadable = new Unreadable(100);
            ChannelFuture broken = peer.channel.write(ZMTPMessage.from(big, unreadable));
            peer.channel.runPendingTasks();
            assertThat(broken.cause()).isInstanceOf(EncoderException.class);
            assertThat(peer.failures).containsExactly(broken.cause());
            assertThat(peer.channel.isActive()).isFalse();
            assertThat(big.refCnt()).isZero();
        }
    }

    @Test
    void anythingButAMessageFailsAndIsReleased() {
        try (ScriptedPeer peer = dealer()) {
            ByteBuf raw = frame(3);
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            ChannelFuture refused = peer.channel.write(raw);
            peer.channel.flush();
            assertThat(refused.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasMessageContaining("(expected: ZMTPMessage, ");
            assertThat(raw.refCnt()).isZero();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
        }
    }

    @Test
    void oneMessageCanBeWrittenToManyChannels() {
        ByteBuf small = Hex.buffer("00 61 62").skipBytes(1);
        ByteBuf big = Hex.buffer("00 63*5000").skipBytes(1);
        ZMTPMessage message = ZMTPMessage.from(small, big);
        for (int i = 0; i < 3; i++) {
            try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
                peer.channel.writeAndFlush(message.retain());
                assertThat(peer.received()).isEqualTo(Hex.of("01 02 61 62 / 02 00*6 13 88 63*5000"));
            }
            assertThat(small.readerIndex()).isOne();
            assertThat(big.readerIndex()).isOne();
            assertThat(message.refCnt()).isOne();
        }
        message.release();
    }

    @Test
    void subscriptionsStayInOrderWithMessages() {
        try (ScriptedPeer peer = InTraffic.as(SUB).start()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.write(ZMTPSubscription.subscribe("t"));
            peer.channel.write(ZMTPMessage.fromUTF8("b"));
            peer.channel.flush();
            assertThat(peer.receivedPieces())
                    .containsExactly(Hex.of("00 01 61 / 04 0b 09 \"SUBSCRIBE\" 74 / 00 01 62"));
        }
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {10, 5000})
    void aWrittenMessageIsReleasedExactlyOnce(int length) {
        try (ScriptedPeer peer = dealer()) {
            ByteBuf body = frame(length);
            ZMTPMessage message = ZMTPMessage.from(body);
            peer.channel.writeAndFlush(message.retain());
            peer.channel.releaseOutbound();
            assertThat(message.refCnt()).isOne();
            assertThat(body.refCnt()).isOne();
            message.release();
        }
    }
}
