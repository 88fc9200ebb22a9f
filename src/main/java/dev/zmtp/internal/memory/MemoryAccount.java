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
 * The account of a connection in the {@link MemoryLedger} of its budget, or of the memory that a socket retains for a
 * peer.
 *
 * <p>For a connection, its own thread counts, and the thread of any connection can {@linkplain #endConnection end} it.
 * For a socket, any thread counts.
 */
public final class MemoryAccount {

    /** The connection that retains the counted memory. */
    public interface Owner {

        /** Returns the ledger that counts the memory of the connection. */
        MemoryLedger ledger();

        /**
         * Returns the peer address from which new connections have to wait after this connection was closed; null if
         * unknown.
         */
        @Nullable
        SocketAddress peerAddress();

        /** Returns the time of the connection in nanoseconds, which is virtual if that of its event loop is. */
        long nanoTime();
    }

    /** Added to the bytes moved, so that a new connection is not the first to be closed. */
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
     * The number of bytes that the peer has sent and accepted. Updated with each read; other threads read it rarely.
     */
    private final AtomicLong moved = new AtomicLong();

    /** True when the account is permanently settled, because the connection is closed or is being closed. */
    private volatile boolean ended;

    // Used by the thread that looks for connections to close

    private long movedSeen;
    private long movedAt;

    /**
     * @param accepted whether a server accepted the connection. The address of an outgoing connection does not identify
     *     the peers that fill its memory, and a server does not return immediately
     */
    public MemoryAccount(Owner owner, boolean accepted, Executor executor, Consumer<ZMTPException> end) {
        this.ledger = owner.ledger();
        this.owner = owner;
        this.accepted = accepted;
        this.executor = executor;
        this.end = end;
        this.movedAt = now();
    }

    /** Returns the time of the connection. */
    long now() {
        return owner.nanoTime();
    }

    /** Notifies the account that the peer has sent or accepted {@code bytes} more. */
    public void moved(long bytes) {
        moved.setOpaque(moved.getPlain() + bytes);
    }

    /** Sets the number of bytes that the connection retains. */
    public void keep(long bytes) {
        if (bytes != kept) {
            change(bytes - kept);
        }
    }

    /**
     * Reserves {@code bytes} that the connection is about to retain. The actual number is to be reported soon.
     *
     * @throws ZMTPException if this connection has to be closed to make room
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
     * Changes the retained bytes, unless the account is settled. The caller notifies the ledger without holding the
     * lock, which only this class takes.
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
     * Adds {@code bytes}, which can be negative, and the bytes moved since the last call. Can be called from any
     * thread, but not together with {@link #keep}. The ledger does not contain empty accounts.
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
        if (bytes != 0) {
            ledger.add(bytes);
        }
    }

    /** Notifies the account that the connection is closed and retains nothing. */
    public void close() {
        settle(0);
    }

    /**
     * Removes the account from the budget if it retains at least {@code least} bytes. Returns the number of bytes
     * removed, or 0 if the account was already removed.
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

    /** Returns whether the account is permanently settled. Can be called from any thread. */
    public boolean hasEnded() {
        return ended;
    }

    // For other threads

    /** Notes whether bytes have moved since the last call. The {@link #burden} uses the time without movement. */
    void noteMoves(long now) {
        long moves = moved.getOpaque();
        if (moves != movedSeen) {
            movedSeen = moves;
            movedAt = now;
        }
    }

    /**
     * Returns the burden of the connection on others: the bytes it retains above its {@code free} share, times the time
     * without movement, relative to the total number of bytes moved. As of the last {@link #noteMoves}.
     */
    double burden(long free, long now) {
        double pause = PAUSE + Math.min(LONG_PAUSE, now - movedAt);
        return Math.max(0, kept - free) * pause / (CREDIT + movedSeen);
    }

    /** Closes the connection to make room for others, unless it retains nothing. Returns the number of bytes freed. */
    long endConnection() {
        long freed = settle(1);
        if (freed > 0) {
            try {
                executor.execute(() -> {
                    pauseAddress();
                    end.accept(budgetExceeded(freed, ledger.used()));
                });
            } catch (RejectedExecutionException e) {
                return freed; // the event loop is terminating, and closes its connections
            }
        }
        return freed;
    }

    /** Pauses new connections with this address, because the connection is closed for the budget. */
    private void pauseAddress() {
        if (accepted) {
            ledger.pause(owner.peerAddress());
        }
    }

    /** Returns the failure of a connection that retains {@code bytes}, while all others retain {@code others}. */
    private ZMTPException budgetExceeded(long bytes, long others) {
        return new ZMTPException(
                ZMTPException.Code.MEMORY_BUDGET,
                "memory kept: " + bytes + " bytes for this connection, " + Math.max(0, others)
                        + " for all others (expected: <= " + ledger.limit() + " for all, the memoryBudget)");
    }
}
