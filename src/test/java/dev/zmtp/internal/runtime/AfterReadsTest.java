package dev.zmtp.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.Turns;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AfterReadsTest {

    private static final int MANY = 10_000;

    private final AtomicInteger done = new AtomicInteger();

    /** Passes many elements on the event loop, and returns the maximum number in a turn. */
    private long mostOfMany(EventLoop loop) {
        CompletableFuture<Turns> turns = new CompletableFuture<>();
        loop.execute(() -> {
            turns.complete(Turns.of(loop, done::get));
            AfterReads.forEach(loop, IntStream.range(0, MANY).iterator(), number -> {
                assertThat(number).isEqualTo(done.get());
                done.incrementAndGet();
            });
        });
        TestSockets.await("all", () -> done.get() == MANY);
        loop.submit(() -> {}).syncUninterruptibly(); // the turn of the last has been seen
        loop.submit(() -> {}).syncUninterruptibly();
        return TestSockets.get(turns).most();
    }

    @Test
    void manyElementsTakeSeveralTurns() {
        try (EventLoops loops = new EventLoops(1)) {
            assertThat(mostOfMany(loops.group().next())).isLessThanOrEqualTo(LoopBudget.MESSAGES);
        }
    }

    @Test
    void manyElementsTakeSeveralTurnsWithoutReads() {
        DefaultEventLoop loop = new DefaultEventLoop();
        try {
            assertThat(mostOfMany(loop)).isLessThanOrEqualTo(LoopBudget.MESSAGES);
        } finally {
            loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
    }

    @Test
    void allElementsArePassedAfterTheEnd() {
        DefaultEventLoop loop = new DefaultEventLoop();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();

        AfterReads.forEach(loop, IntStream.range(0, MANY).iterator(), number -> done.incrementAndGet());

        assertThat(done).hasValue(MANY);
    }
}
