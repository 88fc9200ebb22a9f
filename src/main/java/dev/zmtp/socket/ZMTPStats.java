package dev.zmtp.socket;

import java.time.Duration;

/**
 * Message counts of a socket or a peer so far. When the socket is idle,
 * {@code sent = written + queued + dropped + outcomeUnknown}. Otherwise, messages that are with the transport are
 * counted only in {@code sent}.
 *
 * @param sent number of accepted messages; with PUB, XPUB, RADIO and XSUB, of their copies for each peer. The number
 *     can decrease slightly, because a message without a subscriber counts until the event loop has processed it
 * @param written number of messages that the transport has written, which can still be lost in transit
 * @param queued number of queued messages
 * @param queuedBytes number of bytes queued for a peer
 * @param dropped number of dropped messages, because there was no room, no peer has the routing id, they were too old,
 *     or the socket was closed
 * @param outcomeUnknown number of messages that the transport had when a connection ended, so that it is unknown
 *     whether they have arrived
 * @param received number of messages that have arrived
 * @param malformed number of received messages that were dropped because the pattern does not allow them
 * @param lateReplies number of received messages that were replies to requests no longer waiting
 * @param discarded number of received messages that were dropped before the application took them, because the
 *     requesting peer has left, the memory budget was exceeded, or they were unrequested and the application never
 *     receives
 * @param connects number of successful handshakes
 * @param handshakeFailures number of failed handshakes
 * @param oldestAge the time for which the oldest message has waited for a peer
 */
public record ZMTPStats(
        long sent,
        long written,
        long queued,
        long queuedBytes,
        long dropped,
        long outcomeUnknown,
        long received,
        long malformed,
        long lateReplies,
        long discarded,
        long connects,
        long handshakeFailures,
        Duration oldestAge) {}
