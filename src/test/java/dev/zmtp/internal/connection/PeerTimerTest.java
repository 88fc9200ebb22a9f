package dev.zmtp.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A timer for what a peer has to do judges after the event loop has read once more. */
class PeerTimerTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<Object> calls = new ArrayList<>();
    private long now;
    private final PeerTimer timer = new PeerTimer(channel.eventLoop(), () -> now);

    @BeforeEach
    void freeze() {
        channel.freezeTime();
    }

    private void pass(long nanos) {
        now += nanos;
        channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
    }

    @Test
    void itJudgesOnceAndNotBeforeItsTime() {
        timer.start(100, calls::add);
        pass(99);
        channel.runScheduledPendingTasks();
        assertThat(calls).isEmpty();
        assertThat(timer.isRunning()).isTrue();
        pass(1);
        channel.runScheduledPendingTasks();
        assertThat(calls).containsExactly(0L);
        assertThat(timer.isRunning()).isFalse();
    }

    @Test
    void whatTheEventLoopReadsWhenItComesToItComesFirst() {
        timer.start(100, calls::add);
        pass(250);
        channel.eventLoop().schedule(() -> calls.add("read"), 0, TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
        assertThat(calls).containsExactly("read", 150L);
    }

    @Test
    void aReadMayStartItAnewOrCancelIt() {
        timer.start(100, calls::add);
        pass(250);
        channel.eventLoop().schedule(() -> timer.start(100, late -> calls.add("anew")), 0, TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
        assertThat(calls).isEmpty();
        pass(100);
        channel.eventLoop().schedule(timer::cancel, 0, TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
        assertThat(calls).isEmpty();
        assertThat(timer.isRunning()).isFalse();
    }

    @Test
    void itMayBeStartedByItsOwnJudgment() {
        timer.start(100, late -> timer.start(50, calls::add));
        pass(100);
        channel.runScheduledPendingTasks();
        assertThat(calls).isEmpty();
        pass(50);
        channel.runScheduledPendingTasks();
        assertThat(calls).containsExactly(0L);
    }
}
