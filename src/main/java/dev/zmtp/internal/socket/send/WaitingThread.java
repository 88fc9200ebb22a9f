package dev.zmtp.internal.socket.send;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** The thread of a sender that waits for room, which the event loop takes for it. */
final class WaitingThread {

    enum State {
        WAITS,
        /** The room is the thread's. */
        HAS_ROOM,
        CLOSED,
        PEER_LEFT,
        /** It took too long, or the thread was interrupted. */
        GAVE_UP
    }

    private final Thread thread = Thread.currentThread();
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITS);

    /** Ends the wait. Returns false if the thread waits no more. From any thread. */
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
     * Waits for the end, no longer than this. An interrupt that comes when there is room is left to the next call that
     * waits.
     *
     * @param nanos {@code Long.MAX_VALUE} for any time
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
