package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("netty-4.2-only")
class LeftoversTest {

    private final Violations violations = new Violations(new PrintWriter(new StringWriter()), 1);

    @Test
    void aTimerInAnEventLoopIsNoticed() throws InterruptedException {
        WatchedLoops loops = new WatchedLoops("test", 1);
        ScheduledFuture<?> timer = loops.schedule(() -> {}, 1, TimeUnit.HOURS);

        assertThat(loops.leftovers(Duration.ZERO)).containsExactly("test: timers ");

        timer.cancel(false);
        assertThat(loops.leftovers(Round.PATIENCE)).isEmpty();
        assertThat(loops.end()).isTrue();
    }

    @Test
    void aTaskInAnEventLoopIsNoticed() throws InterruptedException {
        WatchedLoops loops = new WatchedLoops("test", 1);
        CountDownLatch again = new CountDownLatch(1);
        Runnable forever = new Runnable() {
            @Override
            public void run() {
                if (again.getCount() > 0) {
                    loops.execute(this);
                }
            }
        };
        loops.execute(forever);

        assertThat(loops.leftovers(Duration.ZERO)).containsExactly("test: 1 tasks ");

        again.countDown();
        assertThat(loops.leftovers(Round.PATIENCE)).isEmpty();
        assertThat(loops.end()).isTrue();
    }

    @Test
    void aChannelInAnEventLoopIsNoticed() throws InterruptedException {
        WatchedLoops loops = new WatchedLoops("test", 1);
        NioSocketChannel channel = new NioSocketChannel();
        loops.register(channel).sync();

        assertThat(loops.leftovers(Duration.ZERO)).containsExactly("test: 1 channels ");

        channel.close().sync();
        assertThat(loops.leftovers(Round.PATIENCE)).isEmpty();
        assertThat(loops.end()).isTrue();
    }

    @Test
    void aRunningThreadIsNoticed() throws InterruptedException {
        Leftovers leftovers = new Leftovers();
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "the one that goes on");
        thread.start();
        leftovers.look(violations, Duration.ZERO);

        assertThat(violations.found()).singleElement().asString().contains("the one that goes on");
        end.countDown();
        thread.join();
    }

    @Test
    void anUnreleasedBufferIsNoticed() throws InterruptedException {
        Leftovers leftovers = new Leftovers();
        // Not released on purpose: the detector forgets what it has reported, and would miss the next one.
        new UnpooledByteBufAllocator(true).directBuffer(1);
        leftovers.look(violations, Duration.ZERO);

        assertThat(violations.found()).singleElement().asString().startsWith("buffers: Possible memory leak");
    }

    @Test
    void nothingLeftMeansNothingNoticed() throws InterruptedException {
        new Leftovers().look(violations, Round.PATIENCE);

        assertThat(violations.found()).isEmpty();
    }
}
