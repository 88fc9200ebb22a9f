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

    /** T54. */
    @Tag("T54")
    @Test
    void theyAreNeverPinned() throws Exception {
        Path recorded = dir.resolve("pinned.jfr");
        try (TestSockets sockets = new TestSockets();
                Recording recording = new Recording()) {
            ZMTPSocket rep = sockets.open(REP);
            rep.serve(request -> request.reply(request.message()));
            ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendQueueLimit(THREADS, 1 << 20));
            connect(dealer, bind(rep, "tcp://127.0.0.1:*"));
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = sockets.open(sockets.builder(PUSH).maxWaitingSends(THREADS));
            connect(push, bind(pull, "inproc://virtual"));
            converse(pull, push, dealer, 50); // loads the classes, which pins
            recording
                    .enable("jdk.VirtualThreadPinned")
                    .withThreshold(Duration.ZERO)
                    .withStackTrace();
            recording.start();

            converse(pull, push, dealer, THREADS);

            recording.stop();
            recording.dump(recorded);
        }
        assertThat(RecordingFile.readAllEvents(recorded))
                .filteredOn(VirtualThreadsTest::isOurs)
                .isEmpty();
    }

    private static boolean isOurs(RecordedEvent pinned) {
        RecordedStackTrace stack = pinned.getStackTrace();
        return stack != null
                && !waitsForAClass(pinned)
                && stack.getFrames().stream()
                        .map(frame -> frame.getMethod().getType().getName())
                        .anyMatch(type -> type.startsWith("dev.zmtp.") && !type.contains("Test"))
                && stack.getFrames().stream()
                        .noneMatch(frame -> frame.getMethod().getName().equals("loadClass"));
    }

    /** Whether a class was initialized for the first time, which a busy machine can put off until here. */
    private static boolean waitsForAClass(RecordedEvent pinned) {
        return pinned.hasField("pinnedReason")
                && String.valueOf(pinned.getString("pinnedReason")).startsWith("Waited for initialization of ");
    }
}
