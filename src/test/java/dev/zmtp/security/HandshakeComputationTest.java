package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A step on another thread, and who wipes the secrets when. */
class HandshakeComputationTest {

    private final List<Runnable> tasks = new ArrayList<>();
    private final AtomicInteger wiped = new AtomicInteger();
    private final AtomicInteger steps = new AtomicInteger();
    private final HandshakeComputation computation =
            new HandshakeComputation(new StandaloneContext("DEALER", tasks::add), wiped::incrementAndGet);

    private void start() {
        computation.start(() -> {
            steps.incrementAndGet();
            return () -> null;
        });
    }

    @Test
    void aResultIsTakenOnce() {
        start();
        assertThat(computation.takeResult()).isNull();
        tasks.get(0).run();
        assertThat(computation.takeResult()).isNotNull();
        assertThat(computation.takeResult()).isNull();
        assertThat(wiped).hasValue(0);
    }

    @Test
    void aCloseWhileIdleWipesAtOnce() {
        computation.close();
        assertThat(wiped).hasValue(1);
        start();
        assertThat(tasks).isEmpty();
    }

    /** An executor that is shut down may never run it. */
    @Test
    void aCloseBeforeTheStepRunsWipesAtOnce() {
        start();
        computation.close();
        assertThat(wiped).hasValue(1);
        tasks.get(0).run();
        assertThat(wiped).hasValue(1);
        assertThat(steps).hasValue(0); // nobody needs the result
    }

    @Test
    void aCloseWhileTheStepRunsWipesWhenItHasEnded() {
        List<Integer> wipedDuringTheStep = new ArrayList<>();
        computation.start(() -> {
            computation.close();
            wipedDuringTheStep.add(wiped.get());
            return () -> null;
        });
        tasks.get(0).run();
        assertThat(wipedDuringTheStep).containsExactly(0);
        assertThat(wiped).hasValue(1);
    }

    @Test
    void theExceptionOfAStepIsThrownByItsResult() {
        computation.start(() -> {
            throw new IllegalStateException("broken");
        });
        tasks.get(0).run();
        assertThatThrownBy(() -> computation.takeResult().get()).hasMessage("broken");
        computation.close();
        assertThat(wiped).hasValue(1);
    }

    @Test
    void aRejectedStepIsNotAwaitedAtTheEnd() {
        HandshakeComputation rejected = new HandshakeComputation(
                new StandaloneContext("DEALER", task -> {
                    throw new RejectedExecutionException();
                }),
                wiped::incrementAndGet);
        assertThatThrownBy(() -> rejected.start(() -> () -> null))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("handshake executor: full (expected: room for one more)");
        rejected.close();
        assertThat(wiped).hasValue(1);
    }

    @Test
    void aStepThatABrokenExecutorDoesNotRunIsNotAwaitedAtTheEnd() {
        HandshakeComputation broken = new HandshakeComputation(
                new StandaloneContext("DEALER", task -> {
                    throw new IllegalArgumentException("broken");
                }),
                wiped::incrementAndGet);
        assertThatThrownBy(() -> broken.start(() -> () -> null)).hasMessage("broken");
        broken.close();
        assertThat(wiped).hasValue(1);
    }
}
