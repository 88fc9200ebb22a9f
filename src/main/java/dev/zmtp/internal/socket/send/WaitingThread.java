package dev.zmtp.internal.socket.send;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** The thread of a sender that waits for room. The event loop takes the room on its behalf. */
final class WaitingThread {

    enum State {
        WAITS,
        /** The thread owns the room. */
        HAS_ROOM,
        CLOSED,
        PEER_LEFT,
        NO_MEMORY,
        /** The wait took too long, or the thread was interrupted. */
        GAVE_UP
    }

    private final Thread thread = Thread.currentThread();
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITS);

    /** Ends the wait. Returns false if the thread has stopped waiting. From any thread. */
    boolean end(State outcome) {
        boolean waited = state.compareAndSet(State.WAITS, outcome);
        if (waited) {
            LockSupport.unpark(thread);
        }
        return waited;
    }

    State state() {
        return Objects.requireNonNull(state.get());
    }

    boolean waits() {
        return state.get() == State.WAITS;
    }

    /**
     * Waits for the end, for at most this time. If there is room when an interrupt arrives, the interrupt is left to
     * the next call that waits.
     *
     * @param nanos {@code Long.MAX_VALUE} for no limit
     */
    State await(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        while (waits()) {
            if (nanos == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    state.compareAndSet(State.WAITS, State.GAVE_UP);
                } else {
                    LockSupport.parkNanos(this, left);
                }
            }
            if (Thread.interrupted()) {
                if (state.compareAndSet(State.WAITS, State.GAVE_UP)) {
                    throw new InterruptedException();
                }
                Thread.currentThread().interrupt();
            }
        }
        return state();
    }
}
