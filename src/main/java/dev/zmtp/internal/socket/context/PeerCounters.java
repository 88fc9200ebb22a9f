package dev.zmtp.internal.socket.context;

import dev.zmtp.socket.ZMTPStats;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The counts of the messages of one peer, or of all peers that a socket has had. Changed on the event loop, read from
 * any thread.
 */
public final class PeerCounters {

    /** A count of one peer, and of all of them. */
    public enum Counter {
        SENT(0),
        WRITTEN(1),
        DROPPED(2),
        UNKNOWN(3),
        RECEIVED(4),
        MALFORMED(5),
        LATE(6),
        DISCARDED(7),
        CONNECTS(8),
        HANDSHAKE_FAILURES(9);

        private final int index;

        Counter(int index) {
            this.index = index;
        }
    }

    private static final int COUNTERS = Counter.values().length;

    /** One object for all, as there may be very many peers. */
    private final AtomicLongArray counts = new AtomicLongArray(COUNTERS);

    private final @Nullable PeerCounters all;

    /** Counters whose numbers are also added to those of {@code all}. */
    public PeerCounters(@Nullable PeerCounters all) {
        this.all = all;
    }

    public void add(Counter counter, long n) {
        counts.setOpaque(counter.index, counts.getPlain(counter.index) + n);
        if (all != null) {
            all.add(counter, n);
        }
    }

    public long get(Counter counter) {
        return counts.getOpaque(counter.index);
    }

    /**
     * Returns these numbers, and what else is known.
     *
     * @param elsewhere the messages that were dropped before they came to a peer
     * @param waiting those that have not come to a peer yet
     */
    public ZMTPStats stats(long elsewhere, long waiting, long queued, long queuedBytes, long lost, Duration oldest) {
        return new ZMTPStats(
                get(Counter.SENT) + elsewhere + waiting,
                get(Counter.WRITTEN),
                queued + waiting,
                queuedBytes,
                get(Counter.DROPPED) + elsewhere,
                get(Counter.UNKNOWN) + lost,
                get(Counter.RECEIVED),
                get(Counter.MALFORMED),
                get(Counter.LATE),
                get(Counter.DISCARDED),
                get(Counter.CONNECTS),
                get(Counter.HANDSHAKE_FAILURES),
                oldest);
    }
}
