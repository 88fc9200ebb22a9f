package dev.zmtp.internal.memory;

import dev.zmtp.ZMTPException;
import java.net.SocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The account of one connection in the {@link MemoryLedger} of its budget, or of what a socket keeps for one peer.
 *
 * <p>The connection's own thread counts; the thread of any connection may {@linkplain #endConnection end} it. For a
 * socket any thread counts.
 */
public final class MemoryAccount {

    /** The connection that keeps what is counted. */
    public interface Owner {

        /** Where the memory of the connection is counted. */
        MemoryLedger ledger();

        /** The address of its peer, from which new connections wait after this one was ended; null if not known. */
        @Nullable
        SocketAddress peerAddress();
    }

    /** Added to the bytes moved, so that a new connection is not the first to be ended. */
    private static final long CREDIT = 64 << 10;

    private static final double PAUSE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONG_PAUSE = TimeUnit.SECONDS.toNanos(10);

    private final MemoryLedger ledger;
    private final Owner owner;
    private final boolean accepted;
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

    /**
     * @param accepted whether a server has accepted the connection. The address of one that we have made says nothing
     *     about who fills its memory, and a server does not return at once
     */
    public MemoryAccount(Owner owner, boolean accepted, Executor executor, Consumer<ZMTPException> end) {
        this.ledger = owner.ledger();
        this.owner = owner;
        this.accepted = accepted;
        this.executor = executor;
        this.end = end;
    }

    /** The peer has sent or taken {@code bytes} more. */
    public void moved(long bytes) {
        moved.setOpaque(moved.getPlain() + bytes);
    }

    /** The connection keeps {@code bytes} now. */
    public void keep(long bytes) {
        if (bytes != kept) {
            change(bytes - kept);
        }
    }

    /**
     * The connection is about to keep {@code bytes} more. What it really keeps is to be reported soon.
     *
     * @throws ZMTPException if the connection is the one that has to end for it
     */
    public void reserve(long bytes) {
        long all = kept + bytes;
        if (all > ledger.limit()) {
            pauseAddress();
            throw budgetExceeded(all, ledger.used() - kept);
        }
        change(bytes);
        if (ended) {
            pauseAddress();
            throw budgetExceeded(all, ledger.used());
        }
    }

    private void change(long delta) {
        if (isChanged(delta)) {
            ledger.add(delta);
        }
    }

    /**
     * Changes what is kept, unless the account is settled. The ledger is told without the lock, which only this class
     * takes.
     */
    private synchronized boolean isChanged(long delta) {
        if (ended) {
            return false;
        }
        if (kept == 0) {
            ledger.open(this);
        }
        kept += delta;
        return true;
    }

    /**
     * Counts {@code bytes} more, or less if it is negative, and what has moved since the last call. From any thread;
     * not used together with {@link #keep}. An account that is empty is not in the ledger.
     */
    public void add(long bytes, long movedBytes) {
        synchronized (this) {
            if (!isChanged(bytes)) {
                return;
            }
            moved(movedBytes);
            if (kept == 0) {
                ledger.close(this);
            }
        }
        ledger.add(bytes);
    }

    /** The connection is over, and keeps nothing. */
    public void close() {
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
        ledger.close(this);
        ledger.add(-freed);
        return freed;
    }

    /** Whether the account was settled for good. From any thread. */
    public boolean hasEnded() {
        return ended;
    }

    // For other threads

    /** Notes whether bytes have moved since the last call: the {@link #burden} counts the time in which none have. */
    void noteMoves(long now) {
        long moves = moved.getOpaque();
        if (moves != movedSeen) {
            movedSeen = moves;
            movedAt = now;
        }
    }

    /**
     * The burden that the connection is to others: what it keeps above its {@code free} share, times the time in which
     * nothing has moved, in proportion to all that has moved. As of the last {@link #noteMoves}.
     */
    double burden(long free, long now) {
        double pause = PAUSE + Math.min(LONG_PAUSE, now - movedAt);
        return Math.max(0, kept - free) * pause / (CREDIT + movedSeen);
    }

    /** Ends the connection to make room for others, unless it keeps nothing; returns how many bytes that frees. */
    long endConnection() {
        long freed = settle(1);
        if (freed > 0) {
            try {
                executor.execute(() -> {
                    pauseAddress();
                    end.accept(budgetExceeded(freed, ledger.used()));
                });
            } catch (RejectedExecutionException e) {
                return freed; // the event loop is ending, and its connections with it
            }
        }
        return freed;
    }

    /** The connection ends for the budget: new ones with its address have to wait. */
    private void pauseAddress() {
        if (accepted) {
            ledger.pause(owner.peerAddress());
        }
    }

    /** Why a connection that keeps {@code bytes} ends for the budget, while all others keep {@code others}. */
    private ZMTPException budgetExceeded(long bytes, long others) {
        return new ZMTPException(
                ZMTPException.Code.MEMORY_BUDGET,
                "memory kept: " + bytes + " bytes for this connection, " + Math.max(0, others)
                        + " for all others (expected: <= " + ledger.limit() + " for all, the memoryBudget)");
    }
}
