package dev.zmtp.internal.socket.context;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Message counters of a single peer, or of all peers that a socket has had. Changed on the event loop, read from any
 * thread.
 */
public final class PeerCounters {

    /** A counter of a peer, and of all peers. */
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
        HANDSHAKE_FAILURES(9),
        WRITTEN_BYTES(10),
        RECEIVED_BYTES(11);

        private final int index;

        Counter(int index) {
            this.index = index;
        }
    }

    private static final int COUNTERS = Counter.values().length;

    /** A single array for all counters, because there can be very many peers. */
    private final AtomicLongArray counts = new AtomicLongArray(COUNTERS);

    private final @Nullable PeerCounters all;

    /** Creates counters whose numbers are also added to {@code all}. */
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
     * Returns these counters, completed by the given numbers.
     *
     * @param elsewhere number of messages dropped before they reached a peer
     * @param waiting number of messages that have not reached a peer yet
     */
    public MessageCounts counts(
            long elsewhere, long waiting, long queued, long queuedBytes, long lost, Duration oldest) {
        return new MessageCounts(
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
                get(Counter.WRITTEN_BYTES),
                get(Counter.RECEIVED_BYTES),
                oldest);
    }
}
