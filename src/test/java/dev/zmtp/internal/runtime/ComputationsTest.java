package dev.zmtp.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.netty.util.DefaultAttributeMap;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ComputationsTest {

    private final DefaultAttributeMap channel = new DefaultAttributeMap();

    @Test
    void aComputationCountsUntilItHasRun() {
        List<Runnable> queue = new ArrayList<>();
        Computations.counted(channel, queue::add).execute(() -> {});
        assertThat(Computations.areFor(channel)).isTrue();

        queue.get(0).run();

        assertThat(Computations.areFor(channel)).isFalse();
    }

    @Test
    void aComputationThatFailsInTheCallerCountsNoMore() {
        List<Runnable> queue = new ArrayList<>();
        AtomicBoolean isFull = new AtomicBoolean();
        Executor counted = Computations.counted(channel, task -> {
            if (isFull.get()) {
                task.run();
            } else {
                queue.add(task);
            }
        });
        counted.execute(() -> {});
        isFull.set(true);

        assertThatIllegalStateException()
                .isThrownBy(() -> counted.execute(() -> {
                    throw new IllegalStateException("of the test");
                }));

        assertThat(Computations.areFor(channel)).as("the first").isTrue();
        queue.get(0).run();
        assertThat(Computations.areFor(channel)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(classes = {RejectedExecutionException.class, OutOfMemoryError.class})
    void aComputationThatIsNotTakenDoesNotCount(Class<? extends Throwable> refusal) {
        Executor counted = Computations.counted(channel, task -> {
            if (refusal == OutOfMemoryError.class) {
                throw new OutOfMemoryError("of the test");
            }
            throw new RejectedExecutionException("of the test");
        });

        assertThatExceptionOfType(Throwable.class)
                .isThrownBy(() -> counted.execute(() -> {}))
                .isInstanceOf(refusal);
        assertThat(Computations.areFor(channel)).isFalse();
    }
}
