package dev.zmtp.internal.socket;

import dev.zmtp.socket.ZMTPStats;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** The account of the messages of a socket: the sum of all peers that there have been, and what reached none. */
public final class Account {

    private final SocketCore core;
    private final PeerCounters counters = new PeerCounters(null);
    private final LongAdder dropped = new LongAdder();

    /** The number of messages that the transports have, and that are not known to be written or lost. */
    private long unconfirmed;

    Account(SocketCore core) {
        this.core = core;
    }

    /** The sum of all peers, of which the counters of each are a part. */
    PeerCounters ofAllPeers() {
        return counters;
    }

    /** Counts a message that was dropped before it came to a peer. From any thread. */
    public void dropped() {
        dropped.increment();
    }

    // On the event loop

    void unconfirmed(long messages) {
        unconfirmed += messages;
    }

    long unconfirmed() {
        return unconfirmed;
    }

    // From any thread

    public ZMTPStats stats() {
        return stats(0);
    }

    /** What has happened by the end, after which the fate of what the transports have is not heard of any more. */
    ZMTPStats atTheEnd() {
        return stats(unconfirmed);
    }

    private ZMTPStats stats(long lost) {
        long queued = 0;
        long queuedBytes = 0;
        Duration oldest = Duration.ZERO;
        for (Peer peer : core.peers()) {
            queued += peer.queue().messages();
            queuedBytes += peer.queue().bytes();
            Duration its = peer.oldest();
            oldest = its.compareTo(oldest) > 0 ? its : oldest;
        }
        long waiting = core.senders().waiting() + core.requests().waiting();
        SendQueue shared = core.routing().queue();
        if (shared != null) {
            waiting += shared.messages();
            queuedBytes += shared.bytes();
            oldest = shared.oldest(core.nanoTime());
        }
        return counters.stats(dropped.sum(), waiting, queued, queuedBytes, lost, oldest);
    }
}
