package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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

    private static final VarHandle KEPT = handle("kept");
    private static final VarHandle MOVED = handle("moved");
    private static final VarHandle ENDED = handle("ended");

    private final ZMTPMemoryBudget budget;
    private final Executor executor;
    private final Consumer<ZMTPException> end;

    @SuppressWarnings("FieldMayBeFinal") // by KEPT
    private long kept;

    /** The bytes that the peer has sent, and has taken. */
    @SuppressWarnings("FieldMayBeFinal") // by MOVED
    private long moved;

    /** True once the account was settled for good: the connection is over, or is being ended. */
    @SuppressWarnings("UnusedVariable") // by ENDED
    private boolean ended;

    // For the thread that looks for connections to end

    private long movedSeen;
    private long movedAt = System.nanoTime();

    MemoryAccount(ZMTPMemoryBudget budget, Executor executor, Consumer<ZMTPException> end) {
        this.budget = budget;
        this.executor = executor;
        this.end = end;
    }

    private static VarHandle handle(String field) {
        try {
            Class<?> type = field.equals("ended") ? boolean.class : long.class;
            return MethodHandles.lookup().findVarHandle(MemoryAccount.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The peer has sent or taken {@code bytes} more. */
    void moved(long bytes) {
        MOVED.setOpaque(this, moved + bytes);
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
            throw overBudget(kept + bytes);
        }
        change(bytes);
        if ((boolean) ENDED.getAcquire(this)) {
            throw overBudget(kept);
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
            KEPT.setOpaque(this, kept + delta);
        }
        budget.add(delta);
    }

    /** The connection is over, and keeps nothing. */
    void close() {
        settle();
    }

    /** Takes the account out of the budget; returns how many bytes it kept, or 0 if it is out already. */
    private long settle() {
        long freed;
        synchronized (this) {
            if (ended) {
                return 0;
            }
            ENDED.setRelease(this, true);
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
        long moves = (long) MOVED.getOpaque(this);
        if (moves != movedSeen) {
            movedSeen = moves;
            movedAt = now;
        }
        double pause = PAUSE + Math.min(LONG_PAUSE, now - movedAt);
        return (long) KEPT.getOpaque(this) * pause / (CREDIT + moves);
    }

    /** Ends the connection to make room for others; returns how many bytes that frees. */
    long endConnection() {
        long freed = settle();
        if (freed > 0) {
            try {
                executor.execute(() -> end.accept(overBudget(freed)));
            } catch (RejectedExecutionException e) {
                return freed; // the event loop is ending, and its connections with it
            }
        }
        return freed;
    }

    private ZMTPException overBudget(long bytes) {
        return new ZMTPException(
                ZMTPException.Code.MEMORY_BUDGET,
                "memory kept: " + bytes + " bytes for this connection, " + budget.used()
                        + " for all others (expected: <= " + budget.limit() + " for all)");
    }
}
