package dev.zmtp.codec;

import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The time within which a handshake must be complete, on the channel's own clock. */
class HandshakeDeadlineTest {

    private static final long NO_TASK = -1;

    /** A peer at a clock that stands still. */
    private static ScriptedPeer frozen(ZMTPConfig.Builder config) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        peer.channel.pipeline().addFirst(ZMTPCodec.from(config.build()));
        return peer;
    }

    private static ZMTPConfig.Builder dealer() {
        return ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER);
    }

    private static void advance(ScriptedPeer peer, long millis) {
        peer.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        peer.channel.runScheduledPendingTasks();
    }

    private static ZMTPException failureOf(ScriptedPeer peer) {
        assertThat(peer.failures).isEmpty();
        assertThat(peer.channel.isOpen()).isFalse();
        return (ZMTPException) peer.onlyEvent(ZMTPHandshakeFailure.class).cause();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ff",
                "ff 00*8 7f",
                "ff 00*8 7f 03",
                GREETING,
                GREETING + "04",
                GREETING + "04 06 05 \"REA\"",
                "03",
                "03 00",
                "03 00 6d",
                "ff 00*8 7f 01 06",
                "ff 00*8 7f 01 06 00 02 6d",
                "ff 00*8 7f 00 06 03 00 6d"
            })
    void aPeerThatStopsAnywhereIsGivenUpAfter30Seconds(String theirs) {
        try (ScriptedPeer peer = frozen(dealer()).send(theirs)) {
            advance(peer, 29_999);
            assertThat(peer.events).isEmpty();
            advance(peer, 1);
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT);
        }
    }

    @Test
    void theFailureSaysWhoAndWhereAndHowLong() {
        try (ScriptedPeer peer = frozen(dealer())) {
            advance(peer, 30_000);
            assertThat(failureOf(peer))
                    .hasMessage("handshake with embedded: not complete in GreetingPhase (expected: within 30000 ms)");
        }
    }

    static Stream<Arguments> dribbles() {
        return Stream.of(GREETING, "ff 00*8 7f 01 06 00 ff 69*200", "ff 00*7 ff 00 69*200", "0b 00 69*10")
                .flatMap(theirs -> Stream.of(100, 1_000, 10_000, 15_000).map(pause -> Arguments.of(theirs, pause)));
    }

    @ParameterizedTest(name = "{0}, an octet in {1} ms")
    @MethodSource("dribbles")
    void aPeerThatDribblesGetsNoMoreTime(String theirs, int pause) {
        byte[] octets = Arrays.copyOf(Hex.octets(theirs), 11); // less than any of these handshakes
        try (ScriptedPeer peer = frozen(dealer())) {
            for (int time = 0, sent = 0; time < 30_000; time += pause) {
                assertThat(peer.events).isEmpty();
                if (sent < octets.length) {
                    peer.send(new byte[] {octets[sent++]});
                }
                advance(peer, pause - 1);
                assertThat(peer.events).isEmpty();
                advance(peer, 1);
            }
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT);
        }
    }

    @Test
    void theTimeIsAMatterOfConfiguration() {
        try (ScriptedPeer peer = frozen(dealer().handshakeTimeout(Duration.ofMillis(10)))) {
            advance(peer, 9);
            assertThat(peer.events).isEmpty();
            advance(peer, 1);
            assertThat(failureOf(peer)).hasMessageEndingWith("(expected: within 10 ms)");
        }
    }

    @Test
    void zeroIsNoDeadline() {
        try (ScriptedPeer peer = frozen(dealer().handshakeTimeout(Duration.ZERO))) {
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
        }
    }

    @Test
    void theLongestTimeThatCanBeConfiguredIsCounted() {
        try (ScriptedPeer peer = frozen(dealer().handshakeTimeout(Duration.ofNanos(Long.MAX_VALUE)))) {
            advance(peer, 1_000_000_000);
            assertThat(peer.failures).isEmpty();
            assertThat(peer.send(GREETING + ready("ROUTER")).events).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"01 00", "ff 00*8 7f 01 06 00 00", GREETING + "04 06 05 \"READY\""})
    void aCompleteHandshakeLeavesNoTask(String theirs) {
        try (ScriptedPeer peer = frozen(dealer()).send(theirs)) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
        }
    }

    @Test
    void aFailedHandshakeLeavesNoTask() {
        try (ScriptedPeer peer = frozen(dealer()).send("00 00")) {
            peer.onlyEvent(ZMTPHandshakeFailure.class);
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
        }
    }

    @Test
    void aClosedChannelLeavesNoTask() {
        try (ScriptedPeer peer = frozen(dealer())) {
            peer.channel.close();
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
        }
    }

    @Test
    void aRemovedCodecLeavesNoTask() {
        try (ScriptedPeer peer = frozen(dealer())) {
            peer.channel.pipeline().remove(ZMTPCodec.class);
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
        }
    }
}
