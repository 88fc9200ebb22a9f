package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Virtual threads that wait for sockets: they leave their carriers to others. */
@Tag("java>=21")
class VirtualThreadsTest {

    /** As many wait at the same time as the queue has room for. */
    private static final int THREADS = 2_000;

    @TempDir
    Path dir;

    /** There is no {@code Thread.startVirtualThread} in Java 17, for which this is compiled. */
    private static void startVirtual(Runnable task) {
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("of Java 21", e);
        }
    }

    private interface Task {
        void run() throws Exception;
    }

    private static void inVirtualThreads(int threads, CountDownLatch ended, Queue<Throwable> failures, Task task) {
        for (int i = 0; i < threads; i++) {
            startVirtual(() -> {
                try {
                    task.run();
                } catch (Throwable e) {
                    failures.add(e);
                } finally {
                    ended.countDown();
                }
            });
        }
    }

    private static void converse(ZMTPSocket pull, ZMTPSocket push, ZMTPSocket dealer, int threads)
            throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(2 * threads);
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        inVirtualThreads(threads, ended, failures, () -> frames(pull.receive(TestSockets.PATIENCE)));
        inVirtualThreads(threads, ended, failures, () -> {
            push.send(message("m"));
            frames(get(dealer.requestAsync(message("?"), TestSockets.PATIENCE)));
        });
        assertThat(ended.await(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as("all have ended")
                .isTrue();
        assertThat(failures).isEmpty();
    }

    /** T54. A class that is loaded or initialized pins the threads that wait for it, but only once. */
    @Tag("T54")
    @Test
    void theyAreNeverPinned() throws Exception {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket rep = sockets.open(REP);
            rep.serve(request -> request.reply(request.message()));
            ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendQueueLimit(THREADS, 1 << 20));
            connect(dealer, bind(rep, "tcp://127.0.0.1:*"));
            ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(1, 1 << 20));
            ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(1, 1 << 20));
            connect(push, bind(pull, "inproc://virtual"));
            converse(pull, push, dealer, 50);
            List<RecordedEvent> pinned;
            int recordings = 0;
            do {
                pinned = pinnedIn(pull, push, dealer);
                recordings++;
            } while (!pinned.isEmpty() && recordings < 3);
            assertThat(pinned).isEmpty();
        }
    }

    private List<RecordedEvent> pinnedIn(ZMTPSocket pull, ZMTPSocket push, ZMTPSocket dealer) throws Exception {
        Path recorded = dir.resolve("pinned.jfr");
        try (Recording recording = new Recording()) {
            recording
                    .enable("jdk.VirtualThreadPinned")
                    .withThreshold(Duration.ZERO)
                    .withStackTrace();
            recording.start();

            converse(pull, push, dealer, THREADS);

            recording.stop();
            recording.dump(recorded);
        }
        return RecordingFile.readAllEvents(recorded).stream()
                .filter(VirtualThreadsTest::isOurs)
                .toList();
    }

    private static boolean isOurs(RecordedEvent pinned) {
        RecordedStackTrace stack = pinned.getStackTrace();
        return stack != null
                && stack.getFrames().stream()
                        .map(frame -> frame.getMethod().getType().getName())
                        .anyMatch(type -> type.startsWith("dev.zmtp.") && !type.contains("Test"));
    }
}
