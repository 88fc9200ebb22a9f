package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * What one connection keeps of a {@link ZMTPMemoryBudget}.
 *
 * <p>The connection's own thread counts; the thread of any connection may {@linkplain #endConnection end} it.
 */
final class MemoryAccount {

    /** As much as a new peer has credit for, in bytes moved. */
    private static final long CREDIT = 64 << 10;

    private static final double PAUSE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONG_PAUSE = TimeUnit.SECONDS.toNanos(10);

    private final ZMTPMemoryBudget budget;
    private final ZMTPSession session;
    private final Executor executor;
    private final Consumer<ZMTPException> end;

    private volatile long kept;

    /**
     * The bytes that the peer has sent, and has taken. Counted with each read, and read by others only now and then.
     */
    private final AtomicLong moved = new AtomicLong();

    /** True once the account was settled for good: the connection is over, or is being ended. */
    private volatile boolean ended;

    // For the thread that looks for connections to end

    private long movedSeen;
    private long movedAt = System.nanoTime();

    MemoryAccount(ZMTPSession session, Executor executor, Consumer<ZMTPException> end) {
        this.budget = session.config().memoryBudget();
        this.session = session;
        this.executor = executor;
        this.end = end;
    }

    /** The peer has sent or taken {@code bytes} more. */
    void moved(long bytes) {
        moved.setOpaque(moved.getPlain() + bytes);
    }

    /** The connection keeps {@code bytes} now. */
    void keep(long bytes) {
        if (bytes != kept) {
            change(bytes - kept);
        }
    }

    /**
     * The connection is about to keep {@code bytes} more. What it really keeps is to be reported soon.
     *
     * @throws ZMTPException if the connection is the one that has to end for it
     */
    void reserve(long bytes) {
        if (kept + bytes > budget.limit()) {
            throw exceeded(kept + bytes);
        }
        change(bytes);
        if (ended) {
            throw exceeded(kept);
        }
    }

    private void change(long delta) {
        synchronized (this) { // with endConnection; nobody else takes this lock
            if (ended) {
                return;
            }
            if (kept == 0) {
                budget.open(this);
            }
            kept += delta;
        }
        budget.add(delta);
    }

    /**
     * Returns for how many nanoseconds the connection has to wait, as one with its address was ended for the budget.
     */
    long pause() {
        return budget.pausedAddresses().left(session.peerAddress(), System.nanoTime());
    }

    /** The connection is over, and keeps nothing. */
    void close() {
        settle(0);
    }

    /**
     * Takes the account out of the budget if it keeps at least {@code least} bytes; returns how many they were, or 0 if
     * it is out already.
     */
    private long settle(long least) {
        long freed;
        synchronized (this) {
            if (ended || kept < least) {
                return 0;
            }
            ended = true;
            freed = kept;
        }
        budget.close(this);
        budget.add(-freed);
        return freed;
    }

    // For other threads

    /**
     * How much the connection is a burden to others: what it keeps, for how long nothing has moved, in proportion to
     * all that has moved.
     */
    double burden(long now) {
        long moves = moved.getOpaque();
        if (moves != movedSeen) {
            movedSeen = moves;
            movedAt = now;
        }
        double pause = PAUSE + Math.min(LONG_PAUSE, now - movedAt);
        return kept * pause / (CREDIT + moves);
    }

    /** Ends the connection to make room for others, unless it keeps nothing; returns how many bytes that frees. */
    long endConnection() {
        long freed = settle(1);
        if (freed > 0) {
            try {
                executor.execute(() -> end.accept(exceeded(freed)));
            } catch (RejectedExecutionException e) {
                return freed; // the event loop is ending, and its connections with it
            }
        }
        return freed;
    }

    /** The connection ends for the budget: others with its address have to wait. Returns why it ends. */
    private ZMTPException exceeded(long bytes) {
        budget.pausedAddresses().add(session.peerAddress(), System.nanoTime());
        return new ZMTPException(
                ZMTPException.Code.MEMORY_BUDGET,
                "memory kept: " + bytes + " bytes for this connection, " + budget.used()
                        + " for all others (expected: <= " + budget.limit() + " for all)");
    }
}
