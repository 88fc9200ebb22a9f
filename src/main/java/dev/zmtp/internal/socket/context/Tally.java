package dev.zmtp.internal.socket.context;

import java.util.concurrent.atomic.LongAdder;

/** The sums of what has happened to the messages of all peers that a socket has had, and of those that reached none. */
public final class Tally {

    private final PeerCounters counters = new PeerCounters(null);
    private final LongAdder dropped = new LongAdder();

    /** The number of messages that the transports have, and that are not known to be written or lost. */
    private long unconfirmed;

    /** The sum of all peers, of which the counters of each are a part. */
    public PeerCounters ofAllPeers() {
        return counters;
    }

    /** Counts a message that was dropped before it came to a peer. From any thread. */
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
