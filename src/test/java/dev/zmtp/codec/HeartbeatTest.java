package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PINGs in time, silence that ends a connection, and TTLs of the peer; in a time that stands still until it is moved. */
class HeartbeatTest {

    private static final String PING = Hex.of("04 07 04 \"PING\" 00 00");
    private static final String PONG = "04 05 04 \"PONG\"";

    private static InTraffic pingingEach(long millis) {
        return InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofMillis(millis)))
                .start();
    }

    private static void pass(InTraffic traffic, long millis) {
        traffic.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        traffic.channel.runPendingTasks();
    }

    @Test
    void aPingLeavesInEachInterval() {
        try (InTraffic traffic = pingingEach(1000)) {
            pass(traffic, 999);
            assertThat(traffic.sent()).isEmpty();
            pass(traffic, 1);
            assertThat(traffic.sent()).isEqualTo(PING);
            traffic.receive(PONG);
            pass(traffic, 999);
            assertThat(traffic.sent()).isEmpty();
            pass(traffic, 1);
            assertThat(traffic.sent()).isEqualTo(PING);
        }
    }

    @Test
    void aPeerThatWeDoNotReadFromIsNotCut() {
        try (InTraffic traffic = pingingEach(1000)) {
            traffic.channel.config().setAutoRead(false);
            traffic.receive("00 01 61"); // all that was asked for
            for (int second = 0; second < 5; second++) {
                pass(traffic, 1000);
            }
            assertThat(traffic.failures).isEmpty();
            traffic.sent();

            traffic.channel.read();
            pass(traffic, 1000);
            pass(traffic, 1000);
            assertThat(traffic.failures).hasSize(1);
        }
    }

    @Test
    void noPingLeavesByDefault() {
        try (InTraffic traffic = InTraffic.as(DEALER).start()) {
            pass(traffic, Duration.ofDays(1).toMillis());
            assertThat(traffic.sent()).isEmpty();
            assertThat(traffic.channel.isActive()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(value = ZMTPVersion.class, mode = EnumSource.Mode.EXCLUDE, names = "ZMTP31")
    void peersThatMayNotAnswerAreNotPinged(ZMTPVersion version) {
        try (InTraffic traffic = InTraffic.as(DEALER)
                .peer(version)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .start()) {
            pass(traffic, 100_000);
            assertThat(traffic.sent()).isEmpty();
            assertThat(traffic.channel.isActive()).isTrue();
        }
    }

    @ParameterizedTest(name = "{0} ms")
    @CsvSource({"0, 00 00", "100, 00 01", "199, 00 01", "6500, 00 41", "65500, 02 8f"})
    void aPingDemandsTheTtlInTenthsOfASecond(long millis, String ttl) {
        try (InTraffic traffic = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofMillis(millis)))
                .start()) {
            pass(traffic, 1000);
            assertThat(traffic.sent()).isEqualTo(Hex.of("04 07 04 \"PING\" " + ttl));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 99, 65_600, 6_553_500, -100})
    void aTtlThatTheWireOrLibzmqCannotSayIsRefused(long millis) {
        assertThatThrownBy(() -> ZMTPConfig.builder().heartbeatTtl(Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("heartbeatTtl");
    }

    @Test
    void silenceAfterAPingEndsTheConnection() {
        try (InTraffic traffic = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(10)).heartbeatTimeout(Duration.ofSeconds(3)))
                .start()) {
            pass(traffic, 10_000);
            pass(traffic, 2_999);
            assertThat(traffic.failures).isEmpty();
            pass(traffic, 1);
            Failures.assertFailed(traffic, ZMTPException.Code.HEARTBEAT_TIMEOUT);
        }
    }

    @Test
    void theTimeoutIsTheIntervalUnlessSaidOtherwise() {
        try (InTraffic traffic = pingingEach(1000)) {
            pass(traffic, 1000);
            pass(traffic, 999);
            assertThat(traffic.failures).isEmpty();
            pass(traffic, 1);
            Failures.assertFailed(traffic, ZMTPException.Code.HEARTBEAT_TIMEOUT);
        }
    }

    @Test
    void noTimeoutMeansToWaitForEver() {
        try (InTraffic traffic = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTimeout(Duration.ZERO))
                .start()) {
            for (int i = 0; i < 100; i++) {
                pass(traffic, 1000);
            }
            assertThat(traffic.channel.isActive()).isTrue();
            assertThat(traffic.sentPieces()).hasSize(100);
        }
    }

    @Test
    void aTimeoutTellsWhoWasSilentAndHowLong() {
        try (InTraffic traffic = pingingEach(1500)) {
            pass(traffic, 1500);
            pass(traffic, 1500);
            assertThat(traffic.failures)
                    .singleElement()
                    .satisfies(failure -> assertThat(failure)
                            .hasMessageContaining("silence of embedded")
                            .hasMessageContaining("1500 ms"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {PONG, "00 00", "00", "01", "00 05 61", "04 04 03 \"NEW\""})
    void anyOctetIsASignOfLife(String octets) {
        try (InTraffic traffic = pingingEach(1000)) {
            pass(traffic, 1000);
            pass(traffic, 500);
            traffic.receive(octets);
            pass(traffic, 999);
            assertThat(traffic.failures).isEmpty();
        }
    }

    @Test
    void theRestOfALongFrameIsASignOfLife() {
        try (InTraffic traffic = pingingEach(1000)) {
            traffic.receive("02 00*6 10 00");
            for (int i = 0; i < 10; i++) {
                pass(traffic, 900);
                traffic.receive("61");
            }
            assertThat(traffic.failures).isEmpty();
        }
    }

    @Test
    void aPeerThatFallsSilentLaterIsNoticedToo() {
        try (InTraffic traffic = pingingEach(1000)) {
            for (int i = 0; i < 10; i++) {
                pass(traffic, 1000);
                traffic.receive(PONG);
            }
            pass(traffic, 1000);
            pass(traffic, 1000);
            pass(traffic, 1000);
            Failures.assertFailed(traffic, ZMTPException.Code.HEARTBEAT_TIMEOUT);
        }
    }

    @Test
    void silenceForTheTtlOfThePeerEndsTheConnection() {
        try (InTraffic traffic = InTraffic.as(PULL).start()) {
            traffic.receive("04 07 04 \"PING\" 00 0a");
            pass(traffic, 999);
            assertThat(traffic.failures).isEmpty();
            pass(traffic, 1);
            Failures.assertFailed(traffic, ZMTPException.Code.HEARTBEAT_TIMEOUT);
            assertThat(traffic.failures.get(0)).hasMessageContaining("embedded").hasMessageContaining("1000 ms");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {PONG, "00 01 61", "04 07 04 \"PING\" 00 00", "00"})
    void whateverFollowsAPingDisarmsItsTtl(String octets) {
        try (InTraffic traffic = InTraffic.as(PULL).start()) {
            traffic.receive("04 07 04 \"PING\" 00 0a");
            pass(traffic, 999);
            traffic.receive(octets);
            pass(traffic, 100_000);
            assertThat(traffic.failures).isEmpty();
        }
    }

    @Test
    void aFrameInTheSameReadAsAPingDisarmsItsTtl() {
        try (InTraffic traffic = InTraffic.as(PULL).start()) {
            traffic.receive("04 07 04 \"PING\" 00 0a / 00 01 61");
            pass(traffic, 100_000);
            assertThat(traffic.failures).isEmpty();
        }
    }

    @Test
    void theTtlOfTheNewestPingCounts() {
        try (InTraffic traffic = InTraffic.as(PULL).start()) {
            traffic.receive("04 07 04 \"PING\" 00 0a");
            traffic.receive("04 07 04 \"PING\" 00 14");
            pass(traffic, 1999);
            assertThat(traffic.failures).isEmpty();
            pass(traffic, 1);
            Failures.assertFailed(traffic, ZMTPException.Code.HEARTBEAT_TIMEOUT);
        }
    }

    @Test
    void theTimerOfAnOlderTtlIsNotKept() {
        try (InTraffic traffic = InTraffic.as(PULL).start()) {
            traffic.receive("04 07 04 \"PING\" 00 0a");
            traffic.receive("04 07 04 \"PING\" 00 14");
            assertThat(traffic.channel.runScheduledPendingTasks())
                    .isEqualTo(Duration.ofSeconds(2).toNanos());
        }
    }

    @Test
    void aPingForWhichThereIsNoMemoryEndsTheConnection() {
        FullAllocator alloc = new FullAllocator();
        try (InTraffic traffic = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .allocator(alloc)
                .start()) {
            alloc.full = true;
            pass(traffic, 1000);
            alloc.full = false;
            assertThat(traffic.failures).singleElement().isInstanceOf(OutOfMemoryError.class);
            assertThat(traffic.channel.isOpen()).isFalse();
        }
    }

    @Test
    void theGreatestTtlIsNotCutTo16Bits() {
        try (InTraffic traffic = InTraffic.as(PULL).start()) {
            traffic.receive("04 07 04 \"PING\" ff ff");
            pass(traffic, 6_553_499);
            assertThat(traffic.failures).isEmpty();
            pass(traffic, 1);
            Failures.assertFailed(traffic, ZMTPException.Code.HEARTBEAT_TIMEOUT);
        }
    }

    @Test
    void noTaskIsLeftOnceTheChannelIsClosed() {
        try (InTraffic traffic = pingingEach(1000)) {
            pass(traffic, 1000);
            traffic.receive("04 07 04 \"PING\" 00 64");
            traffic.channel.pipeline().close(); // unlike that of the channel, it leaves the tasks to their owners
            traffic.channel.runPendingTasks();
            assertThat(traffic.channel.runScheduledPendingTasks()).isEqualTo(-1);
        }
    }

    @Test
    void noTaskIsLeftOnceTheCodecIsRemoved() {
        try (InTraffic traffic = pingingEach(1000)) {
            pass(traffic, 1000);
            traffic.receive("04 07 04 \"PING\" 00 64");
            traffic.channel.pipeline().remove("codec");
            assertThat(traffic.channel.runScheduledPendingTasks()).isEqualTo(-1);
        }
    }

    @Test
    void noTaskIsLeftByAPingThatCannotBeSent() {
        FailingWrites failing = new FailingWrites();
        try (InTraffic traffic = InTraffic.as(DEALER)
                .front(failing)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .start()) {
            failing.on = true;
            pass(traffic, 1000);
            assertThat(traffic.failures).singleElement().isInstanceOf(IOException.class);
            assertThat(traffic.channel.runScheduledPendingTasks()).isEqualTo(-1);
        }
    }

    private static final class FailingWrites extends ChannelOutboundHandlerAdapter {
        private boolean on;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (on) {
                ((ByteBuf) msg).release();
                promise.setFailure(new IOException("broken"));
            } else {
                ctx.write(msg, promise);
            }
        }
    }

    @Test
    void noPingIsQueuedForAPeerThatDoesNotRead() {
        try (InTraffic traffic = pingingEach(1000)) {
            traffic.write(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[100_000])));
            assertThat(traffic.channel.isWritable()).isFalse();
            pass(traffic, 1000);
            assertThat(traffic.sent()).isEmpty();
        }
    }

    @Test
    void aPingTakesAlongWhatWasWrittenBefore() {
        try (InTraffic traffic = pingingEach(1000)) {
            traffic.writeText("a");
            pass(traffic, 1000);
            assertThat(traffic.sent()).isEqualTo(Hex.of("00 01 61") + PING);
        }
    }
}
