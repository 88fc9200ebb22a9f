package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPVersion.ZMTP10;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.HeapAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits are checked at the header. A peer that breaks one is disconnected, and nothing of it is retained. */
class LimitsTest {

    private static ScriptedPeer dealer(UnaryOperator<ZMTPCodec.Builder> settings) {
        return InTraffic.as(DEALER).set(settings).start();
    }

    @Test
    void aFrameOfExactlyTheLimitIsAccepted() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxFrameLength(300))) {
            peer.send("02 00*6 01 2c 61*300");
            assertThat(peer.messages).containsExactly("message " + Hex.of("61*300"));
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP31, 02 00*6 01 2d",
        "ZMTP31, 03 00*6 01 2d",
        "ZMTP30, 02 00*4 80 00*3",
        "ZMTP31, 02 00*3 01 00*4",
        "ZMTP31, 02 00*2 01 00*5",
        "ZMTP31, 02 00 02 00*6",
        "ZMTP31, 02 7f ff*7",
        "ZMTP20, 02 7f ff*7",
        "ZMTP10, ff 00*6 01 2e 00",
        "ZMTP10, ff 00*4 80 00*3 00",
        "ZMTP10, ff 00*3 01 00*4 00",
        "ZMTP10, ff 7f ff*7 00"
    })
    void aFrameOverTheLimitIsRefusedAtItsHeader(ZMTPVersion version, String header) {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .peer(version)
                .set(codec -> codec.maxFrameLength(300))
                .start()) {
            Failures.assertTooLarge(peer.send(header));
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP31, 02 80 00*7",
        "ZMTP31, 02 ff*8",
        "ZMTP31, 06 80 00*7",
        "ZMTP20, 02 ff*8",
        "ZMTP10, ff 80 00*7 00",
        "ZMTP10, ff ff*7 da 00",
        "ZMTP10, ff ff*8 00"
    })
    void aLengthWithItsTopBitSetIsRefused(ZMTPVersion version, String header) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(version).start()) {
            Failures.assertMalformed(peer.send(header));
        }
    }

    @Test
    void theNumberOfFramesIsLimitedByDefault() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            Failures.assertTooLarge(peer.send("02 00*4 04 00*2 01"));
        }
    }

    @Test
    void aHeaderAllocatesNothingForItsBody() {
        Counting alloc = new Counting();
        try (ScriptedPeer peer = InTraffic.as(DEALER).allocator(alloc).start()) {
            alloc.largest = 0;
            peer.send("02 00*4 04 00*3 / 61*100");
            assertThat(alloc.largest).isLessThanOrEqualTo(200);
            assertThat(peer.failures).isEmpty();
        }
    }

    /** Remembers the largest buffer that was asked for. */
    private static final class Counting extends HeapAllocator {
        private int largest;

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            largest = Math.max(largest, initialCapacity);
            return super.newHeapBuffer(initialCapacity, maxCapacity);
        }
    }

    @Test
    void aMessageOfExactlyTheLimitIsAccepted() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxMessageLength(100 + 64 + 36))) {
            peer.send("01 64 61*100 / 00 24 62*36");
            assertThat(peer.messages).hasSize(1);
        }
    }

    @Test
    void theTotalLengthOfAMessageIsLimited() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxMessageLength(100 + 64 + 35))) {
            Failures.assertTooLarge(peer.send("01 64 61*100 / 00 24"));
        }
    }

    @Test
    void aSingleFrameIsAlsoLimitedAsAMessage() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxMessageLength(99))) {
            Failures.assertTooLarge(peer.send("00 64"));
        }
    }

    @Test
    void theOverheadOfEmptyFramesCounts() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxMessageLength(10 * 64))) {
            peer.send("01 00 ".repeat(1 + 10)); // the first frame counts only its bytes
            assertThat(peer.failures).isEmpty();
            Failures.assertTooLarge(peer.send("01 00"));
        }
    }

    @Test
    void theNumberOfFramesIsLimited() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxMessageFrames(3))) {
            peer.send("01 00 01 00 00 00 / 01 00 01 00 01 00");
            assertThat(peer.messages).containsExactly("message - - -");
            assertThat(peer.failures).isEmpty();
            Failures.assertTooLarge(peer.send("00 00"));
        }
    }

    @Test
    void endlessEmptyFramesEndTheConnectionByDefault() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            peer.send("01 00 ".repeat(1024));
            assertThat(peer.failures).isEmpty();
            Failures.assertTooLarge(peer.send("01 00"));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUSH", "PUB", "XPUB"})
    void discardedMessagesAreLimitedToo(ZMTPSocketType type) {
        try (ScriptedPeer peer =
                InTraffic.as(type).set(codec -> codec.maxMessageFrames(2)).start()) {
            Failures.assertTooLarge(peer.send("01 00 01 00 01 00"));
        }
    }

    @Test
    void eachMessageIsCountedFromZero() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxMessageLength(100).maxMessageFrames(2))) {
            peer.send("01 14 61*20 / 00 10 62*16 / ".repeat(50));
            assertThat(peer.messages).hasSize(50);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void commandsDoNotCountAsFrames() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxMessageFrames(2))) {
            peer.send("01 00 " + "04 05 04 \"PONG\" ".repeat(10) + "00 00");
            assertThat(peer.messages).containsExactly("message - -");
        }
    }

    @Test
    void aCommandOfExactlyTheLimitIsAccepted() {
        try (ScriptedPeer peer =
                InTraffic.as(PUB).set(codec -> codec.maxCommandLength(300)).start()) {
            peer.send("06 00*6 01 2c 09 \"SUBSCRIBE\" 61*290");
            assertThat(peer.messages).containsExactly("subscribe " + Hex.of("61*290"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"06 00*6 01 2d", "06 7f ff*7"})
    void aCommandOverTheLimitIsRefusedAtItsHeader(String header) {
        try (ScriptedPeer peer =
                InTraffic.as(PUB).set(codec -> codec.maxCommandLength(300)).start()) {
            Failures.assertTooLarge(peer.send(header));
        }
    }

    @Test
    void commandsAreLimitedTo8KibibytesByDefault() {
        try (ScriptedPeer peer = InTraffic.as(PUB).start()) {
            peer.send("06 00*6 20 00 09 \"SUBSCRIBE\" 61*8182");
            assertThat(peer.messages).hasSize(1);
            Failures.assertTooLarge(peer.send("06 00*6 20 01"));
        }
    }

    @Test
    void theLimitOfFramesDoesNotApplyToCommands() {
        try (ScriptedPeer peer = InTraffic.as(XPUB)
                .set(codec -> codec.maxFrameLength(1).maxMessageLength(1))
                .start()) {
            peer.send("04 0b 09 \"SUBSCRIBE\" 41");
            assertThat(peer.messages).containsExactly("subscribe 41");
        }
    }

    @Test
    void afterAFailureTheRestOfTheInputIsDiscarded() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxFrameLength(10))) {
            ByteBuf read = Hex.buffer("00 01 61 / 00 0b / 00 01 62 / 08 00 / 04 07 04 \"PING\" 00 00");
            peer.channel.writeInbound(read);
            assertThat(peer.messages).containsExactly("message 61");
            Failures.assertTooLarge(peer);
            assertThat(read.refCnt()).isZero();
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void inputAfterAFailureIsDiscarded() {
        List<ByteBuf> late = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        late.add(Hex.buffer("00 01 62 08 00"));
                        ctx.pipeline().fireChannelRead(late.get(0));
                        ctx.fireExceptionCaught(cause);
                    }
                })
                .start()) {
            Failures.assertMalformed(peer.send("08 00"));
            assertThat(peer.messages).isEmpty();
            assertThat(late)
                    .singleElement()
                    .satisfies(read -> assertThat(read.refCnt()).isZero());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"01 05 61 62", "01 01 61 01 01 62 01", "01 01 61 / 02 00*6 30 00 61*100", "01 01 61 / 04 06 04"})
    void aPartialMessageIsReleasedWithAFailure(String partial) {
        try (ScriptedPeer peer = dealer(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))) {
            peer.send(partial);
            for (int seconds = 0; seconds < 2; seconds++) {
                peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
                peer.channel.runPendingTasks();
            }
            Failures.assertFailed(peer, ZMTPException.Code.HEARTBEAT_TIMEOUT);
            assertThat(peer.messages).isEmpty(); // and LeakCheck finds nothing
        }
    }

    @Test
    void framesOfATooLargeMessageAreReleased() {
        try (ScriptedPeer peer = dealer(codec -> codec.maxFrameLength(10))) {
            Failures.assertTooLarge(peer.send("01 01 61 01 01 62 / 00 0b"));
        }
    }

    @Test
    void aFailureIsReportedBeforeTheChannelIsClosed() {
        List<String> order = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(PUSH)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        order.add("failure while active: " + ctx.channel().isActive());
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        order.add("inactive");
                    }
                })
                .start()) {
            peer.send("08 00");
            assertThat(order).containsExactly("failure while active: true", "inactive");
        }
    }

    @Test
    void aFailureFailsUnflushedWrites() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ChannelPromise small = peer.channel.newPromise();
            peer.channel.write(ZMTPMessage.fromUTF8("small"), small);
            ChannelPromise big = peer.channel.newPromise();
            peer.channel.write(ZMTPMessage.fromUTF8("b".repeat(5000)), big);
            ChannelPromise last = peer.channel.newPromise();
            peer.channel.write(ZMTPMessage.fromUTF8("last"), last);
            peer.send("08 00");
            assertThat(small.cause()).isNotNull();
            assertThat(big.cause()).isNotNull();
            assertThat(last.cause()).isSameAs(peer.failures.get(0));
            Failures.assertMalformed(peer);
        }
    }

    @Test
    void limitsOf10PeersDoNotCountTheFlagsByte() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .peer(ZMTP10)
                .set(codec -> codec.maxFrameLength(1))
                .start()) {
            peer.send("02 00 61");
            assertThat(peer.messages).containsExactly("message 61");
            Failures.assertTooLarge(peer.send("03 00"));
        }
    }
}
