package dev.zmtp.internal.memory;

import dev.zmtp.codec.ZMTPMemoryBudget;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The count of a {@link ZMTPMemoryBudget}: the accounts of all its connections, and the choice of the connections that
 * are closed when the sum exceeds the limit. Thread safe.
 */
public final class MemoryLedger {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.ZMTPMemoryBudget");

    /** The default budget is the available memory divided by this number. */
    private static final int SHARES = 4;

    /**
     * The limit divided by this number is freed when the limit is exceeded, instead of a single connection each time.
     */
    private static final int ROOM = 16;

    /**
     * Maximum number of bytes that a connection can retain without being closed. Most such connections are honest and
     * idle, and have moved no bytes that would reduce their burden.
     */
    private static final long FREE = 4 << 10;

    /**
     * The limit divided by this number is the sum of the free shares of all connections. Closing the others is enough.
     */
    private static final int FREE_SHARES = 4;

    /** The Java version from which Netty allocates direct memory without the JVM's own limit. */
    private static final int JAVA_WITHOUT_RESERVATION = 24;

    /** Half of the default budget. Direct memory can run short when this much is retained. */
    private static final long MUCH = defaultLimit() / 2;

    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private static final MemoryLedger SHARED = new MemoryLedger(defaultLimit());

    private final long limit;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicBoolean makingRoom = new AtomicBoolean();

    /** The accounts of connections that retain memory. */
    private final Set<MemoryAccount> accounts = ConcurrentHashMap.newKeySet();

    private final PausedAddresses pausedAddresses = new PausedAddresses();

    // Used by the thread that makes room
    private long unlogged;
    private long loggedAt = System.nanoTime() - SECOND;

    /** The number of bytes up to which there is nothing to do: at first no warning to log, later no room to make. */
    private volatile long unremarkable;

    public MemoryLedger(long limit) {
        this.limit = limit;
        this.unremarkable = Math.min(limit, MUCH);
    }

    /** Returns the ledger of the default budget. */
    public static MemoryLedger shared() {
        return SHARED;
    }

    /** Returns the limit of the default budget, a share of the heap or of direct memory, whichever is smaller. */
    public static long defaultLimit() {
        long direct = PlatformDependent.maxDirectMemory();
        long heap = Runtime.getRuntime().maxMemory();
        return Math.max(1, Math.min(heap, direct <= 0 ? heap : direct) / SHARES);
    }

    /**
     * Warns because the JVM's own allocation of direct memory sleeps on the event loop for half a second before it
     * fails. Netty fails immediately if its own limit is lower.
     */
    private static void warnOfWaiting() {
        long jvm = PlatformDependent.estimateMaxDirectMemory();
        boolean reserves = !PlatformDependent.useDirectBufferNoCleaner()
                && PlatformDependent.javaVersion() < JAVA_WITHOUT_RESERVATION;
        if (reserves && PlatformDependent.maxDirectMemory() >= jvm && WARNED.compareAndSet(false, true)) {
            logger.warn(
                    "Half of the default memory budget is used, and Netty's limit of direct memory is not below the"
                            + " JVM's. If direct memory runs out, an allocation may block an event loop for half a"
                            + " second. To fail fast, start the JVM with -Dio.netty.maxDirectMemory={}, or another"
                            + " value below {}.",
                    jvm / 8 * 7,
                    jvm);
        }
    }

    public long limit() {
        return limit;
    }

    public long used() {
        return used.get();
    }

    /** Returns the number of free bytes, or 0 if the limit is exceeded. */
    public long free() {
        return Math.max(0, limit - used.get());
    }

    /** Returns the number of connections that were closed to make room. */
    public long endedConnections() {
        return ended.get();
    }

    /** Pauses new connections with the address of {@code peer}, because a connection of {@code peer} is closed. */
    void pause(@Nullable SocketAddress peer) {
        pausedAddresses.add(peer, System.nanoTime());
    }

    /** Returns the remaining pause of a new connection of {@code peer}, in nanoseconds. */
    public long pauseLeft(@Nullable SocketAddress peer) {
        return pausedAddresses.left(peer, System.nanoTime());
    }

    void open(MemoryAccount account) {
        accounts.add(account);
    }

    void close(MemoryAccount account) {
        accounts.remove(account);
    }

    /** Adds {@code delta} bytes, and closes connections if the sum exceeds the limit. */
    public void add(long delta) {
        long now = used.addAndGet(delta);
        if (now > unremarkable && delta > 0) {
            unremarkable = limit;
            if (now > MUCH) {
                warnOfWaiting();
            }
            if (now > limit) {
                makeRoom();
            }
        }
    }

    private void makeRoom() {
        boolean goesOn = true;
        while (goesOn && makingRoom.compareAndSet(false, true)) { // otherwise another event loop makes room
            try {
                goesOn = endConnections() > 0;
            } finally {
                makingRoom.set(false);
            }
            goesOn &= used.get() > limit; // because of what others have added in the meantime
        }
    }

    /** Returns the number of connections that were closed. */
    private int endConnections() {
        long before = used.get();
        long excess = before - (limit - limit / ROOM);
        long now = System.nanoTime();
        int connections = 0;
        for (Candidate candidate : candidates()) {
            if (excess <= 0) {
                break;
            }
            long freed = candidate.account.endConnection();
            if (freed > 0) {
                connections++;
                excess -= freed;
            }
        }
        ended.addAndGet(connections);
        log(before, connections, now);
        return connections;
    }

    /** Logs the closed connections at most once a second, in the thread that makes room. */
    private void log(long before, int connections, long now) {
        unlogged += connections;
        if (unlogged > 0 && now - loggedAt >= SECOND) {
            logger.warn(
                    "{} bytes were kept for peers (expected: <= {}, the memoryBudget): ended {} that had moved little"
                            + " for what they kept",
                    before,
                    limit,
                    unlogged);
            unlogged = 0;
            loggedAt = now;
        }
    }

    /** Returns the connections that can be closed, in descending order of burden. */
    private List<Candidate> candidates() {
        List<MemoryAccount> all = new ArrayList<>(accounts);
        long free = freeShare(all.size());
        List<Candidate> candidates = new ArrayList<>();
        for (MemoryAccount account : all) {
            long now = account.now();
            account.noteMoves(now);
            double burden = account.burden(free, now);
            if (burden > 0) {
                candidates.add(new Candidate(account, burden));
            }
        }
        Collections.sort(candidates);
        return candidates;
    }

    /**
     * Returns the number of bytes that each of {@code connections} can retain without being closed. It decreases as
     * their number grows, because many strangers that each retain little must not take the whole budget.
     */
    long freeShare(int connections) {
        return Math.min(FREE, limit / FREE_SHARES / Math.max(1, connections));
    }

    /**
     * A connection that can be closed. The largest burden comes first. It is computed once, because the memory of the
     * connection can change during sorting.
     */
    private record Candidate(MemoryAccount account, double burden) implements Comparable<Candidate> {
        @Override
        public int compareTo(Candidate other) {
            return Double.compare(other.burden, burden);
        }
    }
}
