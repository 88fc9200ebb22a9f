package dev.zmtp.socket;

import java.time.Duration;

/**
 * The counts of the messages of a socket or of one peer so far. At rest,
 * {@code sent = written + queued + dropped + unknown}; between two of these, the transport has some.
 *
 * @param sent the messages that were taken over; with PUB, XPUB, RADIO and XSUB, their copies for each peer. The number
 *     may go down a little, as a message that nobody wants counts until the event loop has found that out
 * @param written those that the transport has written; they may still be lost on their way
 * @param queued those that wait
 * @param queuedBytes the bytes of those that wait for a peer
 * @param dropped those that were dropped: there was no room, no peer has the name, they were too old, or the socket was
 *     closed
 * @param unknown those that the transport had when a connection ended, which may or may not have arrived
 * @param received the messages that have arrived
 * @param malformed those of them that were dropped because the pattern does not allow them
 * @param lateReplies those of them that were answers which nothing waited for any more
 * @param discarded those of them that were dropped before the application took them: the peer that asked has gone, the
 *     memory budget was exceeded, or nobody had asked for them and nobody receives
 * @param connects the handshakes that have succeeded
 * @param handshakeFailures those that have not
 * @param oldest how long the oldest message has waited for a peer
 */
public record ZMTPStats(
        long sent,
        long written,
        long queued,
        long queuedBytes,
        long dropped,
        long unknown,
        long received,
        long malformed,
        long lateReplies,
        long discarded,
        long connects,
        long handshakeFailures,
        Duration oldest) {}
