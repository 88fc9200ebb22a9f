package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that wait for a socket and are interrupted: the socket stays as it is, and so do its messages. */
class InterruptTest {

    /** Enough for an interrupt to come at each moment of a receive. */
    private static final int ROUNDS = 2_000;

    /** T53. */
    @Tag("T53")
    @Test
    void aThreadThatWaitsForAMessageCanBeInterrupted(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        CompletableFuture<String> ended = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                ended.complete("received " + frames(pull.receive(TestSockets.PATIENCE)));
            } catch (InterruptedException e) {
                ended.complete("interrupted");
            }
        });
        thread.start();
        await("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING);

        thread.interrupt();

        assertThat(get(ended)).isEqualTo("interrupted");
        thread.join();
        push.sendOrDrop(message("next"));
        assertThat(receive(pull)).containsExactly("next");
    }

    /** T53. */
    @Tag("T53")
    @Test
    void anInterruptInTheMomentOfAMessageLosesNone(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "inproc://interrupted"));
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        AtomicInteger interrupts = new AtomicInteger();
        Thread thread = new Thread(() -> {
            for (int taken = 0; taken < ROUNDS; ) {
                try {
                    received.addAll(frames(pull.receive(TestSockets.PATIENCE)));
                    taken++;
                } catch (InterruptedException e) {
                    interrupts.getAndIncrement();
                }
            }
        });
        thread.start();

        for (int i = 0; i < ROUNDS; i++) {
            push.sendOrDrop(message(String.valueOf(i)));
            thread.interrupt();

            assertThat(received.poll(TestSockets.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(String.valueOf(i));
        }

        thread.join(TestSockets.PATIENCE.toMillis());
        assertThat(interrupts).as("some were in time").hasPositiveValue();
    }

    @Test
    void aThreadThatWaitsToSendCanBeInterruptedAndItsMessageIsReleased(TestSockets sockets)
            throws InterruptedException {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPMessage late = message("late");
        CompletableFuture<String> ended = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                push.send(late);
                ended.complete("sent");
            } catch (InterruptedException e) {
                ended.complete("interrupted");
            }
        });
        thread.start();
        await("it waits", () -> thread.getState() == Thread.State.WAITING);

        thread.interrupt();

        assertThat(get(ended)).isEqualTo("interrupted");
        thread.join();
        assertThat(late.refCnt()).isZero();
        await("nothing waits", () -> push.stats().queued() == 0);
        ZMTPSocket pull = sockets.open(PULL);
        push.connect(bind(pull, "tcp://127.0.0.1:*"));
        push.sendOrDrop(message("next"));
        assertThat(receive(pull)).containsExactly("next");
    }

    @Test
    void anInterruptedThreadTakesNoMessage(TestSockets sockets) throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, "inproc://interrupted"));
        push.sendOrDrop(message("waits"));
        await("it has arrived", () -> pull.stats().received() == 1);

        for (ThrowingCallable receive : new ThrowingCallable[] {pull::receive, pull::receiveFrom, rep::receive}) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(receive).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
        }

        assertThat(receive(pull)).containsExactly("waits");
    }
}
