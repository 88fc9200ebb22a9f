package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler that blocks its event loop is reported. */
class LoopWatchTest {

    private final CapturedLog captured = new CapturedLog("dev.zmtp.socket.LoopWatch");
    private final EmbeddedChannel watcher = new EmbeddedChannel();
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final LoopWatch watch = new LoopWatch(loop.eventLoop(), watcher.eventLoop());

    @AfterEach
    void close() {
        captured.close();
        loop.finishAndReleaseAll();
        watcher.finishAndReleaseAll();
    }

    private void looks(int count) {
        for (int i = 0; i < count; i++) {
            watcher.advanceTimeBy(500, TimeUnit.MILLISECONDS);
            watcher.runScheduledPendingTasks();
        }
    }

    private List<LogRecord> said(Level level) {
        return captured.records.stream()
                .filter(line -> line.getLevel().equals(level))
                .toList();
    }

    @Test
    void aTaskThatBlocksIsReportedOnceWithItsStack() {
        watch.begin();

        looks(6);

        assertThat(said(Level.WARNING)).singleElement().satisfies(line -> {
            assertThat(line.getMessage()).startsWith("A task has blocked its event loop for more than 1 s.");
            assertThat(line.getThrown().getStackTrace())
                    .anySatisfy(frame ->
                            assertThat(frame.getMethodName()).isEqualTo("aTaskThatBlocksIsReportedOnceWithItsStack"));
        });
    }

    /** The process has as many threads as it may have. */
    @Test
    void aHandlerGetsItsMessagesAlthoughNoThreadCanWatchIt() {
        LoopWatch unwatched = new LoopWatch(loop.eventLoop(), new DefaultEventExecutor((ThreadFactory) task -> {
            throw new OutOfMemoryError("unable to create native thread");
        }));

        assertThatCode(unwatched::begin).doesNotThrowAnyException();
    }

    @Test
    void theNextTaskThatBlocksIsReportedAtDebug() {
        watch.begin();
        looks(3);
        loop.runPendingTasks();

        looks(3);

        assertThat(said(Level.WARNING)).hasSize(1);
        assertThat(said(Level.FINE)).hasSize(1);
    }

    /** As after a pause of the process, when the watcher happens to look first. */
    @Test
    void aLoopThatAnswersALittleLateIsNotReported() {
        watch.begin();
        for (int i = 0; i < 5; i++) {
            looks(2);
            loop.runPendingTasks();
        }

        assertThat(captured.records).isEmpty();
    }

    @Test
    void aLoopThatHasNoMoreHandlersIsNotWatched() throws InterruptedException {
        try (EventLoops loops = new EventLoops(2)) {
            EventLoop watched = loops.group().next();
            List<ZMTPRegistration> handlers = new ArrayList<>();
            watched.submit(() -> {
                        handlers.add(LoopWatch.watch(watched));
                        handlers.add(LoopWatch.watch(watched));
                    })
                    .sync();
            assertThat(LoopWatch.isWatched(watched)).isTrue();

            handlers.get(0).close();
            handlers.get(0).close();
            assertThat(LoopWatch.isWatched(watched)).isTrue();

            handlers.get(1).close();
            assertThat(LoopWatch.isWatched(watched)).isFalse();
        }
    }

    @Test
    void eachEventLoopIsWatchedByTheNextOneOfItsGroup() {
        try (EventLoops loops = new EventLoops(3)) {
            List<EventLoop> all = new ArrayList<>();
            loops.group().forEach(loop -> all.add((EventLoop) loop));

            assertThat(all.stream().map(LoopWatch::neighbor)).containsExactly(all.get(1), all.get(2), all.get(0));
        }
    }

    @Test
    void anEventLoopThatIsAloneIsNotWatched() {
        try (EventLoops loops = new EventLoops(1)) {
            assertThat(LoopWatch.neighbor(loops.group().next())).isNull();
        }
        assertThat(LoopWatch.neighbor(loop.eventLoop())).isNull();
    }

    @Test
    void aSocketSaysThatItsHandlerBlocks() {
        CountDownLatch end = new CountDownLatch(1);
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            pull.onMessage((peer, message) -> {
                message.release();
                spinUntilZero(end);
            });
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, bind(pull, "inproc://blocks"));
            push.sendOrDrop(message("work"));
            try {
                await("a warning", () -> said(Level.WARNING).size() == 1);
            } finally {
                end.countDown();
            }
        }
        assertThat(said(Level.WARNING).get(0).getThrown().getStackTrace())
                .anySatisfy(frame -> assertThat(frame.getMethodName()).isEqualTo("spinUntilZero"));
    }

    /** Not a call that blocks, nor a hint that one may: the check for those would end it. */
    private static void spinUntilZero(CountDownLatch latch) {
        long left = latch.getCount();
        while (left > 0) {
            left = latch.getCount();
        }
    }
}
