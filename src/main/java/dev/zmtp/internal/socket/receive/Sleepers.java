package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Waiting;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The threads waiting for a message of an {@link Inbox}. Each takes messages from its queues, and wakes the next thread
 * if messages remain there. Guarded by the lock of the inbox.
 */
final class Sleepers {

    private final SocketContext context;
    private final Inbox inbox;
    private final InboundQueues queues;
    private final ReentrantLock lock;
    private final Condition woken;

    /** Number of threads that are about to receive, asleep or not. */
    private int threads;

    private int asleep;

    Sleepers(SocketContext context, Inbox inbox, InboundQueues queues, ReentrantLock lock) {
        this.context = context;
        this.inbox = inbox;
        this.queues = queues;
        this.lock = lock;
        this.woken = lock.newCondition();
    }

    /** Returns whether any thread is about to receive. */
    boolean areThere() {
        return threads > 0;
    }

    boolean areAsleep() {
        return asleep > 0;
    }

    /** Wakes a thread if there is a message for it. Futures come first. */
    void wakeForNext() {
        if (asleep > 0 && !queues.line().isEmpty() && !inbox.hasTakers()) {
            woken.signal();
        }
    }

    void wakeAll() {
        woken.signalAll();
    }

    /** Like {@link Inbox#await}. Without the lock. */
    @Nullable
    ZMTPMessage await(long nanos) throws InterruptedException {
        Waiting.checkInterrupt();
        Peer from;
        int occupant;
        ZMTPMessage message;
        long left = nanos;
        lock.lock();
        threads++;
        try {
            while (true) {
                ZMTPSocketException failure = inbox.refusal();
                from = failure == null && !inbox.hasTakers() ? queues.line().poll() : null;
                occupant = from == null ? 0 : from.occupant();
                message = from == null ? null : queues.next(from);
                if (from != null && message != null) {
                    break;
                } else if (failure != null) {
                    throw failure.withStackTrace();
                } else if (left <= 0) {
                    return null;
                }
                left = sleep(left);
            }
            wakeForNext();
        } finally {
            threads--;
            lock.unlock();
        }
        ZMTPMessage named = Names.added(context, from, occupant, message);
        if (named == null) {
            queues.discard(from, message);
            return await(left);
        }
        return named;
    }

    /** Waits until a message might have arrived, and returns the remaining time. */
    @SuppressWarnings("WaitNotInLoop") // the caller has a loop
    private long sleep(long nanos) throws InterruptedException {
        asleep++;
        boolean interrupted = true;
        try {
            long left = nanos;
            if (nanos == Long.MAX_VALUE) {
                woken.await();
            } else {
                left = woken.awaitNanos(nanos);
            }
            Waiting.checkInterrupt(); // a thread that was woken first is only marked as interrupted
            interrupted = false;
            return left;
        } finally {
            asleep--;
            if (interrupted) { // a message that this thread was woken for is for the next
                wakeForNext();
            }
        }
    }
}
