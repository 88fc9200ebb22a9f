package dev.zmtp.internal.socket;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Tally;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.Peers;
import dev.zmtp.internal.socket.peer.SendQueue;
import dev.zmtp.internal.socket.request.Requests;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.socket.ZMTPStats;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The message statistics of a socket, computed from the current and past counts of its parts. */
public final class Account {

    private final SocketContext context;
    private final Peers peers;
    private final @Nullable SendQueue shared;
    private final Senders senders;
    private final Requests requests;

    /** @param shared the queue for all peers; null if each peer has its own */
    Account(SocketContext context, Peers peers, @Nullable SendQueue shared, Senders senders, Requests requests) {
        this.context = context;
        this.peers = peers;
        this.shared = shared;
        this.senders = senders;
        this.requests = requests;
    }

    // From any thread

    public ZMTPStats stats() {
        return stats(0);
    }

    /**
     * Returns the statistics at the end, after which the fate of the messages in the transports is no longer reported.
     */
    ZMTPStats atTheEnd() {
        return stats(context.tally().unconfirmed());
    }

    private ZMTPStats stats(long lost) {
        long queued = 0;
        long queuedBytes = 0;
        Duration oldest = Duration.ZERO;
        for (Peer peer : peers.all()) {
            queued += peer.queue().messages();
            queuedBytes += peer.queue().bytes();
            Duration its = peer.outbound().oldestAge();
            oldest = its.compareTo(oldest) > 0 ? its : oldest;
        }
        long waiting = senders.waiting() + requests.waiting();
        if (shared != null) {
            waiting += shared.messages();
            queuedBytes += shared.bytes();
            oldest = shared.oldestAge(context.nanoTime());
        }
        Tally tally = context.tally();
        return context.stats(
                tally.ofAllPeers().counts(tally.droppedBeforePeers(), waiting, queued, queuedBytes, lost, oldest));
    }
}
