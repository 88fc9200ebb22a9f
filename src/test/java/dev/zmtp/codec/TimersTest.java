package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever ends a connection on which all timers run, none of them is left. */
class TimersTest {

    private static final long NO_TASK = -1;

    /** None of these is the channel's own close, as an embedded channel cancels all tasks there. */
    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    private enum End {
        CLOSE(traffic -> traffic.channel.pipeline().close()),
        DISCONNECT(traffic -> {
            ChannelHandlerContext ctx = traffic.channel.pipeline().context(traffic.codec);
            traffic.codec.disconnect(ctx, ctx.newPromise());
        }),
        PEER_GONE(traffic -> traffic.channel.unsafe().close(traffic.channel.voidPromise())),
        END_OF_INPUT(traffic -> traffic.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE)),
        MALFORMED(traffic -> traffic.receive("08 00")),
        IN_MID_MESSAGE(traffic -> traffic.receive("01 01 61 / 08 00")),
        WRITE_FAILURE(traffic -> {
            traffic.channel.pipeline().get(Gate.class).remaining = 0;
            traffic.writeText("a");
            traffic.channel.flush();
        }),
        SILENCE(traffic -> pass(traffic, 60_000)),
        TTL_OF_THE_PEER(traffic -> pass(traffic, 500)),
        REMOVAL(traffic -> traffic.channel.pipeline().remove(traffic.codec));

        private final Consumer<InTraffic> come;

        End(Consumer<InTraffic> come) {
            this.come = come;
        }
    }

    private static void pass(InTraffic traffic, long millis) {
        traffic.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        traffic.channel.runPendingTasks();
    }

    @ParameterizedTest
    @EnumSource
    void noTimerIsLeft(End end) {
        try (InTraffic traffic = InTraffic.as(PAIR)
                .front(new Gate())
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(10)).heartbeatTimeout(Duration.ofSeconds(20)))
                .start()) {
            pass(traffic, 10_000); // a PING, and its timeout
            traffic.receive("04 07 04 \"PING\" 00 05");
            assertThat(traffic.sent()).isEqualTo(Hex.of("04 07 04 \"PING\" 00 00 / 04 05 04 \"PONG\""));
            assertThat(traffic.channel.runScheduledPendingTasks()).isNotEqualTo(NO_TASK);
            end.come.accept(traffic);
            traffic.channel.runPendingTasks();
            assertThat(traffic.channel.runScheduledPendingTasks()).isEqualTo(NO_TASK);
            assertThat(traffic.channel.isOpen()).isEqualTo(end == End.REMOVAL);
        }
    }
}
