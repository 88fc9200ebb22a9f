package dev.zmtp.large;

import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.interop.LibZmqWorker;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * PULLs of libzmq that work slowly, so that their kernel makes room in steps of minutes, and no PING is answered for as
 * long.
 */
@Tag("slow")
@Tag("large")
class SlowWorkerIT {

    private static final Duration WORK = Duration.ofMillis(15);
    private static final Duration TIME = Size.of(Duration.ofSeconds(15), Duration.ofMinutes(3));

    /** Jobs that take far longer than an interval and a timeout. */
    private static final int BACKLOG = Size.of(1_000, 8_000);

    /** The time between two looks whether there is room for more jobs. */
    private static final int PAUSE_MILLIS = 20;

    private static ZMTPSocketConfig.Builder push(TestSockets sockets) {
        ZMTPSocketConfig.Builder defaults = sockets.builder(PUSH);
        ZMTPSocketConfig.Builder hasty = sockets.builder(PUSH)
                .codec(codec -> codec.heartbeatInterval(Duration.ofSeconds(2)).heartbeatTimeout(Duration.ofSeconds(3)));
        return Size.of(hasty, defaults);
    }

    /** A PUSH with its worker, which never has more than so many jobs before it. */
    private static final class Feed implements AutoCloseable {
        final List<String> sent = new ArrayList<>();
        final List<String> done = Collections.synchronizedList(new ArrayList<>());
        final TestSockets.Events events;
        final LibZmqWorker worker;
        private final ZMTPSocket push;
        private final int backlog;

        Feed(TestSockets sockets, int backlog) {
            this.backlog = backlog;
            push = sockets.open(push(sockets));
            events = TestSockets.events(push);
            worker = new LibZmqWorker(bind(push, "tcp://127.0.0.1:*"), WORK, done::add);
            get(push.whenPeers(1));
        }

        void fill() {
            while (sent.size() - done.size() < backlog) {
                String job = "job %096d".formatted(sent.size());
                ZMTPMessage message = message(job);
                if (!push.trySend(message)) {
                    message.release();
                    return;
                }
                sent.add(job);
            }
        }

        void assertIsBehind() {
            assertThat(done.size()).as("jobs that were done slowly").isLessThan(sent.size());
        }

        void assertNothingWasLost() {
            assertThat(events.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
            worker.hurry();
            while (done.size() < sent.size()) { // a busy machine can take long for all of them
                int before = done.size();
                await("another job is done", () -> done.size() > before);
            }
            assertThat(done).isEqualTo(sent);
            assertThat(events.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
        }

        @Override
        public void close() {
            worker.close();
        }
    }

    /**
     * Of two workers, one has as many jobs before it as TCP takes, so that a PING waits on our side. The other has
     * fewer jobs, and then the PING.
     */
    @Test
    void slowWorkersOfLibzmqAreNotCutOff(TestSockets sockets) throws InterruptedException {
        long start = System.nanoTime();
        try (Feed full = new Feed(sockets, Integer.MAX_VALUE);
                Feed busy = new Feed(sockets, BACKLOG)) {
            while (System.nanoTime() - start < TIME.toNanos()) {
                full.fill();
                busy.fill();
                Thread.sleep(PAUSE_MILLIS);
            }

            full.assertIsBehind();
            busy.assertIsBehind();
            full.assertNothingWasLost();
            busy.assertNothingWasLost();
            Size.report(
                    start,
                    "%,d and %,d jobs done by slow workers of libzmq, at %d ms a job and then at once"
                            .formatted(full.sent.size(), busy.sent.size(), WORK.toMillis()));
        }
    }
}
