package dev.zmtp.codec.handshake;

import static dev.zmtp.testing.Failures.failureOf;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.CodecClock;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
    void aPeerThatStopsAnywhereTimesOutAfter30Seconds(String theirs) {
        try (ScriptedPeer peer = frozen(dealer()).send(theirs)) {
            advance(peer, 29_999);
            assertThat(peer.events).isEmpty();
            advance(peer, 1);
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT);
        }
    }

    @Test
    void theFailureNamesThePeerThePhaseAndTheTime() {
        try (ScriptedPeer peer = frozen(dealer())) {
            advance(peer, 30_000);
            assertThat(failureOf(peer))
                    .hasMessage(
                            "handshake with embedded: not complete, phase: greeting, nothing received (expected: within 30000 ms)");
        }
    }

    /** What arrives at once, what arrives byte by byte, and the phase after that. */
    static Stream<Arguments> dribbles() {
        return Stream.of(
                        Arguments.of("", GREETING, "greeting"),
                        Arguments.of("", "ff 00*8 7f 01 06 00 ff 69*200", "greeting"),
                        Arguments.of("", "ff 00*7 ff 00 69*200", ""), // one of two, depending on the last byte
                        Arguments.of("", "0b 00 69*10", "identity"),
                        Arguments.of("ff 00*8 7f 01 06", "00 ff 69*200", "identity"),
                        Arguments.of("ff 00*8 7f 01 06 00", "ff 69*200", "identity"),
                        Arguments.of(GREETING, ready("ROUTER"), "mechanism NULL"),
                        Arguments.of(GREETING + "04 26", "05 \"READY\" 0b 69*200", "mechanism NULL"))
                .flatMap(start -> Stream.of(100, 1_000, 10_000, 15_000)
                        .map(pause -> Arguments.of(start.get()[0], start.get()[1], start.get()[2], pause)));
    }

    @ParameterizedTest(name = "{0}, then {1}, a byte in {3} ms")
    @MethodSource("dribbles")
    void aSlowlySendingPeerGetsNoExtraTime(String start, String theirs, String phase, int pause) {
        byte[] bytes = Arrays.copyOf(Hex.bytes(theirs), 11); // less than what is missing in any of these handshakes
        try (ScriptedPeer peer = frozen(dealer()).send(start)) {
            for (int time = 0, sent = 0; time < 30_000; time += pause) {
                assertThat(peer.events).isEmpty();
                if (sent < bytes.length) {
                    peer.send(new byte[] {bytes[sent++]});
                }
                advance(peer, pause - 1);
                assertThat(peer.events).isEmpty();
                advance(peer, 1);
            }
            ZMTPException failure = failureOf(peer);
            assertThat(failure.code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT);
            assertThat(failure).hasMessageContaining(phase + " (expected: within 30000 ms)");
        }
    }

    @Test
    void theTimeoutIsConfigurable() {
        try (ScriptedPeer peer = frozen(dealer().handshakeTimeout(Duration.ofMillis(10)))) {
            advance(peer, 9);
            assertThat(peer.events).isEmpty();
            advance(peer, 1);
            assertThat(failureOf(peer)).hasMessageEndingWith("(expected: within 10 ms)");
        }
    }

    /** As on an event loop under load, where strangers should be the first to go. One long pause is always excused. */
    @Test
    void aTimeoutThatIsAlwaysLateIsExtendedByItsLengthAtMost() {
        long[] now = {0};
        ZMTPCodec codec = CodecClock.set(
                        ZMTPCodec.builder().socketType(ZMTPSocketType.DEALER),
                        () -> TimeUnit.MILLISECONDS.toNanos(now[0]))
                .build();
        try (ScriptedPeer peer = new ScriptedPeer()) {
            peer.channel.freezeTime();
            peer.channel.pipeline().addFirst(codec);
            for (int passed = 30_150; now[0] < 89_000; passed = 300) { // half of which is late
                now[0] += passed;
                assertThat(peer.events).isEmpty();
                advance(peer, passed);
            }
            while (now[0] < 91_000) {
                now[0] += 300;
                advance(peer, 300);
            }
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT);
        }
    }

    @Test
    void zeroMeansNoTimeout() {
        try (ScriptedPeer peer = frozen(dealer().handshakeTimeout(Duration.ZERO))) {
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
        }
    }

    @Test
    void theLongestConfigurableTimeoutWorks() {
        try (ScriptedPeer peer = frozen(dealer().handshakeTimeout(Duration.ofNanos(Long.MAX_VALUE)))) {
            advance(peer, 1_000_000_000);
            assertThat(peer.failures).isEmpty();
            assertThat(peer.send(GREETING + ready("ROUTER")).events).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"01 00", "ff 00*8 7f 01 06 00 00", GREETING + "04 06 05 \"READY\""})
    void aCompleteHandshakeLeavesNoScheduledTask(String theirs) {
        try (ScriptedPeer peer = frozen(dealer()).send(theirs)) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
        }
    }

    /** A transport that takes all writes and never completes them. */
    private static final class Silent extends ChannelOutboundHandlerAdapter {
        private final List<ChannelPromise> writes = new ArrayList<>();

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ReferenceCountUtil.release(msg);
            writes.add(promise);
        }
    }

    /** The channel's own close is not among these, as an embedded channel cancels all tasks in it. */
    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    private enum Ending {
        CLOSE(peer -> peer.channel.pipeline().close()),
        DISCONNECT(peer -> {
            ChannelHandlerContext ctx = peer.channel.pipeline().context(ZMTPCodec.class);
            ((ZMTPCodec) ctx.handler()).disconnect(ctx, ctx.newPromise());
        }),
        PEER_GONE(peer -> peer.channel.unsafe().close(peer.channel.voidPromise())),
        END_OF_INPUT(peer -> peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE)),
        MALFORMED(peer -> peer.send("08 7f")),
        WRITE_FAILURE(peer ->
                peer.channel.pipeline().get(Silent.class).writes.get(0).setFailure(new IOException("broken pipe"))),
        EXCEPTION(peer -> peer.channel.pipeline().fireExceptionCaught(new IOException("reset"))),
        DEADLINE(peer -> advance(peer, 30_000)),
        REMOVAL(peer -> peer.channel.pipeline().remove(ZMTPCodec.class));

        private final Consumer<ScriptedPeer> come;

        Ending(Consumer<ScriptedPeer> come) {
            this.come = come;
        }
    }

    static Stream<Arguments> ends() {
        return Stream.of("", "ff 00*8 7f 01 06", GREETING)
                .flatMap(theirs -> Arrays.stream(Ending.values()).map(end -> Arguments.of(theirs, end)));
    }

    @ParameterizedTest(name = "{0}, then {1}")
    @MethodSource("ends")
    void anEndedHandshakeLeavesNoScheduledTask(String theirs, Ending end) {
        try (ScriptedPeer peer = new ScriptedPeer()) {
            peer.channel.freezeTime();
            peer.channel.pipeline().addFirst("transport", new Silent());
            peer.channel.pipeline().addAfter("transport", "codec", ZMTPCodec.from(dealer().build()));
            peer.send(theirs);
            assertThat(peer.channel.runScheduledPendingTasks()).isNotEqualTo(NO_TASK);
            end.come.accept(peer);
            peer.channel.runPendingTasks();
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
            assertThat(peer.all)
                    .filteredOn(ZMTPHandshakeFailure.class::isInstance)
                    .hasSize(1);
            assertThat(peer.channel.isOpen()).isEqualTo(end == Ending.REMOVAL);
        }
    }
}
