package dev.zmtp.codec.transports;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** However a connection ends on which all timers run, none of them is left. */
class TimersTest {

    private static final long NO_TASK = -1;

    /** The channel's own close is not among these, as an embedded channel cancels all tasks in it. */
    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    private enum Ending {
        CLOSE(peer -> peer.channel.pipeline().close()),
        DISCONNECT(peer -> {
            ChannelHandlerContext ctx = peer.channel.pipeline().context(peer.codec());
            peer.codec().disconnect(ctx, ctx.newPromise());
        }),
        PEER_GONE(peer -> peer.channel.unsafe().close(peer.channel.voidPromise())),
        END_OF_INPUT(peer -> peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE)),
        MALFORMED(peer -> peer.send("08 00")),
        IN_MID_MESSAGE(peer -> peer.send("01 01 61 / 08 00")),
        WRITE_FAILURE(peer -> {
            peer.channel.pipeline().get(Gate.class).remaining = 0;
            peer.channel.write(ZMTPMessage.fromUTF8("a"));
            peer.channel.flush();
        }),
        SILENCE(peer -> pass(peer, 60_000)),
        TTL_OF_THE_PEER(peer -> pass(peer, 500)),
        REMOVAL(peer -> peer.channel.pipeline().remove(peer.codec()));

        private final Consumer<ScriptedPeer> come;

        Ending(Consumer<ScriptedPeer> come) {
            this.come = come;
        }
    }

    private static void pass(ScriptedPeer peer, long millis) {
        peer.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        peer.channel.runPendingTasks();
    }

    @ParameterizedTest
    @EnumSource
    void noTimerIsLeft(Ending end) {
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .before(new Gate())
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(10)).heartbeatTimeout(Duration.ofSeconds(20)))
                .start()) {
            pass(peer, 10_000); // a PING, and its timeout
            peer.send("04 07 04 \"PING\" 00 05");
            assertThat(peer.received()).isEqualTo(Hex.of("04 07 04 \"PING\" 00 00 / 04 05 04 \"PONG\""));
            assertThat(peer.channel.runScheduledPendingTasks()).isNotEqualTo(NO_TASK);
            end.come.accept(peer);
            peer.channel.runPendingTasks();
            assertThat(peer.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
            assertThat(peer.channel.isOpen()).isEqualTo(end == Ending.REMOVAL);
        }
    }
}
