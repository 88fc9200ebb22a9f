package dev.zmtp.internal.socket.context;

import java.util.concurrent.atomic.LongAdder;

/** Message totals of all peers that a socket has had, including messages that reached no peer. */
public final class Tally {

    private final PeerCounters counters = new PeerCounters(null);
    private final LongAdder dropped = new LongAdder();

    /** Number of messages passed to the transports that are not yet known to be written or lost. */
    private long unconfirmed;

    /** Totals of all peers, which include the counters of each peer. */
    public PeerCounters ofAllPeers() {
        return counters;
    }

    /** Counts a message that was dropped before it reached a peer. From any thread. */
    public void dropped() {
        dropped.increment();
    }

    public long droppedBeforePeers() {
        return dropped.sum();
    }

    // On the event loop

    public void unconfirmed(long messages) {
        unconfirmed += messages;
    }

    public long unconfirmed() {
        return unconfirmed;
    }
}
