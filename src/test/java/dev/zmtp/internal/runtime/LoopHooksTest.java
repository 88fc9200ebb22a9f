package dev.zmtp.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.TestSockets;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoopHooksTest {

    private final EventLoop loop = new DefaultEventLoop();
    private final List<String> ran = new CopyOnWriteArrayList<>();

    private void endAfter(Runnable task) {
        loop.execute(task);
        assertThat(loop.terminationFuture().awaitUninterruptibly(TestSockets.PATIENCE.toMillis()))
                .isTrue();
    }

    private void beginToEnd() {
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }

    @Test
    void aTaskOfAnEndingLoopRunsAfterAllActions() {
        endAfter(() -> {
            LoopHooks.add(loop, () -> ran.add("first action"));
            LoopHooks.add(loop, () -> ran.add("second action"));
            beginToEnd();
            LoopHooks.execute(loop, () -> ran.add("task"));
        });

        assertThat(ran).startsWith("first action", "second action", "task");
    }

    @Test
    void aTaskOfALoopThatDoesNotEndRunsAlone() {
        endAfter(() -> {
            LoopHooks.add(loop, () -> ran.add("action"));
            LoopHooks.execute(loop, () -> ran.add("task"));
            loop.execute(this::beginToEnd);
        });

        assertThat(ran).containsExactly("task", "action");
    }

    @Test
    void anActionThatFailsDoesNotKeepOthersFromRunning() {
        endAfter(() -> {
            LoopHooks.add(loop, () -> {
                throw new IllegalStateException("from a test");
            });
            LoopHooks.add(loop, () -> ran.add("second action"));
            beginToEnd();
            LoopHooks.execute(loop, () -> ran.add("task"));
        });

        assertThat(ran).startsWith("second action", "task");
    }

    @Test
    void anActionThatWasRemovedDoesNotRun() {
        Runnable action = () -> ran.add("action");
        endAfter(() -> {
            LoopHooks.add(loop, action);
            LoopHooks.remove(loop, action);
            beginToEnd();
            LoopHooks.execute(loop, () -> ran.add("task"));
        });

        assertThat(ran).containsExactly("task");
    }

    /** Thousands of channels, each of which is told of the end of another, would otherwise overflow the stack. */
    @Test
    void anActionDoesNotRunOthers() {
        endAfter(() -> {
            LoopHooks.add(loop, () -> {
                ran.add("first action begins");
                LoopHooks.run();
                ran.add("first action ends");
            });
            LoopHooks.add(loop, () -> ran.add("second action"));
            beginToEnd();
            LoopHooks.execute(loop, () -> ran.add("task"));
        });

        assertThat(ran).startsWith("first action begins", "first action ends", "second action", "task");
    }
}
