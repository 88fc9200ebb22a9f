package dev.zmtp.internal.socket.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.Listening;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Executors that do not do what they were given, or late. */
class SocketEventsTest {

    private static final ZMTPSocketEvent ONE = new Listening("tcp://127.0.0.1:1");
    private static final ZMTPSocketEvent TWO = new Listening("tcp://127.0.0.1:2");

    private final List<ZMTPSocketEvent> heard = new ArrayList<>();
    private long now;
    private final SocketEvents events = new SocketEvents(() -> now);

    private void listen(Executor executor) {
        events.listen(executor, heard::add);
    }

    @Test
    void anExecutorThatHasDiscardedATaskGetsAnotherAfterASecond() {
        List<Runnable> discarded = new ArrayList<>();
        listen(task -> {
            if (discarded.isEmpty()) {
                discarded.add(task);
            } else {
                task.run();
            }
        });
        events.fire(ONE);
        now += TimeUnit.SECONDS.toNanos(1) - 1;
        events.fire(TWO);
        assertThat(heard).isEmpty();

        now++;
        events.fire(ONE);

        assertThat(heard).containsExactly(ONE, TWO, ONE);
    }

    @Test
    void aTaskThatWasOnlyLateReportsNothingTwice() {
        List<Runnable> late = new ArrayList<>();
        listen(late::add);
        events.fire(ONE);
        now += TimeUnit.SECONDS.toNanos(1);
        events.fire(TWO);
        assertThat(late).hasSize(2);

        late.forEach(Runnable::run);

        assertThat(heard).containsExactly(ONE, TWO);
    }

    /** Two threads have a task each, and the listener is not called by both. */
    @Test
    void aTaskThatBeginsWhileAnotherRunsLeavesTheEventsToThatOne() {
        List<Runnable> tasks = new ArrayList<>();
        List<ZMTPSocketEvent> order = new ArrayList<>();
        events.listen(tasks::add, event -> {
            if (tasks.size() == 2) {
                tasks.remove(1).run(); // as another thread would
            }
            order.add(event);
        });
        events.fire(ONE);
        now += TimeUnit.SECONDS.toNanos(1);
        events.fire(TWO);

        tasks.get(0).run();

        assertThat(order).containsExactly(ONE, TWO);
    }
}
