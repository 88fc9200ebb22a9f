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
 * The count of a {@link ZMTPMemoryBudget}: the accounts of all its connections, and the choice of those that end when
 * the sum exceeds the limit. Thread safe.
 */
public final class MemoryLedger {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.ZMTPMemoryBudget");

    /** The share of the memory that the default budget may take is one of this many parts. */
    private static final int SHARES = 4;

    /** When the limit is exceeded, room is made for one of this many parts of it, not for one connection each time. */
    private static final int ROOM = 16;

    /**
     * A connection that keeps no more than this is not ended: it is honest and idle, as most are, and has moved
     * nothing that would speak for it.
     */
    private static final long FREE = 4 << 10;

    /** What is free for all connections together is one of this many parts of the limit: ending others is enough. */
    private static final int FREE_SHARES = 4;

    /** From this version on, Netty allocates direct memory without the JVM's own bound. */
    private static final int JAVA_WITHOUT_RESERVATION = 24;

    /** Half of the default budget: when as much is kept, direct memory may run short. */
    private static final long MUCH = defaultLimit() / 2;

    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private static final MemoryLedger SHARED = new MemoryLedger(defaultLimit());

    private final long limit;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicBoolean makingRoom = new AtomicBoolean();

    /** The accounts of connections that keep anything. */
    private final Set<MemoryAccount> accounts = ConcurrentHashMap.newKeySet();

    private final PausedAddresses pausedAddresses = new PausedAddresses();

    // Used by the thread that makes room
    private long unlogged;
    private long loggedAt = System.nanoTime() - SECOND;

    /** Up to this many bytes nothing is to be done: at first nothing to be said, then no room to be made. */
    private volatile long unremarkable;

    public MemoryLedger(long limit) {
        this.limit = limit;
        this.unremarkable = Math.min(limit, MUCH);
    }

    /** The ledger of the default budget. */
    public static MemoryLedger shared() {
        return SHARED;
    }

    /** The limit of the default budget: a share of the heap or of direct memory, whichever is smaller. */
    public static long defaultLimit() {
        long direct = PlatformDependent.maxDirectMemory();
        long heap = Runtime.getRuntime().maxMemory();
        return Math.max(1, Math.min(heap, direct <= 0 ? heap : direct) / SHARES);
    }

    /**
     * The JVM's own allocation of direct memory sleeps for half a second, on the event loop, before it fails. Netty
     * fails at once if its own limit is the lower one.
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

    /** The bytes that are left; none if the limit is exceeded. */
    public long free() {
        return Math.max(0, limit - used.get());
    }

    /** How many connections were ended to make room. */
    public long endedConnections() {
        return ended.get();
    }

    /** A connection of {@code peer} is ended: new ones with its address have to wait. */
    void pause(@Nullable SocketAddress peer) {
        pausedAddresses.add(peer, System.nanoTime());
    }

    /** Returns for how many nanoseconds a new connection of {@code peer} has to wait. */
    public long pauseLeft(@Nullable SocketAddress peer) {
        return pausedAddresses.left(peer, System.nanoTime());
    }

    void open(MemoryAccount account) {
        accounts.add(account);
    }

    void close(MemoryAccount account) {
        accounts.remove(account);
    }

    /** Counts {@code delta} bytes more, and ends connections if those are too many. */
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
        if (!makingRoom.compareAndSet(false, true)) {
            return; // another event loop does
        }
        try {
            long before = used.get();
            long excess = before - (limit - limit / ROOM);
            long now = System.nanoTime();
            int connections = 0;
            for (Candidate candidate : candidates(now)) {
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
        } finally {
            makingRoom.set(false);
        }
    }

    /** Says once a second what was ended, in the thread that makes room. */
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

    /** Returns the connections that may be ended, the greatest burden first. */
    private List<Candidate> candidates(long now) {
        List<MemoryAccount> all = new ArrayList<>(accounts);
        long free = freeShare(all.size());
        List<Candidate> candidates = new ArrayList<>();
        for (MemoryAccount account : all) {
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
     * What each of {@code connections} may keep without being ended. The more they are, the less it is: many strangers
     * that keep little each must not take all of the budget.
     */
    long freeShare(int connections) {
        return Math.min(FREE, limit / FREE_SHARES / Math.max(1, connections));
    }

    /**
     * A connection that may be ended; the greatest burden comes first. It is computed once: what the connection keeps
     * may change while they are sorted.
     */
    private record Candidate(MemoryAccount account, double burden) implements Comparable<Candidate> {
        @Override
        public int compareTo(Candidate other) {
            return Double.compare(other.burden, burden);
        }
    }
}
