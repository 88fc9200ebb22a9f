package dev.zmtp.socket;

import dev.zmtp.internal.socket.context.MessageCounts;
import java.time.Duration;

/**
 * Message counts of a socket or a peer so far. When the socket is idle,
 * {@code sent = written + queued + dropped + outcomeUnknown}. Otherwise, messages that are with the transport are
 * counted only in {@code sent}. Immutable. Later versions can add counts.
 */
public final class ZMTPStats {

    private final MessageCounts counts;

    ZMTPStats(MessageCounts counts) {
        this.counts = counts;
    }

    /**
     * Number of accepted messages; with PUB, XPUB, RADIO and XSUB, of their copies for each peer. The number can
     * decrease slightly, because a message without a subscriber counts until the event loop has processed it.
     */
    public long sent() {
        return counts.sent();
    }

    /** Number of messages that the transport has written, which can still be lost in transit. */
    public long written() {
        return counts.written();
    }

    /** Number of queued messages. */
    public long queued() {
        return counts.queued();
    }

    /** Number of bytes queued for a peer. */
    public long queuedBytes() {
        return counts.queuedBytes();
    }

    /**
     * Number of dropped messages, because there was no room, no peer has the routing id, they were too old, or the
     * socket was closed.
     */
    public long dropped() {
        return counts.dropped();
    }

    /**
     * Number of messages that the transport had when a connection ended, so that it is unknown whether they have
     * arrived.
     */
    public long outcomeUnknown() {
        return counts.outcomeUnknown();
    }

    /** Number of messages that have arrived. */
    public long received() {
        return counts.received();
    }

    /** Number of received messages that were dropped because the pattern does not allow them. */
    public long malformed() {
        return counts.malformed();
    }

    /** Number of received messages that were replies to requests no longer waiting. */
    public long lateReplies() {
        return counts.lateReplies();
    }

    /**
     * Number of received messages that were dropped before the application took them, because the requesting peer has
     * left, the memory budget was exceeded, they were unrequested and the application never receives, or a newer
     * message replaced them with {@link ZMTPSocketConfig.ReceiveOverflowPolicy#KEEP_LATEST}.
     */
    public long discarded() {
        return counts.discarded();
    }

    /** Number of successful handshakes. */
    public long connects() {
        return counts.connects();
    }

    /** Number of failed handshakes. */
    public long handshakeFailures() {
        return counts.handshakeFailures();
    }

    /**
     * Number of bytes of ZMTP that the transport has sent to peers whose handshake has succeeded, counted at each
     * flush. They include the handshake, commands and the overhead of frames and mechanisms, but not that of TLS. Over
     * WebSocket, they are those of the same messages over TCP. Within a process, bytes are not counted,
     * and neither are the last bytes of a connection that ends while bytes wait at the transport.
     */
    public long writtenBytes() {
        return counts.writtenBytes();
    }

    /** Number of bytes that the transport has received, counted at each read, with the same inclusions. */
    public long receivedBytes() {
        return counts.receivedBytes();
    }

    /** Time for which the oldest message has waited for a peer. */
    public Duration oldestAge() {
        return counts.oldestAge();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ZMTPStats stats && counts.equals(stats.counts);
    }

    @Override
    public int hashCode() {
        return counts.hashCode();
    }

    /** Returns all counts with their names. */
    @Override
    public String toString() {
        String text = counts.toString();
        return "ZMTPStats" + text.substring(text.indexOf('['));
    }
}
