package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler that blocks its event loop is reported. */
class HandlerWatchTest {

    private final CapturedLog captured = new CapturedLog("dev.zmtp.socket.HandlerWatch");
    private final EmbeddedChannel time = new EmbeddedChannel();
    private final HandlerWatch watch = new HandlerWatch(DEALER, time.eventLoop());

    @AfterEach
    void close() {
        captured.close();
        time.finishAndReleaseAll();
    }

    private void seconds(int count) {
        for (int i = 0; i < count; i++) {
            time.advanceTimeBy(1, TimeUnit.SECONDS);
            time.runScheduledPendingTasks();
        }
    }

    private List<LogRecord> said(Level level) {
        return captured.records.stream()
                .filter(line -> line.getLevel().equals(level))
                .toList();
    }

    private boolean isWatching() {
        return time.runScheduledPendingTasks() >= 0;
    }

    @Test
    void aHandlerThatBlocksIsReportedOnceWithItsStack() {
        watch.entered();

        seconds(5);

        assertThat(said(Level.WARNING)).singleElement().satisfies(line -> {
            assertThat(line.getMessage()).startsWith("A handler of messages of a DEALER has kept its event loop");
            assertThat(line.getThrown().getStackTrace())
                    .anySatisfy(frame -> assertThat(frame.getMethodName())
                            .isEqualTo("aHandlerThatBlocksIsReportedOnceWithItsStack"));
        });
    }

    @Test
    void theNextHandlerThatBlocksIsReportedAtDebug() {
        watch.entered();
        seconds(2);
        watch.left();
        watch.entered();

        seconds(2);

        assertThat(said(Level.WARNING)).hasSize(1);
        assertThat(said(Level.FINE)).hasSize(1);
    }

    @Test
    void handlersThatAreBusyWithShortCallsAreNotReported() {
        for (int i = 0; i < 5; i++) {
            watch.entered();
            seconds(1);
            watch.left();
        }

        assertThat(captured.records).isEmpty();
    }

    @Test
    void nobodyLooksWhenNothingArrivesAndSomebodyDoesWhenItArrivesAgain() {
        watch.entered();
        watch.left();
        seconds(2);
        assertThat(isWatching()).isFalse();

        watch.entered();
        seconds(2);

        assertThat(said(Level.WARNING)).hasSize(1);
    }

    @Test
    void eachEventLoopIsWatchedByTheNextOneOfItsGroup() {
        try (EventLoops loops = new EventLoops(3)) {
            List<EventLoop> all = new ArrayList<>();
            loops.group().forEach(loop -> all.add((EventLoop) loop));

            assertThat(all.stream().map(HandlerWatch::neighbor)).containsExactly(all.get(1), all.get(2), all.get(0));
        }
    }

    @Test
    void anEventLoopThatIsAloneIsNotWatched() {
        try (EventLoops loops = new EventLoops(1)) {
            assertThat(HandlerWatch.neighbor(loops.group().next())).isNull();
        }
        assertThat(HandlerWatch.neighbor(time.eventLoop())).isNull();
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
