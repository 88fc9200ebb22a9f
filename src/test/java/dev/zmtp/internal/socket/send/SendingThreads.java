package dev.zmtp.internal.socket.send;

import static dev.zmtp.testing.TestSockets.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.socket.ZMTPSocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Threads that call a socket, and may wait for it. */
final class SendingThreads {

    private final List<Thread> threads = new ArrayList<>();

    /** Ends the threads. */
    void end() throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
    }

    void interruptFirst() {
        threads.get(0).interrupt();
    }

    interface Call {
        void run() throws InterruptedException;
    }

    /** Calls on a thread of its own, and completes with what it throws, or with null. */
    CompletableFuture<Throwable> begin(Call call) {
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                call.run();
                ended.complete(null);
            } catch (Throwable e) {
                ended.complete(e);
            }
        });
        threads.add(thread);
        thread.start();
        return ended;
    }

    /** As {@link #begin}, and waits until the thread does. */
    CompletableFuture<Throwable> waiting(Call call) {
        CompletableFuture<Throwable> ended = begin(call);
        Thread thread = threads.get(threads.size() - 1);
        await("it waits", () -> thread.getState() == Thread.State.WAITING || ended.isDone());
        assertThat(ended).as("the result of a call that waits").isNotDone();
        return ended;
    }

    static void assertReason(Throwable thrown, ZMTPSocketException.Reason reason) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        ZMTPSocketException.class, e -> assertThat(e.reason()).isEqualTo(reason));
    }

    static void assertFails(ZMTPSocketException.Reason reason, Call call) {
        assertThatThrownBy(call::run).satisfies(thrown -> assertReason(thrown, reason));
    }
}
