package dev.zmtp.internal.socket.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When what was written to many connections is flushed. */
class PendingFlushesTest {

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final SocketContext context = ClockedSockets.context(
            ZMTPSocketConfig.builder(ZMTPSocketType.PUB)
                    .codec(codec -> codec.memoryBudget(ZMTPMemoryBudget.of(1 << 20)))
                    .build(),
            clock.eventLoop(),
            () -> 1);
    private final PendingFlushes flushes = context.flushes();
    private final List<String> calls = new ArrayList<>();

    private final class Recorded implements PendingFlushes.Writes {
        private final String name;
        private Runnable whenFlushed = () -> {};

        private Recorded(String name) {
            this.name = name;
        }

        @Override
        public void flush() {
            calls.add("flush " + name);
            whenFlushed.run();
        }

        @Override
        public void complete() {
            calls.add("complete " + name);
            whenFlushed.run();
        }
    }

    @AfterEach
    void close() {
        clock.finishAndReleaseAll();
    }

    @Test
    void allAreFlushedInOneTaskInTheirOrder() {
        flushes.add(new Recorded("a"));
        flushes.add(new Recorded("b"));
        assertThat(calls).isEmpty();

        clock.runPendingTasks();

        assertThat(calls).containsExactly("complete a", "complete b");
    }

    @Test
    void whatIsWrittenDuringTheTaskIsForTheNextOne() {
        Recorded first = new Recorded("a");
        first.whenFlushed = () -> flushes.add(new Recorded("b"));
        flushes.add(first);

        flushes.run();
        assertThat(calls).containsExactly("complete a");

        clock.runPendingTasks();
        assertThat(calls).containsExactly("complete a", "complete b");
    }

    @Test
    void allAreFlushedAtOnceWhenTheyHaveMuchTogether() {
        flushes.add(new Recorded("a"));
        flushes.add(new Recorded("b"));
        flushes.written(PendingFlushes.LEAST_BYTES);
        assertThat(calls).isEmpty();

        flushes.written(1);
        assertThat(calls).containsExactly("flush a", "flush b");

        flushes.written(PendingFlushes.LEAST_BYTES);
        assertThat(calls).hasSize(2);
    }

    @Test
    void aFlushThatLeadsToWritesDoesNotNest() {
        Recorded first = new Recorded("a");
        first.whenFlushed = () -> flushes.written(PendingFlushes.LEAST_BYTES + 1);
        flushes.add(first);

        flushes.written(PendingFlushes.LEAST_BYTES + 1);

        assertThat(calls).containsExactly("flush a");
    }

    @Test
    void aTaskThatHasWrittenMuchIsLongUntilTheNextOne() {
        flushes.add(new Recorded("a"));
        flushes.written(PendingFlushes.LEAST_BYTES);
        assertThat(flushes.isTaskLong()).isFalse();
        flushes.written(1);
        assertThat(flushes.isTaskLong()).isTrue();

        clock.runPendingTasks();

        assertThat(flushes.isTaskLong()).isFalse();
    }

    @Test
    void theTaskEndsTheCountOfBytes() {
        flushes.add(new Recorded("a"));
        flushes.written(PendingFlushes.LEAST_BYTES);
        clock.runPendingTasks();
        calls.clear();

        flushes.add(new Recorded("b"));
        flushes.written(1);

        assertThat(calls).isEmpty();
    }

    /** More than complete at once: those who wait for them send the next messages together. */
    @Test
    void theResultsOfAllCompleteInTheSameTask() {
        List<CompletableFuture<Void>> results =
                Stream.generate(CompletableFuture<Void>::new).limit(500).toList();
        Recorded first = new Recorded("a");
        first.whenFlushed = () -> results.forEach(context.completions()::succeed);
        flushes.add(first);

        flushes.run();

        assertThat(results).allMatch(CompletableFuture::isDone);
    }
}
