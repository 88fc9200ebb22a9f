package dev.zmtp.internal.socket;

import dev.zmtp.socket.ZMTPStats;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The counts of the messages of one peer, or of all peers that a socket has had. Changed on the event loop. */
final class PeerCounters {
    final Count sent;
    final Count written;
    final Count dropped;
    final Count unknown;
    final Count received;
    final Count malformed;
    final Count late;
    final Count connects;
    final Count handshakeFailures;

    /** Counters whose numbers are also added to those of {@code all}. */
    PeerCounters(@Nullable PeerCounters all) {
        this.sent = new Count(all == null ? null : all.sent);
        this.written = new Count(all == null ? null : all.written);
        this.dropped = new Count(all == null ? null : all.dropped);
        this.unknown = new Count(all == null ? null : all.unknown);
        this.received = new Count(all == null ? null : all.received);
        this.malformed = new Count(all == null ? null : all.malformed);
        this.late = new Count(all == null ? null : all.late);
        this.connects = new Count(all == null ? null : all.connects);
        this.handshakeFailures = new Count(all == null ? null : all.handshakeFailures);
    }

    /**
     * Returns these numbers, and what else is known.
     *
     * @param elsewhere the messages that were dropped before they came to a peer
     * @param waiting those that have not come to a peer yet
     */
    ZMTPStats stats(long elsewhere, long waiting, long queued, long queuedBytes, long lost, Duration oldest) {
        return new ZMTPStats(
                sent.get() + elsewhere + waiting,
                written.get(),
                queued + waiting,
                queuedBytes,
                dropped.get() + elsewhere,
                unknown.get() + lost,
                received.get(),
                malformed.get(),
                late.get(),
                connects.get(),
                handshakeFailures.get(),
                oldest);
    }
}
