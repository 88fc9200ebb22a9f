package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A bound on the memory that many connections keep for their peers together.
 *
 * <p>The limits of a {@link ZMTPConfig} bound what one connection keeps; a budget bounds the sum. It counts what a peer
 * can make this side keep: the part of a frame that has arrived, the frames of an unfinished message, what was read and
 * waits for its turn, the commands of a handshake, topics, metadata, held writes, and what was written and has not been
 * sent. Overheads are included. Messages that were fired are the application's, and do not count. What each connection
 * takes whatever its peer sends does not count either: bound that with a {@link ZMTPConnectionLimiter}. Nor does what a
 * handler before the codec holds back, as a traffic shaper does: to the codec it is sent.
 *
 * <p>When the sum exceeds the limit, connections are ended with {@link ZMTPException.Code#MEMORY_BUDGET} until there
 * is room again. Connections that hold much memory but have moved few bytes, and none recently, go first: strangers
 * with unfinished messages, and subscribers that do not read. A peer that sends whole messages and reads what it gets
 * keeps next to nothing, and is not chosen. A connection ends when its event loop has done its current task: a task
 * that writes to very many channels can exceed the limit until then.
 *
 * <p>For a second, newly accepted connections with the address of one that was ended (IPv6: with its /64) wait before
 * their handshake, because it is likely to return at once; for up to eight seconds if that happens again and again.
 * After a proxy, the address is that of {@link ZMTPCodec#PEER_ADDRESS} when a connection is ended, and the proxy's when
 * a new one begins: if {@code PEER_ADDRESS} is not set, all that come through the proxy wait. A connection from which
 * something is read nevertheless, as its codec was added late, does not wait.
 *
 * <p>All connections share one budget unless their config names another. Thread safe.
 */
public final class ZMTPMemoryBudget {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPMemoryBudget.class);

    /** The share of the memory that the default budget may take is one of this many parts. */
    private static final int SHARES = 4;

    /** When the limit is exceeded, room is made for one of this many parts of it, not for one connection each time. */
    private static final int ROOM = 16;

    /** From this version on, Netty allocates direct memory without the JVM's own bound. */
    private static final int JAVA_WITHOUT_RESERVATION = 24;

    /** Half of the default budget: when as much is kept, direct memory may run short. */
    private static final long MUCH = defaultLimit() / 2;

    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private static final ZMTPMemoryBudget SHARED = new ZMTPMemoryBudget(defaultLimit());

    private final long limit;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicBoolean makingRoom = new AtomicBoolean();

    /** The accounts of connections that keep anything. */
    private final Set<MemoryAccount> accounts = ConcurrentHashMap.newKeySet();

    private final PausedAddresses pausedAddresses = new PausedAddresses();

    /** Up to this many bytes nothing is to be done: at first nothing to be said, then no room to be made. */
    private volatile long unremarkable;

    private ZMTPMemoryBudget(long limit) {
        this.limit = limit;
        this.unremarkable = Math.min(limit, MUCH);
    }

    /**
     * The budget of all connections whose config names no other. Its limit is a quarter of the heap or of Netty's
     * direct memory, whichever is smaller.
     */
    public static ZMTPMemoryBudget shared() {
        return SHARED;
    }

    /**
     * Returns a new budget of this many bytes, at least 1. {@code Long.MAX_VALUE} is a budget that is never exceeded.
     *
     * @throws IllegalArgumentException if it is less
     */
    public static ZMTPMemoryBudget of(long limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit: " + limit + " (expected: >= 1)");
        }
        return new ZMTPMemoryBudget(limit);
    }

    private static long defaultLimit() {
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

    /** The most bytes that all connections keep together. */
    public long limit() {
        return limit;
    }

    /** The bytes that all connections keep now. */
    public long used() {
        return used.get();
    }

    /** How many connections were ended to make room. */
    public long endedConnections() {
        return ended.get();
    }

    @Override
    public String toString() {
        return "ZMTPMemoryBudget{used=" + used() + ", limit=" + limit + "}";
    }

    // For the accounts

    PausedAddresses pausedAddresses() {
        return pausedAddresses;
    }

    void open(MemoryAccount account) {
        accounts.add(account);
    }

    void close(MemoryAccount account) {
        accounts.remove(account);
    }

    /** Counts {@code delta} bytes more, and ends connections if those are too many. */
    void add(long delta) {
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
            long excess = used.get() - (limit - limit / ROOM);
            long now = System.nanoTime();
            List<Candidate> candidates = new ArrayList<>();
            for (MemoryAccount account : accounts) {
                account.noteMoves(now);
                candidates.add(new Candidate(account, account.burden(now)));
            }
            Collections.sort(candidates);
            for (Candidate candidate : candidates) {
                if (excess <= 0) {
                    return;
                }
                long freed = candidate.account.endConnection();
                if (freed > 0) {
                    ended.incrementAndGet();
                    excess -= freed;
                }
            }
        } finally {
            makingRoom.set(false);
        }
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
