package dev.zmtp.internal.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ReadingTransport;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * PINGs in time, silence that ends a connection, and TTLs of the peer; in a time that stands still until it is moved.
 */
class HeartbeatTest {

    private static final String PING = Hex.of("04 07 04 \"PING\" 00 00");
    /** With a TTL of a second. */
    private static final String PING_FOR_A_SECOND = "04 07 04 \"PING\" 00 0a";

    private static final String PONG = "04 05 04 \"PONG\"";

    private static InTraffic pingingEachSecond() {
        return InTraffic.as(DEALER).set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)));
    }

    private static ScriptedPeer pingingEach(long millis) {
        return InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofMillis(millis)))
                .start();
    }

    private static void pass(ScriptedPeer peer, long millis) {
        peer.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        peer.channel.runPendingTasks();
    }

    private static void assertDead(ScriptedPeer peer) {
        Failures.assertFailed(peer, ZMTPException.Code.HEARTBEAT_TIMEOUT);
    }

    /** When so much time has passed, and not a millisecond earlier. */
    private static void assertDiesAfter(ScriptedPeer peer, long millis) {
        pass(peer, millis - 1);
        assertThat(peer.failures).isEmpty();
        pass(peer, 1);
        assertDead(peer);
    }

    @Test
    void aPingIsSentInEachInterval() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            pass(peer, 999);
            assertThat(peer.received()).isEmpty();
            pass(peer, 1);
            assertThat(peer.received()).isEqualTo(PING);
            peer.send(PONG);
            pass(peer, 999);
            assertThat(peer.received()).isEmpty();
            pass(peer, 1);
            assertThat(peer.received()).isEqualTo(PING);
        }
    }

    @Test
    void aPeerThatWeDoNotReadFromIsNotDisconnected() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            peer.send("00 01 61"); // all that was asked for
            peer.channel.config().setAutoRead(false);
            for (int second = 0; second < 5; second++) {
                pass(peer, 1000);
            }
            assertThat(peer.failures).isEmpty();
            peer.received();

            peer.channel.read();
            pass(peer, 1000);
            pass(peer, 1000);
            assertThat(peer.failures).hasSize(1);
        }
    }

    @Test
    void noPingIsSentByDefault() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            pass(peer, Duration.ofDays(1).toMillis());
            assertThat(peer.received()).isEmpty();
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(value = ZMTPVersion.class, mode = EnumSource.Mode.EXCLUDE, names = "ZMTP31")
    void peersThatMayNotAnswerAreNotPinged(ZMTPVersion version) {
        try (ScriptedPeer peer = pingingEachSecond().peer(version).start()) {
            pass(peer, 100_000);
            assertThat(peer.received()).isEmpty();
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    /** A DISH of libzmq or JeroMQ treats a PING as a message without a group, and never comes back. */
    @Test
    void aDishIsNotPingedBeforeItHasSentAPing() {
        InTraffic radio = InTraffic.as(RADIO)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofSeconds(9)));
        try (ScriptedPeer dish = radio.start()) {
            pass(dish, 3_000);
            assertThat(dish.received()).isEmpty();
            dish.send("04 07 04 \"PING\" 00 00");
            assertThat(dish.received()).isEqualTo(Hex.of("04 05 04 \"PONG\""));
            pass(dish, 1_000);
            assertThat(dish.received()).isEqualTo(Hex.of("04 07 04 \"PING\" 00 5a"));
        }
    }

    // Peers of 3.0, which has no PING, though some understand it

    private static ScriptedPeer pinging(ZMTPVersion version) {
        return InTraffic.as(DEALER)
                .peer(version)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatZMTP30Peers(true))
                .start();
    }

    @Test
    void aPingOfA30PeerIsAnswered() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(ZMTPVersion.ZMTP30).start()) {
            peer.send("04 09 04 \"PING\" 00 00 61 62");
            assertThat(peer.received()).isEqualTo(Hex.of("04 07 04 \"PONG\" 61 62"));
        }
    }

    @Test
    void a30PeerIsPingedOnRequest() {
        try (ScriptedPeer peer = pinging(ZMTPVersion.ZMTP30)) {
            pass(peer, 999);
            assertThat(peer.received()).isEmpty();
            pass(peer, 1);
            assertThat(peer.received()).isEqualTo(PING);
        }
    }

    @Test
    void theSilenceOfA30PeerThatNeverAnsweredIsNotDeath() {
        try (ScriptedPeer peer = pinging(ZMTPVersion.ZMTP30)) {
            for (int second = 0; second < 100; second++) {
                pass(peer, 1000);
            }
            peer.send("00 01 61");
            for (int second = 0; second < 100; second++) {
                pass(peer, 1000);
            }
            assertThat(peer.failures).isEmpty();
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {PONG, "04 07 04 \"PING\" 00 00"})
    void theSilenceOfA30PeerThatUnderstandsPingsIsDeath(String command) {
        try (ScriptedPeer peer = pinging(ZMTPVersion.ZMTP30)) {
            pass(peer, 100_000);
            peer.send(command);
            pass(peer, 1000);
            assertDiesAfter(peer, 1000);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPVersion.class,
            names = {"ZMTP10", "ZMTP20"})
    void peersWithoutCommandsAreNeverPinged(ZMTPVersion version) {
        try (ScriptedPeer peer = pinging(version)) {
            pass(peer, 100_000);
            assertThat(peer.received()).isEmpty();
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @ParameterizedTest(name = "{0} ms")
    @CsvSource({"0, 00 00", "100, 00 01", "199, 00 01", "6500, 00 41", "65500, 02 8f"})
    void aPingCarriesTheTtlInTenthsOfASecond(long millis, String ttl) {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTtl(Duration.ofMillis(millis)))
                .start()) {
            pass(peer, 1000);
            assertThat(peer.received()).isEqualTo(Hex.of("04 07 04 \"PING\" " + ttl));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 99, 65_600, 6_553_500, -100})
    void aTtlThatTheWireOrLibzmqCannotExpressIsRefused(long millis) {
        assertThatThrownBy(() -> ZMTPConfig.builder().heartbeatTtl(Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("heartbeatTtl");
    }

    @Test
    void silenceAfterAPingEndsTheConnection() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(10)).heartbeatTimeout(Duration.ofSeconds(3)))
                .start()) {
            pass(peer, 10_000);
            assertDiesAfter(peer, 3000);
        }
    }

    @Test
    void theTimeoutIsTheIntervalByDefault() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            pass(peer, 1000);
            assertDiesAfter(peer, 1000);
        }
    }

    @Test
    void noTimeoutMeansToWaitForever() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)).heartbeatTimeout(Duration.ZERO))
                .start()) {
            for (int i = 0; i < 100; i++) {
                pass(peer, 1000);
            }
            assertThat(peer.channel.isActive()).isTrue();
            assertThat(peer.receivedPieces()).hasSize(100);
        }
    }

    @Test
    void aTimeoutNamesThePeerAndTheTime() {
        try (ScriptedPeer peer = pingingEach(1500)) {
            pass(peer, 1500);
            pass(peer, 1500);
            assertThat(peer.failures)
                    .singleElement()
                    .satisfies(failure -> assertThat(failure)
                            .hasMessageContaining("silence of embedded")
                            .hasMessageContaining("1500 ms"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {PONG, "00 00", "00", "01", "00 05 61", "04 04 03 \"NEW\""})
    void anyByteIsASignOfLife(String bytes) {
        try (ScriptedPeer peer = pingingEach(1000)) {
            pass(peer, 1000);
            pass(peer, 500);
            peer.send(bytes);
            pass(peer, 999);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void theRestOfALongFrameIsASignOfLife() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            peer.send("02 00*6 10 00");
            for (int i = 0; i < 10; i++) {
                pass(peer, 900);
                peer.send("61");
            }
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void aPeerThatFallsSilentLaterIsNoticedToo() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            for (int i = 0; i < 10; i++) {
                pass(peer, 1000);
                peer.send(PONG);
            }
            pass(peer, 1000);
            pass(peer, 1000);
            pass(peer, 1000);
            assertDead(peer);
        }
    }

    @ParameterizedTest(name = "interval {0} s, timeout {1} s")
    @CsvSource({"1, 1", "1, 3", "1, 10", "10, 3", "3, 7"})
    void deathIsFoundWithinIntervalAndTimeout(int interval, int timeout) {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(interval))
                        .heartbeatTimeout(Duration.ofSeconds(timeout)))
                .start()) {
            pass(peer, interval * 1000L);
            pass(peer, 10);
            peer.send(PONG);
            int silence = 0;
            while (peer.failures.isEmpty() && silence < 100_000) {
                pass(peer, 10);
                silence += 10;
            }
            assertDead(peer);
            assertThat(silence).isBetween(timeout * 1000, (interval + timeout) * 1000);
        }
    }

    @Test
    void silenceForTheTtlOfThePeerEndsTheConnection() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND);
            assertDiesAfter(peer, 1000);
            assertThat(peer.failures.get(0)).hasMessageContaining("embedded").hasMessageContaining("1000 ms");
        }
    }

    /** The TTL is a promise to send, which a pause of this side does not fulfill. */
    @Test
    void theTtlOfThePeerBeginsAnewWhenThisSideReadsAgain() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND);
            pass(peer, 500);
            peer.channel.config().setAutoRead(false);
            pass(peer, 100);
            peer.channel.config().setAutoRead(true);
            assertDiesAfter(peer, 1000);
        }
    }

    @Test
    void aTtlThatEndsWhileThisSideDoesNotReadBeginsAnewWhenItReadsAgain() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND);
            peer.channel.config().setAutoRead(false);
            pass(peer, 100_000);
            assertThat(peer.failures).isEmpty();
            peer.channel.config().setAutoRead(true);
            assertDiesAfter(peer, 1000);
        }
    }

    @Test
    void aTtlThatThePeerHasKeptDoesNotBeginAnew() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND);
            peer.send("00 01 61");
            peer.channel.config().setAutoRead(false);
            peer.channel.config().setAutoRead(true);
            pass(peer, 100_000);
            assertThat(peer.failures).isEmpty();
        }
    }

    // Our own pauses, in which all timers become due, and bytes wait to be read

    /** The event loop stands still for so long, and then reads these bytes, which have arrived meanwhile. */
    private static void stall(ScriptedPeer peer, long millis, String arrived) {
        peer.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        // Tasks that are due run before the loop reads; this one stands for the read, after them.
        peer.channel.eventLoop().schedule(() -> peer.send(arrived), 0, TimeUnit.NANOSECONDS);
        peer.channel.runScheduledPendingTasks();
    }

    @Test
    void aStallOfOursIsNotTheSilenceOfAPeerWithATtl() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            for (int i = 0; i < 10; i++) {
                peer.send(PING_FOR_A_SECOND);
                stall(peer, 1_500, PING_FOR_A_SECOND);
                assertThat(peer.failures).isEmpty();
            }
            pass(peer, 1_000);
            assertDead(peer);
        }
    }

    @Test
    void aStallOfOursIsNotTheSilenceOfAPeerThatAnswersPings() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            for (int i = 0; i < 10; i++) {
                pass(peer, 1_000);
                stall(peer, 10_000, PONG);
                assertThat(peer.failures).isEmpty();
            }
            pass(peer, 1_000);
            pass(peer, 1_000);
            assertDead(peer);
        }
    }

    /** What waits for its turn has arrived, however long its turn is in coming. */
    @Test
    void whatWaitsForItsTurnIsASignOfLife() {
        ReadingTransport transport = new ReadingTransport();
        try (ScriptedPeer peer = InTraffic.as(PULL)
                .set(codec -> codec.maxFramesPerRead(1))
                .before(transport)
                .start()) {
            peer.channel.config().setAutoRead(true);
            transport.read(PING_FOR_A_SECOND + "00 01 61");
            peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
            peer.channel.runScheduledPendingTasks();
            assertThat(peer.failures).isEmpty();
        }
    }

    /** As a traffic shaper does: it is not the peer that keeps us waiting. */
    @Test
    void aPingThatAHandlerBeforeTheCodecHoldsBackIsNotJudged() {
        Holding shaper = new Holding();
        try (ScriptedPeer peer = pingingEachSecond().before(shaper).start()) {
            shaper.holds = true;
            for (int i = 0; i < 10; i++) {
                pass(peer, 1_000);
            }
            assertThat(peer.failures).isEmpty();

            shaper.release();
            pass(peer, 1_000);
            assertDead(peer);
        }
    }

    private static final class Holding extends ChannelOutboundHandlerAdapter {
        private final List<Runnable> held = new ArrayList<>();
        private boolean holds;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (holds) {
                held.add(() -> ctx.writeAndFlush(msg, promise));
            } else {
                ctx.write(msg, promise);
            }
        }

        private void release() {
            holds = false;
            held.forEach(Runnable::run);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {PONG, "00 01 61", "04 07 04 \"PING\" 00 00", "00"})
    void whateverFollowsAPingDisarmsItsTtl(String bytes) {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND);
            pass(peer, 999);
            peer.send(bytes);
            pass(peer, 100_000);
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00 01 61", "00", "02 00*6 10 00", "02 00*7 01 61", PONG, "04 07 04 \"PING\" 00 00"})
    void whateverFollowsAPingInTheSameReadDisarmsItsTtl(String bytes) {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND + bytes);
            pass(peer, 100_000);
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void theTtlOfTheNewestPingCounts() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND);
            peer.send("04 07 04 \"PING\" 00 14");
            assertDiesAfter(peer, 2000);
        }
    }

    @Test
    void theTimerOfAnOlderTtlIsCancelled() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send(PING_FOR_A_SECOND);
            peer.send("04 07 04 \"PING\" 00 14");
            assertThat(peer.channel.runScheduledPendingTasks())
                    .isEqualTo(Duration.ofSeconds(2).toNanos());
        }
    }

    @Test
    void aPingThatCannotBeAllocatedEndsTheConnection() {
        FullAllocator alloc = new FullAllocator();
        try (ScriptedPeer peer = pingingEachSecond().allocator(alloc).start()) {
            alloc.full = true;
            pass(peer, 1000);
            alloc.full = false;
            assertThat(peer.failures).singleElement().isInstanceOf(OutOfMemoryError.class);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void theGreatestTtlIsNotCutTo16Bits() {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send("04 07 04 \"PING\" ff ff");
            assertDiesAfter(peer, 6_553_500);
        }
    }

    @Test
    void noTaskIsLeftOnceTheChannelIsClosed() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            pass(peer, 1000);
            peer.send("04 07 04 \"PING\" 00 64");
            peer.channel.pipeline().close(); // unlike that of the channel, it leaves the tasks to their owners
            peer.channel.runPendingTasks();
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(-1);
        }
    }

    @Test
    void noTaskIsLeftOnceTheCodecIsRemoved() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            pass(peer, 1000);
            peer.send("04 07 04 \"PING\" 00 64");
            peer.channel.pipeline().remove("codec");
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(-1);
        }
    }

    @Test
    void aPingThatCannotBeSentLeavesNoTask() {
        FailingWrites failing = new FailingWrites();
        try (ScriptedPeer peer = pingingEachSecond().before(failing).start()) {
            failing.on = true;
            pass(peer, 1000);
            assertThat(peer.failures).singleElement().isInstanceOf(IOException.class);
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(-1);
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
    void aPingFlushesWhatWasWrittenBefore() {
        try (ScriptedPeer peer = pingingEach(1000)) {
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            pass(peer, 1000);
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61") + PING);
        }
    }
}
