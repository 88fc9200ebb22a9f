package dev.zmtp.internal.socket.send;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.QueuedMessage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** The sends that have found no room and wait for it, the first one first. */
final class WaitingSends {

    private final SocketContext context;
    private final BooleanSupplier sendsWait;
    private final Runnable capacityFreed;
    private final Runnable missed;

    /** How many wait, those included that are on their way to the event loop. */
    private final AtomicInteger size = new AtomicInteger();

    // On the event loop
    private final Deque<QueuedMessage> waiting = new ArrayDeque<>(0);
    private boolean failed;

    /** @param capacityFreed called on the event loop when a send of another thread has joined: there may be room now */
    WaitingSends(SocketContext context, BooleanSupplier sendsWait, Runnable capacityFreed, Runnable missed) {
        this.context = context;
        this.sendsWait = sendsWait;
        this.capacityFreed = capacityFreed;
        this.missed = missed;
    }

    /** Whether a message may be taken if there is room for it: no send waits, the socket is open. From any thread. */
    boolean isOpen() {
        return !context.isClosed() && size.get() == 0;
    }

    /** Whether no send waits. From any thread. */
    boolean isEmpty() {
        return size.get() == 0;
    }

    /** From any thread. */
    int size() {
        return size.get();
    }

    /**
     * Takes the message over, which fails if it may not wait. From any thread.
     *
     * @param most maximum number of sends that may wait, this one included
     */
    void join(QueuedMessage outgoing, int most) {
        if (!sendsWait.getAsBoolean()) {
            refuse(outgoing, "the queue is full");
        } else if (size.incrementAndGet() > most) {
            size.decrementAndGet();
            refuse(outgoing, "as many sends wait as may: " + most);
        } else if (context.inEventLoop()) {
            waiting.add(outgoing);
        } else if (!context.tryExecute(() -> arrive(outgoing))) {
            size.decrementAndGet();
            dropClosed(outgoing);
        }
    }

    private void refuse(QueuedMessage outgoing, String why) {
        context.tally().dropped();
        outgoing.fail(context.completions(), FULL, why);
        missed.run();
    }

    private void arrive(QueuedMessage outgoing) {
        if (failed) { // after it was sent
            size.decrementAndGet();
            dropClosed(outgoing);
        } else {
            waiting.add(outgoing);
            capacityFreed.run();
        }
    }

    /** Drops a message as the socket is closed. From any thread. */
    void dropClosed(QueuedMessage outgoing) {
        context.tally().dropped();
        outgoing.fail(context.completions(), CLOSED, "the socket is closed");
    }

    // On the event loop

    boolean hasNext() {
        return !waiting.isEmpty();
    }

    /** Returns the first one, which the caller {@linkplain #giveBack gives back}, or reports as {@link #left}. */
    QueuedMessage next() {
        return waiting.remove();
    }

    void giveBack(QueuedMessage first) {
        waiting.addFirst(first);
    }

    /** The one that {@link #next} has returned was sent. */
    void left() {
        size.decrementAndGet();
    }

    /** Fails all that wait, and those that come. */
    void failAll() {
        failed = true;
        for (QueuedMessage next = waiting.poll(); next != null; next = waiting.poll()) {
            size.decrementAndGet();
            dropClosed(next);
        }
    }
}
